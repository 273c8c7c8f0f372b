// Checking an instrumented image.
//
// The image is lifted from its bytes and compared with its input, as every output is
// (check/same_program.h). The comparison skips the probes that output_probes.h finds. This file
// checks the other parts of the image. The start code has to be the start code of this Respike,
// byte for byte, and has to continue where the input begins. The counters have to be memory that
// the image has in addition to the input's. The counter map has to be of this input. The check asks
// nothing of the instrumenter: `image verify` does the same with two files.
//
// Example: the image's entry is 0x1a6050. The bytes there are the start code. The parameters after
// it say that the start code continues at 0x37a40, so the comparison starts there and at the
// input's entry.

#include "instrument/check_output.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "instrument/counter_map.h"
#include "instrument/output_probes.h"
#include "instrument/runtime/counter_file.h"
#include "instrument/runtime/start_code.h"
#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/check/broken_rules.h"
#include "optimizer/lift/lift.h"

namespace respike {
namespace {

/// Reads what the image says about itself; `fault` is the first contradiction.
class PartsReader {
 public:
  PartsReader(const Program& before, const Image& counting)
      : input_(*before.image),
        image_(counting),
        probes_(*before.machine->probes),
        start_(start_code(counting.machine, counting.calling_standard)) {}

  std::optional<std::string> read(CountingParts& parts) {
    parts_ = &parts;
    parts.map = read_counter_map(image_);
    if (parts.map.original_hash != hash64(input_.file))
      return "the instrumented image was made from another file";
    if (auto fault = find_start_code()) return fault;
    if (auto fault = read_parameters()) return fault;
    if (auto fault = check_counters()) return fault;
    return start_.imports.empty() ? std::nullopt : read_bases();
  }

 private:
  bool is_initializer() const {
    return image_.kind == Image::Kind::shared_library && start_.imports.empty();
  }

  std::optional<std::string> find_start_code() {
    std::optional<uint64_t> at;
    if (is_initializer()) {
      for (const LoaderEntry& entry : image_.loader_entries)
        if (entry.kind == LoaderEntry::Kind::initializer)
          at = entry.value - start_.initializer_entry;
    } else {
      at = image_.entry - start_.program_entry;
    }
    const auto code = at ? image_.bytes_at(*at, start_.code.size()) : std::nullopt;
    const Section* section = at ? image_.section_at(*at) : nullptr;
    if (!code || !std::ranges::equal(*code, start_.code) || section == nullptr ||
        !section->executable() || section->writable())
      return "the instrumented image does not begin with this Respike's start code";
    parameters_at_ = *at + start_.code.size();
    if (start_.find_copy != 0) parts_->find_copy = *at + start_.find_copy;
    return std::nullopt;
  }

  template <typename T>
  bool read_at(uint64_t address, T& to) const {
    const auto bytes = image_.bytes_at(address, sizeof(T));
    if (bytes) std::memcpy(&to, bytes->data(), sizeof(T));
    return bytes.has_value();
  }
  uint64_t place(int64_t distance) const {
    return parameters_at_ + static_cast<uint64_t>(distance);
  }

  std::optional<std::string> read_parameters() {
    const std::string wrong = "the parameters of the start code are not those of the counter map";
    if (!read_at(parameters_at_, parameters_)) return wrong;
    const respike_counter_header& header = parameters_.header;
    const ImageId id = read_image_id(image_);
    const bool atomic = (header.flags & RESPIKE_COUNTERS_ATOMIC) != 0;
    const bool copied = (header.flags & RESPIKE_COUNTERS_COPIED) != 0;
    if (place(parameters_.counters) != parts_->map.counters_address ||
        parameters_.counters_size != header.counters_size || atomic != parts_->map.atomic ||
        copied != (parameters_.copied != 0) || !std::ranges::equal(id, header.image_id))
      return wrong;
    if (parameters_.file_prefix_size + uint64_t{RESPIKE_NAME_TAIL} >= RESPIKE_PATH_SIZE ||
        header.header_size < sizeof(header) || header.header_size % start_.page_size != 0)
      return wrong;
    parts_->copied = copied;
    if (!copied) parts_->find_copy = 0;
    auto& goes_on = is_initializer() ? parts_->initializer : parts_->entry;
    if (parameters_.next != 0) {
      goes_on = place(parameters_.next);
      return std::nullopt;
    }
    // The start code continues nowhere: the input has no entry or initializer.
    if (is_initializer() ? has_initializer() : input_.entry != 0)
      return "the start code does not go on where the input begins";
    if (!is_initializer()) goes_on = 0;
    return std::nullopt;
  }
  bool has_initializer() const {
    return std::ranges::any_of(input_.loader_entries, [](const LoaderEntry& entry) {
      return entry.kind == LoaderEntry::Kind::initializer && entry.value != 0;
    });
  }

