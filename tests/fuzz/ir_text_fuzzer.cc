// libFuzzer target: see check_ir_text. Its words are in ir_text.dict.

#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  respike::report(respike::check_ir_text({reinterpret_cast<const char*>(data), size}));
  return 0;
}
