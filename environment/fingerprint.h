#pragma once
// Which Respike this is, as far as the images and matches that it makes depend on it.

namespace respike {

/// A hash of the sources of all that rewrites images and carries profiles over, as 32 hexadecimal
/// digits. What was made under another fingerprint would not be made like that any more.
extern const char* const kFingerprint;

}  // namespace respike
