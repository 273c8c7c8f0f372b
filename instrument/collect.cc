// Counter files into a profile.
//
// The counters of all files are added up, word by word, and solved once: flow that is conserved in
// each file is conserved in the sum. For an indirect jump or call a file holds the last target and
// how often the target changed. The targets are addresses in the process, which may have loaded the
// image anywhere. The counters' address in the file's header and the map's list of places turn the
// targets into addresses of the original image.
//
// For a jump through a hub only the number of executions is known, and for the hub how often it
// went to each target. The counts of edges from jumps to targets are divided in proportion, so that
// sums are right. Example: jumps executed 6 and 2 times, targets reached 4 and 4 times, give the
// edges 3, 3, 1 and 1.

#include "instrument/collect.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>

#include "instrument/solve_program.h"
#include "optimizer/base/bytes.h"
#include "optimizer/base/file_kind.h"
#include "optimizer/base/files.h"
#include "optimizer/base/saturating.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;
using EdgeKind = ProcedureProfile::Edge::Kind;

std::string hex(const ImageId& id) {
  std::string text;
  for (const uint8_t byte : id) text += fmt::format("{:02x}", byte);
  return text;
}

/// Builds one procedure's profile.
class ProfileBuilder {
 public:
  ProfileBuilder(const CounterMap& map, const CounterMap::ProcedureMap& procedure,
                 const ProcedureCounts& counts, uint64_t& jumps)
      : map_(map), procedure_(procedure), graph_(procedure.graph), counts_(counts), jumps_(jumps) {}

  ProcedureProfile build() {
    profile_.name = procedure_.name;
    profile_.address = procedure_.address;
    profile_.signature = procedure_.signature;
    profile_.nodes = procedure_.nodes;
    profile_.switches = procedure_.switches;
    profile_.exact = counts_.exact;
    profile_.blocks.resize(graph_.blocks);
    for (BlockId b = 0; b < graph_.blocks; ++b) {
      static_cast<BlockInfo&>(profile_.blocks[b]) = procedure_.blocks[b];
      profile_.blocks[b].count = counts_.edges[b];
    }
    add_edges();
    add_hubs();
    add_landing_pads();
    std::sort(profile_.edges.begin(), profile_.edges.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.from, a.to, a.kind) < std::tuple(b.from, b.to, b.kind);
    });
    for (const CounterMap::Call& call : procedure_.calls)
      profile_.calls.push_back(
          {call.block, call.callee == kNone ? call.address : map_.procedures[call.callee].address,
           counts_.edges[call.block]});
    return std::move(profile_);
  }

 private:
  void add(BlockId from, BlockId to, EdgeKind kind, uint64_t count) {
    profile_.edges.push_back({from, to, kind, count});
  }
  bool is_block_node(uint32_t node) const { return node < graph_.outside(); }

  void add_edges() {
    for (uint32_t e = graph_.blocks; e < graph_.edges.size(); ++e) {
      const FlowEdge& edge = graph_.edges[e];
      const uint64_t count = counts_.edges[e];
      if (edge.kind == Kind::call_return) {  // a call_return edge follows its call edge
        const uint32_t call = graph_.edges[e - 1].from;
        add(graph_.block_of(call), graph_.block_of(edge.to), EdgeKind::fall_through, count);
      } else if (is_block_node(edge.from) && is_block_node(edge.to)) {
        add(graph_.block_of(edge.from), graph_.block_of(edge.to),
            edge.kind == Kind::taken      ? EdgeKind::taken
            : edge.kind == Kind::indirect ? EdgeKind::indirect
                                          : EdgeKind::fall_through,
            count);
      }
    }
  }

  struct Flow {
    BlockId block;
    uint64_t count;
  };

  void add_hubs() {
    std::vector<std::vector<Flow>> sources(graph_.hubs), targets(graph_.hubs);
    for (uint32_t e = graph_.blocks; e < graph_.edges.size(); ++e) {
      const FlowEdge& edge = graph_.edges[e];
      if (graph_.is_hub(edge.to) && is_block_node(edge.from))
        sources[edge.to - graph_.hub(0)].push_back({graph_.block_of(edge.from), counts_.edges[e]});
      if (graph_.is_hub(edge.from))
        targets[edge.from - graph_.hub(0)].push_back(
            {is_block_node(edge.to) ? graph_.block_of(edge.to) : kNone, counts_.edges[e]});
    }
    for (uint32_t hub = 0; hub < graph_.hubs; ++hub) divide(sources[hub], targets[hub]);
  }

  /// Divides the count of each source among all targets, in proportion to what remains of the
  /// targets' counts. Remainders of the divisions are carried from target to target, so that the
  /// sums of both sides match.
  void divide(const std::vector<Flow>& sources, std::vector<Flow> targets) {
    if (sources.size() > jumps_ / std::max<size_t>(1, targets.size())) return;
    jumps_ -= sources.size() * targets.size();
    for (const Flow& source : sources) {
      unsigned __int128 all = 0, before = 0;
      for (const Flow& target : targets) all += target.count;
      uint64_t given = 0;
      for (Flow& target : targets) {
        before += target.count;
        const uint64_t upto = all == 0 ? 0 : portion(source.count, before, all);
        if (target.block != kNone)
          add(source.block, target.block, EdgeKind::indirect, upto - given);
        target.count -= std::min(target.count, upto - given);
        given = upto;
      }
    }
  }

  /// count * part / whole for part <= whole; exact while the numbers are below 2^64.
  static uint64_t portion(uint64_t count, unsigned __int128 part, unsigned __int128 whole) {
    while (whole > UINT64_MAX) part >>= 1, whole >>= 1;
    return static_cast<uint64_t>(std::min(part, whole) * count / whole);
  }

  /// Moves the entries of a landing pad to the calls with this pad that did not return.
  void add_landing_pads() {
    std::vector<uint64_t> entered(graph_.blocks), lost(graph_.blocks);
    for (uint32_t e = graph_.blocks; e < graph_.edges.size(); ++e) {
      const FlowEdge& edge = graph_.edges[e];
      if (edge.kind == Kind::entry) entered[graph_.block_of(edge.to)] += counts_.edges[e];
      if (edge.kind == Kind::call && counts_.edges[e] > counts_.edges[e + 1])
        lost[graph_.block_of(edge.from)] = counts_.edges[e] - counts_.edges[e + 1];
    }
    for (const CallLoss& loss : counts_.losses)
      if (loss.amount > 0) lost[loss.block] = static_cast<uint64_t>(loss.amount);
    for (const CounterMap::Call& call : procedure_.calls)
      if (is_noreturn(call)) lost[call.block] = counts_.edges[call.block];
    for (BlockId b = 0; b < graph_.blocks; ++b) {
      const BlockId pad = procedure_.blocks[b].landing_pad;
      if (pad == kNone) continue;
      const uint64_t count = std::min(lost[b], entered[pad]);
      entered[pad] -= count;
      add(b, pad, EdgeKind::landing_pad, count);
    }
  }

  bool is_noreturn(const CounterMap::Call& call) const {
    if (call.jump) return false;
    return !std::binary_search(returning().begin(), returning().end(), call.block);
  }
  /// The blocks that have a successor, sorted.
  const std::vector<BlockId>& returning() const {
    if (!returning_.empty()) return returning_;
    for (const FlowEdge& edge : graph_.edges)
      if (edge.kind == Kind::fall_through || edge.kind == Kind::call)
        returning_.push_back(graph_.block_of(edge.from));
    std::sort(returning_.begin(), returning_.end());
    if (returning_.empty()) returning_.push_back(kNone);
    return returning_;
  }

  const CounterMap& map_;
  const CounterMap::ProcedureMap& procedure_;
  const FlowGraph& graph_;
  const ProcedureCounts& counts_;
  uint64_t& jumps_;  // edges through hubs that may still be made
  ProcedureProfile profile_;
  mutable std::vector<BlockId> returning_;
};

