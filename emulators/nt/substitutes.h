// Versions that run in place of original images.
#pragma once

/// Reads the table of versions, which tas/windows_versions.cc writes.
void read_substitutes(const char* path);
/// The file to load in place of an original; NULL: the original itself.
const char* version_of(const char* original);
/// The original of which a file is a version; NULL: the file is no version.
const char* original_of(const char* file);
