#pragma once
// Identifies this Respike by the sources that its images and matches depend on.

namespace respike {

/// A hash of the sources of all code that rewrites images and carries profiles over, as 32
/// hexadecimal digits. A Respike with another fingerprint may make another output of the same
/// input.
extern const char* const kFingerprint;

}  // namespace respike
