// libFuzzer target: see check_debug.

#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  respike::report(respike::check_debug({data, size}));
  return 0;
}
