// Turns findings into crashes. At exit a line says how far the inputs came: a fuzzer whose inputs
// are all refused early tests nothing.

#include "tests/fuzz/fuzzing.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace respike {
namespace {

struct Depths {
  std::array<uint64_t, 5> counts{};
  ~Depths() {
    std::fprintf(stderr,
                 "depth: refused %lu, read %lu, rewritable %lu, lifted %lu, rewritten %lu\n",
                 counts[0], counts[1], counts[2], counts[3], counts[4]);
  }
};

}  // namespace

void report(const FuzzResult& result) {
  static Depths depths;
  ++depths.counts[static_cast<size_t>(result.depth)];
  if (!result.finding) return;
  std::fprintf(stderr, "finding: %s\n", result.finding->c_str());
  std::abort();
}

}  // namespace respike
