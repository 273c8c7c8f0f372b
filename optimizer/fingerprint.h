#pragma once
// Identifies this Respike, as far as the images and matches that it makes depend on its sources.

namespace respike {

/// A hash of the sources of all code that rewrites images and carries profiles over, as 32
/// hexadecimal digits. A Respike with another fingerprint may make another output of the same
/// input.
extern const char* const kFingerprint;

}  // namespace respike