/// Refuses a file that is named twice: its counts would be added twice. Names may differ, so files
/// are compared by inode.
void refuse_repeated(std::span<const std::filesystem::path> files) {
  std::map<std::pair<dev_t, ino_t>, const std::filesystem::path*> seen;
  for (const auto& path : files) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) continue;  // reading the file will report why
    const auto [first, fresh] = seen.emplace(std::pair(status.st_dev, status.st_ino), &path);
    if (!fresh)
      throw Error(fmt::format("its counts would be added twice: it is the same file as {}",
                              first->second->string()),
                  path);
  }
}

Image read_counting_image(const CounterFile& file,
                          const std::optional<std::filesystem::path>& path) {
  if (path) return read_image(*path);
  try {
    Image image = read_image(std::filesystem::path(file.image_path));
    static_cast<void>(read_image_id(image));  // the original may be back at this path
    return image;
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}; {} names it as its image: if it is elsewhere, give it with --image",
                    error.what(), file.path));
  }
}

/// The header of a file of `size` bytes with these first bytes.
respike_counter_header header_of(std::span<const uint8_t> start, uint64_t size,
                                 const std::string& path) {
  respike_counter_header header;
  constexpr std::string_view kMagic(RESPIKE_COUNTER_FILE_MAGIC, sizeof header.magic);
  const std::string_view begin(reinterpret_cast<const char*>(start.data()),
                               std::min(start.size(), kMagic.size()));
  if (begin != kMagic) {
    const auto kind = kind_of_file(start);
    throw Error(kind.empty() || begin.starts_with(kMagic.data())
                    ? std::string("this is not a counter file")
                    : fmt::format("it is {}, not a counter file", kind),
                path);
  }
  if (start.size() < sizeof header) throw Error("the counter file ends in its header", path);
  std::memcpy(&header, start.data(), sizeof header);
  if (header.version != RESPIKE_COUNTER_FILE_VERSION)
    throw Error(fmt::format("the counter file is of version {}, this Respike reads version {}",
                            header.version, RESPIKE_COUNTER_FILE_VERSION),
                path, offsetof(respike_counter_header, version));
  if (header.header_size < sizeof header || header.header_size > size)
    throw Error("the counter file is damaged: the size of its header is wrong", path,
                offsetof(respike_counter_header, header_size));
  const uint64_t bytes = size - header.header_size;
  const bool copied = (header.flags & RESPIKE_COUNTERS_COPIED) != 0;
  if (copied && header.header_size != align_up(sizeof header, RESPIKE_COPY_PAGE))
    throw Error("the counter file is damaged: the size of its header is wrong", path,
                offsetof(respike_counter_header, header_size));
  if (header.counters_size % 8 != 0 ||
      (copied ? header.counters_size == 0 || bytes < header.counters_size
              : header.counters_size != bytes))
    throw Error(fmt::format("the counter file is damaged: it should have {} bytes of counters and "
                            "has {}",
                            header.counters_size, bytes),
                path);
  return header;
}

}  // namespace

