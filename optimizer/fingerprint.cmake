# Writes OUTPUT, the definition of kFingerprint: a hash of the names and contents of the files below
# ROOT that LIST, a file, names line by line. The compiler does not enter the hash: it does not
# change what Respike makes.
file(STRINGS ${LIST} files)
list(SORT files)
set(all "")
foreach(file ${files})
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 fingerprint "${all}")
string(SUBSTRING ${fingerprint} 0 32 fingerprint)
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [=[
// Made by optimizer/fingerprint.cmake.

#include "optimizer/fingerprint.h"

namespace respike {

const char* const kFingerprint = "@fingerprint@";

}  // namespace respike
]=])
