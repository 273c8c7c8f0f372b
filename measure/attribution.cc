// Sums the places of a run. Cycles of a model are a weighted sum of its events, so that the cycles
// of parts add up exactly to the cycles of the whole.
//
// A place stands for a whole piece, the straight code from there up to the next branch. A piece
// that begins in one procedure and continues into the next, as in hand-written code, counts for the
// first procedure.

#include "measure/attribution.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace respike::measure {
namespace {

using Key = std::pair<std::string, std::string>;  // image, procedure

std::vector<Share> sorted(const ModelInfo& info, const std::map<Key, Events>& sums) {
  const std::unique_ptr<MachineModel> model = info.make();
  std::vector<Share> shares;
  for (const auto& [key, events] : sums)
    shares.push_back({.image = key.first,
                      .procedure = key.second,
                      .events = events,
                      .cycles = sum_of(model->components(events))});
  std::ranges::stable_sort(shares, std::greater<>(), &Share::cycles);
  return shares;
}

}  // namespace

std::vector<Share> shares_by_image(const ModelInfo& model, const Measurement& measurement) {
  std::map<Key, Events> sums;
  for (const PlaceEvents& place : measurement.places) sums[{place.image, ""}] += place.events;
  return sorted(model, sums);
}

std::vector<Share> shares_by_procedure(const ModelInfo& model, const Measurement& measurement,
                                       const NameOfCode& name_of_code) {
  std::map<Key, Events> sums;
  for (const PlaceEvents& place : measurement.places)
    sums[{place.image, name_of_code(place.image, place.offset)}] += place.events;
  return sorted(model, sums);
}

}  // namespace respike::measure