const size_t kCounterHeaderSize = sizeof(respike_counter_header);

bool has_no_header(std::span<const uint8_t> bytes) {
  const auto magic = bytes.first(std::min(bytes.size(), sizeof respike_counter_header::magic));
  return std::ranges::all_of(magic, [](uint8_t byte) { return byte == 0; });
}

/// Whether the file's process never wrote the header. Reads only the first bytes of the file.
static bool has_no_header_in_file(const std::filesystem::path& path) {
  std::array<char, sizeof respike_counter_header::magic> start{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(start.data(), start.size()))
    return has_no_header(read_file(path));  // a short file, or an Error that says why
  return std::ranges::all_of(start, [](char byte) { return byte == 0; });
}

std::vector<std::filesystem::path> files_with_headers(std::span<const std::filesystem::path> files,
                                                      Diagnostics& diagnostics) {
  std::vector<std::filesystem::path> result;
  for (const std::filesystem::path& path : files)
    if (!has_no_header_in_file(path)) result.push_back(path);
  const size_t others = files.size() - result.size();
  if (result.empty() && others != 0)
    throw Error("its process did not begin to count", files.front().string());
  if (others == 1)
    diagnostics.warn("a counter file is left out: its process did not begin to count");
  if (others > 1)
    diagnostics.warn(fmt::format(
        "{} counter files are left out: their processes did not begin to count", others));
  return result;
}

void check_counter_header(std::span<const uint8_t> start, uint64_t size, const std::string& path) {
  static_cast<void>(header_of(start, size, path));
}

CounterFile decode_counter_file(std::span<const uint8_t> bytes, const std::string& path) {
  const respike_counter_header header = header_of(bytes, bytes.size(), path);
  const char* end = std::find(header.image_path, header.image_path + RESPIKE_PATH_SIZE, '\0');
  if (end == header.image_path + RESPIKE_PATH_SIZE)
    throw Error("the counter file is damaged: the path of its image has no end", path,
                offsetof(respike_counter_header, image_path));
  CounterFile file;
  file.path = path;
  std::copy_n(header.image_id, file.image_id.size(), file.image_id.begin());
  file.image_path.assign(static_cast<const char*>(header.image_path), end);
  file.process_id = header.process_id;
  file.start_time = header.start_time;
  file.counters_address = header.counters_address;
  file.atomic = (header.flags & RESPIKE_COUNTERS_ATOMIC) != 0;
  file.words = header.counters_size / 8;
  file.counters.resize((bytes.size() - header.header_size) / 8);
  std::memcpy(file.counters.data(), bytes.data() + header.header_size, 8 * file.counters.size());
  if ((header.flags & RESPIKE_COUNTERS_COPIED) != 0) {
    file.lacks_copies = header.copies >= file.counters.size() / file.words;
  }
  return file;
}

std::optional<std::string> describe_refused_copies(uint64_t processes) {
  if (processes == 0) return std::nullopt;
  return fmt::format(
      "threads or forked children of {} had no counters of their own: some of their counts may be "
      "lost; --counters atomic counts them all",
      processes == 1 ? "a process" : fmt::format("{} processes", processes));
}

CounterFile read_counter_file(const std::filesystem::path& path) {
  return decode_counter_file(read_file(path), path.string());
}

