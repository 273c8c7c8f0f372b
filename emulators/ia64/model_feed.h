#pragma once
// Drives a machine model with the code that a program executes: --model FILE, and --places.
//
// The emulator's counterpart of measure_plugin.cc, with the same results (measurement_file.h): a
// file for each process, FILE.PID.N, that is current at every moment. With --places the events are
// in a second file, by the place of the code (places_file.h).

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "measure/plugins/measurement_file.h"
#include "measure/plugins/places_file.h"
#include "models/machine_models.h"

namespace respike::emulator::ia64 {

using measure::Events, measure::MeasurementFile, measure::PlaceRows;
using measure::MachineModel, measure::ModelInfo, measure::Piece, measure::Processor;

class GuestMemory;

/// Straight translated code that control leaves only at its end. `piece` is made at the first
/// execution.
struct Stretch {
  uint64_t begin = 0, end = 0;  ///< bundle and slot
  Piece* piece = nullptr;
  Events* events = nullptr;  ///< the piece's events are added here
};

class ModelFeed;

/// Feeds the model with the code that one thread executes. Each thread has a processor,
/// translations and pieces of its own.
class ThreadFeed {
 public:
  ThreadFeed(ModelFeed& process, GuestMemory& memory, uint32_t place);
  ~ThreadFeed();
  ThreadFeed(const ThreadFeed&) = delete;
  ThreadFeed& operator=(const ThreadFeed&) = delete;

  void begin(Stretch& stretch) {
    if (stretch.piece == nullptr) {
      if (stretch.begin == stretch.end) return;  // the block was full after a branch
      stretch.piece = &piece_of(stretch.begin, stretch.end);
      stretch.events = &events_at(stretch.begin);
    }
    events_ = stretch.events;
    events_->instructions += stretch.piece->instructions;
    processor_->begin(*stretch.piece, *events_, completed_);
    completed_ = true;
  }

  /// Notes a transfer of control that no instruction caused.
  void interrupt() { completed_ = false; }
  /// Notes that the stretch was left: the slots from `begin` to `end` did not run.
  void leave(uint64_t begin, uint64_t end);

 private:
  /// A piece and its code. The address may get other code later.
  struct KnownPiece {
    uint64_t end = 0;
    std::vector<uint8_t> code;
    std::unique_ptr<Piece> piece;
  };
  Piece& piece_of(uint64_t begin, uint64_t end);
  Events& events_at(uint64_t address);

  ModelFeed& process_;
  GuestMemory& memory_;
  const uint32_t place_;
  Events* events_;  ///< of the present stretch
  std::unique_ptr<Processor> processor_;
  bool completed_ = true;
  std::unordered_map<uint64_t, std::vector<KnownPiece>> pieces_;  ///< by first address
};

class ModelFeed {
 public:
  /// Maps the file. Ends the process if this fails, since results would be worthless.
  ModelFeed(const std::string& path, bool places);

  std::unique_ptr<ThreadFeed> start_thread(GuestMemory& memory);

  /// Held while a process forks, so that no other thread is using the feed.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(lock_); }
  /// In a forked child: counts start at 0, the child keeps its parent's caches.
  void start_child();

 private:
  friend class ThreadFeed;

  void map_file();

  const std::string path_;
  const std::unique_ptr<MachineModel> model_;
  MeasurementFile* file_ = nullptr;
  std::unique_ptr<PlaceRows> rows_;  ///< null: without --places
  std::mutex lock_;
  std::vector<uint32_t> free_places_;  ///< of threads that have ended
  uint32_t places_ = 0;
};

}  // namespace respike::emulator::ia64
