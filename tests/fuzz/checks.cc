// The properties that must hold for any input.

#include "tests/fuzz/checks.h"

#include <algorithm>

#include "instrument/collect.h"
#include "instrument/instrument.h"
#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/check/invariants.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machines.h"
#include "optimizer/pipeline.h"
#include "optimizer/profile/matching/match.h"
#include "optimizer/replay/rewritten.h"
#include "tests/fuzz/image_mutator.h"

namespace respike {
namespace {

constexpr const char* kName = "input";

/// Runs `check`, which sets the depth that the input reached. An error is a fine answer to a
/// damaged file; an internal error is a finding, since it is the optimizer's own fault.
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
    options.order =
        seed % 4 == 0 ? OptimizeOptions::Order::original : OptimizeOptions::Order::random;
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

FuzzResult check_instrument(std::span<const uint8_t> bytes) {
  return guarded([&](FuzzResult& result) {
    const Image image = read_image({bytes.begin(), bytes.end()}, kName);
    result.depth = FuzzDepth::read;
    require_rewritable(image);
    result.depth = FuzzDepth::rewritable;
    InstrumentOptions options;
    options.spool = "/spool";
    options.output = "/image";
    options.counters = static_cast<Counters>(bytes.size() % 3);
    Diagnostics diagnostics;
    const InstrumentResult written = instrument(image, options, diagnostics);
    result.depth = FuzzDepth::rewritten;
    try {
      view_image(written.bytes, "output");
    } catch (const Error& error) {
      result.finding = std::string("the output is refused: ") + error.what();
    }
  });
}

namespace {

/// A profile of another build of the program: some signatures, hashes and names differ.
Profile changed(Profile profile) {
  for (size_t p = 0; p < profile.procedures.size(); ++p) {
    ProcedureProfile& procedure = profile.procedures[p];
    procedure.signature += p % 2;
    if (p % 3 == 0) procedure.name += ".part.0";
    for (size_t n = 0; n < procedure.nodes.size(); n += 3) ++procedure.nodes[n].strict;
    for (size_t n = 0; n < procedure.nodes.size(); n += 5) ++procedure.nodes[n].loose;
  }
  std::rotate(profile.procedures.begin(),
              profile.procedures.begin() + static_cast<ptrdiff_t>(profile.procedures.size() / 3),
              profile.procedures.end());
  return profile;
}

void check_matching(const Profile& profile, FuzzResult& result) {
  const Profile other = changed(profile);
  for (const auto& [before, now] : {std::pair(&profile, &other), {&other, &profile}}) {
    const MatchResult match = match_profile(*before, *now);
    if (match.profile.procedures.size() != now->procedures.size())
      result.finding = "a matched profile has other procedures";
    if (!(match.confidence >= 0 && match.confidence < 1.001))
      result.finding = "a confidence is out of range";
    decode_profile(encode_profile(match.profile), "output");
  }
}

void check_profile(std::span<const uint8_t> bytes, FuzzResult& result) {
  const Profile profile = decode_profile(bytes, kName);
  result.depth = FuzzDepth::read;
  if (decode_profile(encode_profile(profile), "output") != profile)
    result.finding = "a profile reads as another one after it was written";
  const std::vector<double> weights = {1, 1e10};
  const std::vector<std::string> names = {"a", "b"};
  const Profile sum = merge_profiles(std::vector{profile, profile}, weights, names);
  for (const ProcedureProfile& procedure : sum.procedures)
    if (procedure.entered() && procedure.entries() > 0 && procedure.blocks.empty())
      result.finding = "entries without blocks";
  check_matching(profile, result);
  result.depth = FuzzDepth::rewritten;
}

void check_counter_map(std::span<const uint8_t> bytes, FuzzResult& result) {
  const CounterMap map = decode_counter_map(bytes);
  result.depth = FuzzDepth::read;
  if (!(decode_counter_map(encode_counter_map(map)) == map)) {
    result.finding = "a counter map reads as another one after it was written";
    return;
  }
  constexpr uint32_t kMostCounters = 1'000'000;
  if (map.counters > kMostCounters) return;
  CounterFile file;
  file.counters_address = map.counters_address;
  file.words = map.counters;
  file.counters.resize(map.counters);
  FuzzRandom random(bytes.size() + map.counters);
  for (uint64_t& word : file.counters)
    word = random.one_in(4) ? random.next() : random.below(random.one_in(2) ? 3 : 1000);
  CounterSum sum(map);
  sum.add(file);
  const Profile profile = sum.profile();
  result.depth = FuzzDepth::rewritten;
  for (const ProcedureProfile& procedure : profile.procedures)
    for (const auto& block : procedure.blocks)
      if (block.count > INT64_MAX) result.finding = "a count is negative";
  if (decode_profile(encode_profile(profile), "output") != profile)
    result.finding = "a collected profile reads as another one";
}

}  // namespace

FuzzResult check_counting(std::span<const uint8_t> bytes) {
  return guarded([&](FuzzResult& result) {
    const std::string_view magic(reinterpret_cast<const char*>(bytes.data()),
                                 std::min<size_t>(bytes.size(), 8));
    if (magic.starts_with("RSPKCNT")) {
      decode_counter_file(bytes, kName);
      result.depth = FuzzDepth::rewritten;
      return;
    }
    constexpr size_t kHashAt = 16, kPayloadAt = 24;
    std::vector<uint8_t> sealed(bytes.begin(), bytes.end());
    if (sealed.size() >= kPayloadAt)
      store(sealed.data() + kHashAt, hash64(std::span(sealed).subspan(kPayloadAt)));
    if (magic == "RSPKCMAP")
      check_counter_map(sealed, result);
    else
      check_profile(sealed, result);
  });
}

FuzzResult check_ir_text(std::string_view text) {
  return guarded([&](FuzzResult& result) {
    const Program program = parse_program(text, alpha_machine());
    result.depth = FuzzDepth::read;
    const bool valid = !find_violation(program);
    if (!valid) return;
    result.depth = FuzzDepth::lifted;
    const std::string once = print(program);
    try {
      const std::string twice = print(parse_program(once, alpha_machine()));
      if (once != twice) result.finding = "what was printed reads as another program";
    } catch (const Error& error) {
      result.finding = std::string("what was printed cannot be read: ") + error.what();
    }
  });
}

}  // namespace respike
