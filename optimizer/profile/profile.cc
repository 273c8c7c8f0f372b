// Profiles in memory and in files.
//
// A procedure that was never entered is written without counts; most procedures of a program are
// never entered. Counts of the other procedures are LEB128 numbers, since most are small. See
// docs/profiles.md for the format.

#include "optimizer/profile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "optimizer/base/files.h"
#include "optimizer/base/saturating.h"
#include "optimizer/image/image.h"
#include "optimizer/profile/records.h"
#include "optimizer/profile/switches.h"

namespace respike {
namespace {

constexpr SealedFormat kFormat = {"RSPKPROF", 3, "profile", 2};

enum : unsigned { kExact = 1, kEntered = 2, kSwitches = 4 };      // flags of a procedure
constexpr uint32_t kWithSwitches = 3;                             // version
enum : unsigned { kKindMask = 3, kFromShift = 2, kToShift = 4 };  // head of an edge
constexpr unsigned kFromFollows = 3;

constexpr uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
}

void write_edge(ByteWriter& out, const ProcedureProfile::Edge& edge, BlockId before) {
  const int64_t step = int64_t{edge.from} - before;
  const bool follows = step < 0 || step >= kFromFollows;
  const uint64_t to = zigzag(int64_t{edge.to} - edge.from - 1);
  out.uleb128(static_cast<unsigned>(edge.kind) |
              (follows ? kFromFollows : static_cast<unsigned>(step)) << kFromShift |
              to << kToShift);
  if (follows) write_difference(out, edge.from, before);
}

void read_edge(ByteReader& in, ProcedureProfile::Edge& edge, BlockId before, size_t blocks) {
  const uint64_t head = in.uleb128();
  edge.kind = static_cast<ProcedureProfile::Edge::Kind>(head & kKindMask);
  const unsigned step = head >> kFromShift & kFromFollows;
  edge.from = step == kFromFollows ? read_difference(in, before) : before + step;
  const uint64_t to = uint64_t{edge.from} + 1 + static_cast<uint64_t>(unzigzag(head >> kToShift));
  if (edge.from >= blocks || to >= blocks) throw Error("an edge leads to no block");
  edge.to = static_cast<BlockId>(to);
}

BlockId read_block_id(ByteReader& in, size_t blocks) {
  const uint64_t block = in.uleb128();
  if (block >= blocks) throw Error("there is no such block");
  return static_cast<BlockId>(block);
}

void write_procedure(ByteWriter& out, const ProcedureProfile& procedure, uint64_t before) {
  const bool entered = procedure.entered();
  const auto count = [&](uint64_t value) {
    if (entered) out.uleb128(value);
  };
  write_text(out, procedure.name);
  write_difference(out, procedure.address, before);
  out.write(procedure.signature);
  out.write(static_cast<uint8_t>((procedure.exact ? kExact : 0u) | (entered ? kEntered : 0u) |
                                 (procedure.switches.empty() ? 0u : kSwitches)));
  write_nodes(out, procedure.nodes);
  out.uleb128(procedure.blocks.size());
  BlockWriter blocks(out);
  for (const auto& block : procedure.blocks) {
    blocks.write(block);
    count(block.count);
  }
  out.uleb128(procedure.edges.size());
  BlockId from = 0;
  for (const auto& edge : procedure.edges) {
    write_edge(out, edge, from);
    count(edge.count);
    from = edge.from;
  }
  out.uleb128(procedure.calls.size());
  for (const auto& call : procedure.calls) {
    out.uleb128(call.block);
    write_difference(out, call.callee, procedure.address);
    count(call.count);
  }
  out.uleb128(procedure.indirect.size());
  for (const auto& site : procedure.indirect) {
    out.uleb128(site.block);
    write_difference(out, site.target, procedure.address);
    out.uleb128(site.changes);
  }
  if (!procedure.switches.empty()) write_switches(out, procedure.switches);
}

void read_procedure(ByteReader& in, uint32_t version, ProcedureProfile& procedure,
                    uint64_t before) {
  procedure.name = read_text(in);
  procedure.address = read_difference(in, before);
  procedure.signature = in.read<uint64_t>();
  const unsigned flags = in.read<uint8_t>();
  const unsigned known = kExact | kEntered | (version < kWithSwitches ? 0u : kSwitches);
  if ((flags & ~known) != 0) throw Error("a flag is not known");
  procedure.exact = (flags & kExact) != 0;
  const auto count = [&] { return (flags & kEntered) != 0 ? in.uleb128() : 0; };
  read_nodes(in, procedure.nodes);
  procedure.blocks.resize(read_count(in));
  BlockReader blocks(in);
  for (auto& block : procedure.blocks) {
    blocks.read(block);
    check_node(block, procedure.nodes.size());
    block.count = count();
  }
  const size_t size = procedure.blocks.size();
  procedure.edges.resize(read_count(in));
  BlockId from = 0;
  for (auto& edge : procedure.edges) {
    read_edge(in, edge, from, size);
    edge.count = count();
    from = edge.from;
  }
  procedure.calls.resize(read_count(in, 2));
  for (auto& call : procedure.calls) {
    call.block = read_block_id(in, size);
    call.callee = read_difference(in, procedure.address);
    call.count = count();
  }
  procedure.indirect.resize(read_count(in, 3));
  for (auto& site : procedure.indirect) {
    site.block = read_block_id(in, size);
    site.target = read_difference(in, procedure.address);
    site.changes = in.uleb128();
  }
  if ((flags & kSwitches) != 0) procedure.switches = read_switches(in, size);
}

uint64_t scaled(uint64_t count, double weight) {
  if (weight == 1) return count;
  const double value = std::round(static_cast<double>(count) * weight);
  return value >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(value);
}

/// Whether two procedures have the same shape, so that their counts can be added one by one.
bool same_shape(const ProcedureProfile& a, const ProcedureProfile& b) {
  const auto same = [](const auto& x, const auto& y, auto equal) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  return a.name == b.name && a.address == b.address && a.signature == b.signature &&
         a.nodes == b.nodes &&
         same(a.blocks, b.blocks, [](const BlockInfo& x, const BlockInfo& y) { return x == y; }) &&
         same(a.edges, b.edges,
              [](const auto& x, const auto& y) {
                return x.from == y.from && x.to == y.to && x.kind == y.kind;
              }) &&
         same(a.calls, b.calls, [](const auto& x, const auto& y) {
           return x.block == y.block && x.callee == y.callee;
         });
}

void add(ProcedureProfile& sum, const ProcedureProfile& more, double weight) {
  const auto add_counts = [&](auto& to, const auto& from) {
    for (size_t i = 0; i < to.size(); ++i)
      to[i].count = saturating_add(to[i].count, scaled(from[i].count, weight));
  };
  add_counts(sum.blocks, more.blocks);
  add_counts(sum.edges, more.edges);
  add_counts(sum.calls, more.calls);
  sum.exact = sum.exact && more.exact;
  for (const auto& site : more.indirect)
    sum.indirect.push_back({site.block, site.target, scaled(site.changes, weight)});
  unite(sum.indirect);
  if (sum.switches.empty()) sum.switches = more.switches;
}

void clear_counts(ProcedureProfile& procedure) {
  for (auto& block : procedure.blocks) block.count = 0;
  for (auto& edge : procedure.edges) edge.count = 0;
  for (auto& call : procedure.calls) call.count = 0;
  procedure.indirect.clear();
}

}  // namespace