void CounterSum::add(const CounterFile& file) {
  if (file.words < map_.counters)
    throw Error(fmt::format("the counter file is damaged: its image has {} counters, it has {}",
                            map_.counters, file.words),
                file.path);
  words_.resize(map_.counters);
  const uint64_t bias = file.counters_address - map_.counters_address;
  std::span<const uint64_t> copies = file.counters;
  for (; !copies.empty() && copies.size() >= file.words; copies = copies.subspan(file.words))
    add(copies.first(file.words), bias);
  ++files_;
}

void CounterSum::add(std::span<const uint64_t> counters, uint64_t bias) {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] += counters[i];
  uint32_t number = 0;
  for (const auto& procedure : map_.procedures)
    for (const auto& site : procedure.indirect) {
      const uint64_t target = counters[site.counter];
      if (target != 0)
        targets_.push_back({number, original_place(target - bias), counters[site.counter + 1]});
      ++number;
    }
}

uint64_t CounterSum::original_place(uint64_t address) const {
  const auto place =
      std::lower_bound(map_.places.begin(), map_.places.end(), address,
                       [](const CounterMap::Place& p, uint64_t a) { return p.address < a; });
  return place != map_.places.end() && place->address == address ? place->original : 0;
}

void CounterSum::build(bool all,
                       const std::function<void(uint32_t, ProcedureProfile)>& take) const {
  assert(files_ != 0);
  const std::vector<ProcedureCounts> counts = solve_program(map_, words_);
  auto targets = targets_;
  std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) {
    return std::pair(a.site, a.target) < std::pair(b.site, b.target);
  });
  auto target = targets.begin();
  uint32_t number = 0;        // of the next site
  uint64_t jumps = 1u << 20;  // ample: only a damaged map has more
  for (const auto& procedure : map_.procedures) jumps += 16 * procedure.graph.edges.size();
  for (uint32_t p = 0; p < counts.size(); ++p) {
    const CounterMap::ProcedureMap& procedure = map_.procedures[p];
    const size_t sites = procedure.indirect.size();
    const bool jumped = target != targets.end() && target->site < number + sites;
    const auto& edges = counts[p].edges;
    if (!all && !jumped &&
        std::all_of(edges.begin(), edges.end(), [](uint64_t count) { return count == 0; })) {
      number += static_cast<uint32_t>(sites);
      continue;
    }
    ProcedureProfile result = ProfileBuilder(map_, procedure, counts[p], jumps).build();
    for (const auto& site : procedure.indirect) {
      for (; target != targets.end() && target->site == number; ++target) {
        auto& list = result.indirect;
        if (!list.empty() && list.back().block == site.block &&
            list.back().target == target->target)
          list.back().changes = saturating_add(list.back().changes, target->changes);
        else
          list.push_back({site.block, target->target, target->changes});
      }
      ++number;
    }
    take(p, std::move(result));
  }
}

Profile CounterSum::profile() const {
  Profile profile;
  profile.image_path = map_.original_path;
  profile.image_build_id = map_.original_build_id;
  profile.image_hash = map_.original_hash;
  profile.runs = static_cast<double>(files_);
  profile.procedures.reserve(map_.procedures.size());
  build(true, [&](uint32_t, ProcedureProfile procedure) {
    profile.procedures.push_back(std::move(procedure));
  });
  return profile;
}

std::vector<std::pair<uint32_t, ProcedureProfile>> CounterSum::counted_procedures() const {
  std::vector<std::pair<uint32_t, ProcedureProfile>> counted;
  build(false, [&](uint32_t place, ProcedureProfile procedure) {
    counted.emplace_back(place, std::move(procedure));
  });
  return counted;
}

Profile collect(std::span<const std::filesystem::path> files,
                const std::optional<std::filesystem::path>& image_path, Diagnostics* diagnostics) {
  if (files.empty()) throw Error("there is no counter file");
  refuse_repeated(files);
  CounterFile file = read_counter_file(files[0]);
  if (!image_path && file.image_path.empty())
    throw Error("the counter file does not name its image: give it with --image", file.path);
  const std::string first = file.path;
  const ImageId id = file.image_id;
  const Image image = read_counting_image(file, image_path);
  if (read_image_id(image) != id)
    throw Error(fmt::format("this is not the image that wrote {}: its identity is {}, not {}",
                            first, hex(read_image_id(image)), hex(id)),
                image.path);
  const CounterMap map = read_counter_map(image);
  CounterSum sum(map);
  sum.add(file);
  uint64_t lacking = file.lacks_copies;
  for (const auto& path : files.subspan(1)) {
    file = read_counter_file(path);
    if (file.image_id != id)
      throw Error(fmt::format("it is of another image than {}", first), file.path);
    sum.add(file);
    lacking += file.lacks_copies;
  }
  if (diagnostics != nullptr)
    for (const auto& text : {describe_left_out(map), describe_refused_copies(lacking)})
      if (text) diagnostics->warn(*text);
  return sum.profile();
}

}  // namespace respike
