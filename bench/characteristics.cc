// Prints the kind of program that a profile shows, as JSON: the numbers behind figures 2 to 6 of
// the Spike paper (views/characteristics.h).
//
//   bench_characteristics IMAGE PROFILE
//
//   {"instructions": executed, "static_instructions": of the image,
//    "trip_counts": {"1": share, "2": ...}, "blocks": {...}, "hot_blocks": {...},
//    "procedures": [{"name", "instructions": executed, "static_instructions", "blocks",
//                    "hot_blocks", "trip_count", "entry_hottest", "leaf", "adjustments", "saves",
//                    "restores"}]}
//
// Only procedures that ran are listed; adjustments, saves and restores count executed instructions.

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/annotate.h"
#include "views/characteristics.h"

namespace respike {
namespace {

using Json = nlohmann::ordered_json;

Json describe(const ProcedureCharacter& procedure) {
  return {{"name", procedure.name},
          {"instructions", procedure.executed},
          {"static_instructions", procedure.instructions},
          {"blocks", procedure.blocks},
          {"hot_blocks", procedure.hot_blocks},
          {"trip_count", procedure.trip_count},
          {"entry_hottest", procedure.entry_hottest},
          {"leaf", procedure.leaf},
          {"adjustments", procedure.adjustments},
          {"saves", procedure.saves},
          {"restores", procedure.restores}};
}

Json describe(const Distribution& distribution) {
  Json shares;
  for (size_t i = 0; i < kBounds.size(); ++i) shares[std::to_string(kBounds[i])] = distribution[i];
  return shares;
}

Json describe(const std::string& image_path, const std::string& profile_path) {
  const Image image = read_image(image_path);
  Diagnostics diagnostics;
  Program program = lift(image, diagnostics);
  annotate(program, read_profile(profile_path));
  const Characteristics found = characterize(program);
  Json procedures = Json::array();
  for (const ProcedureCharacter& procedure : found.procedures)
    procedures.push_back(describe(procedure));
  return {{"instructions", found.executed},
          {"static_instructions", found.instructions},
          {"trip_counts", describe(by_trip_count(found))},
          {"blocks", describe(by_blocks(found, false))},
          {"hot_blocks", describe(by_blocks(found, true))},
          {"procedures", std::move(procedures)}};
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_characteristics IMAGE PROFILE\n");
    return 2;
  }
  try {
    fmt::print("{}\n", respike::describe(argv[1], argv[2])
                           .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } catch (const respike::Error& error) {
    fmt::print(stderr, "bench_characteristics: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
