// Writes profiles that no run would give, to test that a profile may make code slow, never wrong.
//
//   make_profile random SEED IMAGE OUT     any counts: most are 0 or small, some near 2^63 or 2^64,
//                                          and none fits the others
//   make_profile zero IMAGE OUT            nothing ran but the first block, without which it would
//                                          be no profile at all
//   make_profile inverted PROFILE OUT      what ran most never ran, and the reverse
//
// The random numbers are those of std::mt19937_64 without the library's distributions, so that a
// seed means the same profile on every machine.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
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

/// Whether the arguments were understood.
bool run(std::span<const std::string_view> arguments) {
  const auto is = [&](std::string_view kind, size_t count) {
    return arguments.size() == count && arguments[0] == kind;
  };
  Profile profile;
  if (is("random", 4)) {
    const std::string_view text = arguments[1];
    uint64_t seed = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), seed).ec != std::errc())
      return false;
    profile = random_profile(arguments[2], seed);
  } else if (is("zero", 3)) {
    profile = profile_of_image(arguments[1]);  // a lifted program has no counts
    profile.procedures.at(0).blocks.at(0).count = 1;
  } else if (is("inverted", 3)) {
    profile = inverted_profile(arguments[1]);
  } else {
    return false;
  }
  write_profile(arguments.back(), profile);
  return true;
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  try {
    if (respike::run(arguments)) return 0;
  } catch (const respike::Error& error) {
    fmt::print(stderr, "make_profile: {}\n", error.what());
    return 1;
  }
  std::fputs("make_profile random SEED IMAGE OUT | zero IMAGE OUT | inverted PROFILE OUT\n",
             stderr);
  return 2;
}
