// Writes profiles that no run would give, to test that a profile may make code slow, never wrong.
//
//   make_profile random SEED IMAGE OUT     any counts: most are 0 or small, some near 2^63 or 2^64,
//                                          and none fits the others
//   make_profile zero IMAGE OUT            nothing ran but the first block, without which it would
//                                          not be a profile
//   make_profile inverted PROFILE OUT      the code that ran most never ran, and vice versa
//   make_profile astray PROFILE OUT        blocks lie where the image has no code
//   make_profile hot IMAGE OUT             everything ran, all of it equally often
//   make_profile cold SEED IMAGE OUT       procedures are entered, and leave their first blocks at
//                                          once for what never ran
//   make_profile patchy SEED IMAGE OUT     procedures run equally often; some of their blocks run
//                                          at each entry, the others almost never
//
// In `cold` and `patchy`, few enough procedures run to be worth any optimization. The random
// numbers come from std::mt19937_64 without the library's distributions: a seed means the same
// profile on every machine.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/profile/profile.h"

namespace respike {
namespace {

template <typename Change>
void change_counts(Profile& profile, Change change) {
  for (ProcedureProfile& procedure : profile.procedures) {
    for (auto& block : procedure.blocks) block.count = change(block.count);
    for (auto& edge : procedure.edges) edge.count = change(edge.count);
    for (auto& call : procedure.calls) call.count = change(call.count);
  }
}

Profile profile_of_image(const std::filesystem::path& path) {
  Diagnostics diagnostics;
  const Image image = read_image(path);
  const Program program = lift(image, diagnostics);
  return profile_of(program);
}

Profile random_profile(const std::filesystem::path& path, uint64_t seed) {
  std::mt19937_64 random(seed);
  Profile profile = profile_of_image(path);
  change_counts(profile, [&](uint64_t) -> uint64_t {
    const uint64_t number = random();
    switch (random() % 16) {
      case 0:
        return (uint64_t{1} << 63) - 1000 + number % 2000;
      case 1:
        return UINT64_MAX - number % 2;
      case 2:
        return number >> 1;
      case 3:
      case 4:
      case 5:
        return number >> 40;
      case 6:
      case 7:
      case 8:
      case 9:
        return number % 100;
      default:
        return 0;
    }
  });
  return profile;
}

Profile hot_profile(const std::filesystem::path& path) {
  Profile profile = profile_of_image(path);
  change_counts(profile, [](uint64_t) { return 1000; });
  return profile;
}

/// Procedures drawn by `seed`, at most about kMostRunning; block_count says how often a block that
/// is not the first one runs, by a random number. Control flows as often as both ends run.
template <typename BlockCount>
Profile drawn_profile(const std::filesystem::path& path, uint64_t seed, BlockCount block_count) {
  constexpr uint64_t kMostRunning = 300;
  std::mt19937_64 random(seed);
  Profile profile = profile_of_image(path);
  for (ProcedureProfile& procedure : profile.procedures) {
    if (random() % std::max<uint64_t>(profile.procedures.size(), kMostRunning) >= kMostRunning)
      continue;
    for (size_t b = 0; b < procedure.blocks.size(); ++b)
      procedure.blocks[b].count = b == 0 ? 1000 : block_count(random());
    const auto count = [&](BlockId block) { return procedure.blocks[block].count; };
    for (auto& edge : procedure.edges) edge.count = std::min(count(edge.from), count(edge.to));
    for (auto& call : procedure.calls) call.count = count(call.block);
  }
  return profile;
}

Profile cold_profile(const std::filesystem::path& path, uint64_t seed) {
  return drawn_profile(path, seed, [](uint64_t) { return 0; });
}

Profile patchy_profile(const std::filesystem::path& path, uint64_t seed) {
  return drawn_profile(path, seed, [](uint64_t number) -> uint64_t {
    return number % 8 < 5 ? 1000 : number % 8 - 5;
  });
}

Profile astray_profile(const std::filesystem::path& path) {
  Profile profile = read_profile(path);
  for (ProcedureProfile& procedure : profile.procedures)
    for (auto& block : procedure.blocks) block.address = 0x50;
  return profile;
}

Profile inverted_profile(const std::filesystem::path& path) {
  Profile profile = read_profile(path);
  uint64_t most = 0;
  change_counts(profile, [&](uint64_t count) {
    most = std::max(most, count);
    return count;
  });
  change_counts(profile, [&](uint64_t count) { return most - count; });
  return profile;
}

/// The profile that the arguments without the last one ask for, if they were understood.
std::optional<Profile> make(std::span<const std::string_view> arguments) {
  const auto is = [&](std::string_view kind, size_t count) {
    return arguments.size() == count && arguments[0] == kind;
  };
  if (is("hot", 2)) return hot_profile(arguments[1]);
  if (is("inverted", 2)) return inverted_profile(arguments[1]);
  if (is("astray", 2)) return astray_profile(arguments[1]);
  if (is("zero", 2)) {
    Profile profile = profile_of_image(arguments[1]);  // a lifted program has no counts
    profile.procedures.at(0).blocks.at(0).count = 1;
    return profile;
  }
  uint64_t seed = 0;
  if (arguments.size() != 3 ||
      std::from_chars(arguments[1].data(), arguments[1].data() + arguments[1].size(), seed).ec !=
          std::errc())
    return {};
  if (is("random", 3)) return random_profile(arguments[2], seed);
  if (is("cold", 3)) return cold_profile(arguments[2], seed);
  if (is("patchy", 3)) return patchy_profile(arguments[2], seed);
  return {};
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  try {
    const auto all_but_last = std::span(arguments).first(std::max(argc - 2, 0));
    if (const auto profile = respike::make(all_but_last)) {
      respike::write_profile(arguments.back(), *profile);
      return 0;
    }
  } catch (const respike::Error& error) {
    fmt::print(stderr, "make_profile: {}\n", error.what());
    return 1;
  }
  std::fputs(
      "make_profile random|cold|patchy SEED IMAGE OUT | zero|hot IMAGE OUT | inverted PROFILE "
      "OUT\n",
      stderr);
  return 2;
}
