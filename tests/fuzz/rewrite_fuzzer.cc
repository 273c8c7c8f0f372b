// libFuzzer target: see check_rewrite. The length of the input chooses the layout.

#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  respike::report(respike::check_rewrite({data, size}, size));
  return 0;
}
