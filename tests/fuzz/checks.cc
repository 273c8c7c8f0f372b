// The properties that must hold for any input.

#include "tests/fuzz/checks.h"

#include "optimizer/image/image.h"
#include "optimizer/ir/text.h"
#include "optimizer/ir/verify.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"
#include "optimizer/target/targets.h"

namespace respike {
namespace {

constexpr const char* kName = "input";

/// Runs `check`, which sets the depth as it gets on. An internal error is the optimizer's own
/// fault.
template <typename F>
FuzzResult guarded(F check) {
  FuzzResult result;
  try {
    check(result);
  } catch (const Error& error) {
    result.error = error.what();
    if (result.error.starts_with("input: internal error")) result.finding = result.error;
    if (result.error.empty()) result.finding = "an error says nothing";
  }
  return result;
}

}  // namespace

FuzzResult check_reader(std::span<const uint8_t> bytes) {
  return guarded([&](FuzzResult& result) {
    const Image image = read_image({bytes.begin(), bytes.end()}, kName);
    result.depth = FuzzDepth::read;
    require_rewritable(image);
    const AddedSegment segment = plan_added_segment(image);
    if (segment.free_address < segment.address) result.finding = "the added segment wraps around";
    result.depth = FuzzDepth::rewritable;
  });
}

FuzzResult check_lifter(std::span<const uint8_t> bytes) {
  return guarded([&](FuzzResult& result) {
    const Image image = read_image({bytes.begin(), bytes.end()}, kName);
    result.depth = FuzzDepth::read;
    require_rewritable(image);
    result.depth = FuzzDepth::rewritable;
    Diagnostics diagnostics;
    const Program program = lift(image, diagnostics);
    result.depth = FuzzDepth::lifted;
    result.finding = find_violation(program);
    if (!result.finding && print(program).empty()) result.finding = "a program prints as nothing";
  });
}

FuzzResult check_rewrite(std::span<const uint8_t> bytes, uint64_t seed) {
  return guarded([&](FuzzResult& result) {
    const Image image = read_image({bytes.begin(), bytes.end()}, kName);
    result.depth = FuzzDepth::read;
    require_rewritable(image);
    result.depth = FuzzDepth::rewritable;
    OptimizeOptions options;
    options.order = OptimizeOptions::Order::random;
    options.seed = seed;
    Diagnostics diagnostics;
    const OptimizeResult written = optimize(image, options, diagnostics);
    result.depth = FuzzDepth::rewritten;
    try {
      const Image after = view_image(written.bytes, "output");
      result.finding = verify_images(image, after, diagnostics);
    } catch (const Error& error) {
      result.finding = std::string("the output is refused: ") + error.what();
    }
  });
}

FuzzResult check_ir_text(std::string_view text) {
  return guarded([&](FuzzResult& result) {
    const Program program = parse_program(text, alpha_target());
    result.depth = FuzzDepth::read;
    const bool valid = !find_violation(program);
    if (!valid) return;
    result.depth = FuzzDepth::lifted;
    const std::string once = print(program);
    try {
      const std::string twice = print(parse_program(once, alpha_target()));
      if (once != twice) result.finding = "what was printed reads as another program";
    } catch (const Error& error) {
      result.finding = std::string("what was printed cannot be read: ") + error.what();
    }
  });
}

}  // namespace respike
