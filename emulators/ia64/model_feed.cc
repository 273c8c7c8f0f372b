// Feeds a machine model with the code that the emulator executes.
//
// A piece of the model is a *stretch*: the slots from a place that control reaches, up to the next
// branch or break; counts have the same units. An operation at the head of a stretch notifies the
// model that the stretch begins. If a fault leaves a stretch in its middle, the count takes back
// the instructions after it, and the model does not learn from this transfer of control; the
// model's cycles for fetch and issue of the whole stretch stay. Example: a load faults in the
// second of six slots; four slots are taken back.
//
// When a thread has ended, a new thread reuses its place in the file. A child of vfork shares its
// parent's file: the child's instructions before exec count there.

#include "emulators/ia64/model_feed.h"

#include <unistd.h>

#include <cstring>

#include "emulators/ia64/guest_memory.h"
#include "measure/plugins/process_file.h"
#include "models/machine_models.h"

namespace respike::emulator::ia64 {

using namespace measure;

namespace {

constexpr const char* kName = "respike-ia64";

const ModelInfo& model_info() {
  for (const ModelInfo& info : models())
    if (info.machine == MachineId::ia64) return info;
  fail(kName, "there is no model of its processor");
}

}  // namespace

// ---- threads ----

ThreadFeed::ThreadFeed(ModelFeed& process, GuestMemory& memory, uint32_t place)
    : process_(process),
      memory_(memory),
      place_(place),
      events_(&process.file_->events[place]),
      processor_(process.model_->make_processor()) {}

ThreadFeed::~ThreadFeed() {
  std::lock_guard guard(process_.lock_);
  process_.free_places_.push_back(place_);
}

void ThreadFeed::leave(uint64_t begin, uint64_t end) {
  completed_ = false;
  if (begin < end) events_->instructions -= piece_of(begin, end).instructions;
}

/// The events of the stretch that begins at an address.
Events& ThreadFeed::events_at(uint64_t address) {
  if (!process_.rows_) return *events_;
  const auto found = memory_.find(address);
  const bool has_file = found && found->second.file.starts_with('/');
  std::lock_guard guard(process_.lock_);
  return process_.rows_->row(place_, has_file ? found->second.file : "",
                             has_file ? address - found->first + found->second.offset : 0);
}

Piece& ThreadFeed::piece_of(uint64_t begin, uint64_t end) {
  const uint64_t first = begin & ~uint64_t{15}, last = (end + 15) & ~uint64_t{15};
  std::vector<uint8_t> code(last - first);
  std::memcpy(code.data(), memory_.host(first), code.size());
  std::vector<KnownPiece>& known = pieces_[begin];
  for (KnownPiece& k : known)
    if (k.end == end && k.code == code) return *k.piece;
  auto piece = process_.model_->read(begin, end, code);
  known.push_back({end, std::move(code), std::move(piece)});
  return *known.back().piece;
}

// ---- processes ----

ModelFeed::ModelFeed(const std::string& path, bool places)
    : path_(path), model_(model_info().make()) {
  map_file();
  if (places) rows_ = std::make_unique<PlaceRows>(kName, path_);
}

void ModelFeed::map_file() {
  file_ =
      static_cast<MeasurementFile*>(map_process_file(kName, path_, sizeof(MeasurementFile), file_));
  reserve_room(kName, file_, offsetof(MeasurementFile, events) + places_ * sizeof(Events));
  std::memcpy(file_->magic, MeasurementFile::kMagic, sizeof file_->magic);
  file_->process = static_cast<uint32_t>(getpid());
  file_->threads = places_;
}

std::unique_ptr<ThreadFeed> ModelFeed::start_thread(GuestMemory& memory) {
  uint32_t place = 0;
  {
    std::lock_guard guard(lock_);
    if (!free_places_.empty()) {
      place = free_places_.back();
      free_places_.pop_back();
    } else {
      place = places_++;
      if (place == MeasurementFile::kThreads)
        fail(kName, "more than %u threads", MeasurementFile::kThreads);
      reserve_room(kName, &file_->events[place], sizeof(Events));
      file_->threads = places_;
    }
  }
  return std::make_unique<ThreadFeed>(*this, memory, place);
}

void ModelFeed::start_child() {
  map_file();
  if (rows_) rows_->start_child();
}

}  // namespace respike::emulator::ia64