void unite(std::vector<ProcedureProfile::IndirectTarget>& sites) {
  const auto key = [](const auto& site) { return std::pair(site.block, site.target); };
  std::sort(sites.begin(), sites.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (size_t i = 0; i < sites.size(); ++i) {
    if (kept != 0 && key(sites[kept - 1]) == key(sites[i]))
      sites[kept - 1].changes = saturating_add(sites[kept - 1].changes, sites[i].changes);
    else
      sites[kept++] = sites[i];
  }
  sites.resize(kept);
}

void clear_counts(Profile& profile) {
  for (ProcedureProfile& procedure : profile.procedures) clear_counts(procedure);
}

uint64_t ProcedureProfile::instructions() const {
  unsigned __int128 sum = 0;
  for (const Block& block : blocks)
    sum += static_cast<unsigned __int128>(block.count) * block.instructions;
  return sum > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(sum);
}

uint64_t ProcedureProfile::entries() const {
  std::vector<uint64_t> along_edges(blocks.size());
  for (const Edge& edge : edges)
    along_edges[edge.to] = saturating_add(along_edges[edge.to], edge.count);
  uint64_t sum = 0;
  for (size_t b = 0; b < blocks.size(); ++b)
    if (blocks[b].count > along_edges[b])
      sum = saturating_add(sum, blocks[b].count - along_edges[b]);
  return sum;
}

bool ProcedureProfile::entered() const {
  const auto counted = [](const auto& record) { return record.count != 0; };
  return std::any_of(blocks.begin(), blocks.end(), counted) ||
         std::any_of(edges.begin(), edges.end(), counted) ||
         std::any_of(calls.begin(), calls.end(), counted);
}

std::vector<uint8_t> encode_profile(const Profile& profile) {
  ByteWriter out;
  write_text(out, profile.image_path);
  write_text(out, profile.image_build_id);
  out.write(profile.image_hash);
  out.write(profile.runs);
  out.uleb128(profile.procedures.size());
  uint64_t before = 0;
  for (const ProcedureProfile& procedure : profile.procedures) {
    write_procedure(out, procedure, before);
    before = procedure.address;
  }
  return seal(kFormat, out.bytes());
}

Profile decode_profile(std::span<const uint8_t> bytes, const std::string& name) {
  ByteReader in(unseal(kFormat, bytes, name), "it");
  try {
    Profile profile;
    profile.image_path = read_text(in);
    profile.image_build_id = read_text(in);
    profile.image_hash = in.read<uint64_t>();
    profile.runs = in.read<double>();
    if (!std::isfinite(profile.runs) || profile.runs < 0) throw Error("the number of runs is none");
    constexpr size_t kLeast = 15;  // bytes of a procedure
    profile.procedures.resize(read_count(in, kLeast));
    uint64_t before = 0;
    for (ProcedureProfile& procedure : profile.procedures) {
      read_procedure(in, version_of(bytes), procedure, before);
      before = procedure.address;
    }
    if (!in.at_end()) throw Error("something follows its end");
    return profile;
  } catch (const Error& error) {
    throw Error(fmt::format("the profile is damaged: {}", error.what()), name,
                kSealSize + in.position());
  }
}

std::vector<uint8_t> encode_procedure(const ProcedureProfile& procedure) {
  ByteWriter out;
  write_procedure(out, procedure, 0);
  return std::move(out.bytes());
}

ProcedureProfile decode_procedure(std::span<const uint8_t> bytes) {
  ByteReader in(bytes, "it");
  ProcedureProfile procedure;
  read_procedure(in, kFormat.version, procedure, 0);
  if (!in.at_end()) throw Error("something follows its end");
  return procedure;
}

Profile read_profile(const std::filesystem::path& path) {
  return decode_profile(read_file(path), path.string());
}

void write_profile(const std::filesystem::path& path, const Profile& profile) {
  write_file(path, encode_profile(profile), {});
}

bool same_places(const Profile& a, const Profile& b) {
  return a.image_hash == b.image_hash &&
         std::equal(a.procedures.begin(), a.procedures.end(), b.procedures.begin(),
                    b.procedures.end(), same_shape);
}

Profile merge_profiles(std::span<const Profile> profiles, std::span<const double> weights,
                       std::span<const std::string> names) {
  assert(!profiles.empty() && profiles.size() == weights.size() && profiles.size() == names.size());
  Profile sum = profiles[0];
  sum.runs = 0;
  clear_counts(sum);
  for (size_t i = 0; i < profiles.size(); ++i) {
    const Profile& profile = profiles[i];
    if (!same_places(profile, sum))
      throw Error(fmt::format("it is of another image than {}", names[0]), names[i]);
    sum.runs += profile.runs * weights[i];
    for (size_t p = 0; p < sum.procedures.size(); ++p)
      add(sum.procedures[p], profile.procedures[p], weights[i]);
  }
  if (!std::isfinite(sum.runs)) throw Error("the weights are too large");
  return sum;
}

}  // namespace respike