  /// The counters are writable memory that no other part of the image uses.
  std::optional<std::string> check_counters() {
    const uint64_t start = parts_->map.counters_address, size = parameters_.counters_size;
    const std::string wrong = "the counters are not in memory of their own";
    if (size % start_.page_size != 0 || start % start_.page_size != 0 ||
        size / 8 < parts_->map.counters || start + size < start)
      return wrong;
    uint64_t most = 0;  // words that the map can name
    for (const CounterMap::ProcedureMap& procedure : parts_->map.procedures)
      most += procedure.graph.edges.size() + 2 * procedure.blocks.size();
    if (parts_->map.counters > most) return wrong;
    const auto overlaps = [&](uint64_t from, uint64_t length) {
      return from < start + size && start < from + length;
    };
    const Section* memory = image_.section_at(start);
    if (memory == nullptr || !memory->writable() || memory->executable() ||
        memory->size - (start - memory->address) < size)
      return wrong;
    for (const Section& section : image_.sections)
      if (&section != memory && section.allocated() && overlaps(section.address, section.size))
        return wrong;
    return std::nullopt;
  }

  /// The words through which probes find the counters.
  std::optional<std::string> read_bases() {
    respike_windows_parameters windows;
    if (!read_at(parameters_at_ + sizeof(parameters_), windows) ||
        windows.base_distance != probes_.base_distance())
      return "the parameters of the start code are not those of the counter map";
    const unsigned size = windows.is_wide != 0 ? 8 : 4;
    const uint64_t words = place(windows.bases);
    for (uint64_t i = 0; i < windows.base_count; ++i) {
      uint64_t value = 0;
      uint32_t narrow = 0;
      const bool is_there = size == 8 ? read_at(words + 8 * i, value)
                                      : read_at(words + 4 * i, narrow) && (value = narrow, true);
      if (!is_there || value != parts_->map.counters_address + i * windows.base_distance)
        return fmt::format("the word at {:#x} does not lead to the counters", words + size * i);
    }
    parts_->bases = {words, parts_->map.counters_address, size};
    parts_->base_count = windows.base_count;
    parts_->base_distance = windows.base_distance;
    return std::nullopt;
  }

  const Image& input_;
  const Image& image_;
  const Probes& probes_;
  const StartCode start_;
  CountingParts* parts_ = nullptr;
  uint64_t parameters_at_ = 0;
  respike_start_parameters parameters_;
};

}  // namespace

std::optional<std::string> find_counting_fault(const Program& before, const CodeFacts& facts,
                                               const Image& counting, CompareCounts* counts) {
  CountingParts parts;
  if (auto fault = PartsReader(before, counting).read(parts)) return fault;
  Diagnostics ignored;  // the same as the input's
  const Program after = lift(counting, ignored);
  OutputProbes probes(before, facts, after, parts);
  return find_difference(before, after, counts, nullptr, nullptr, &probes);
}

std::optional<std::string> verify_counting_image(const Image& before, const Image& counting,
                                                 Diagnostics& diagnostics, CompareCounts* counts,
                                                 const Progress& progress) {
  if (before.machine != counting.machine) return "the images are for different machines";
  require_rewritable(before);
  if (auto broken = find_broken_rule(before, counting)) return broken;
  Steps steps(progress);
  steps.begin("lift the original", 0.0);
  const Program program = lift(before, diagnostics);
  if (program.machine->probes == nullptr)
    return fmt::format("{} images cannot be instrumented yet", program.machine->name);
  steps.begin("analyse the original", 0.3);
  const CodeFacts facts(program);
  steps.begin("lift and compare the output", 0.5);
  return find_counting_fault(program, facts, counting, counts);
}

}  // namespace respike
