// Shapes, counts and their sums.
//
// The shape of a profile says what its numbers count: blocks, edges and calls of procedures. The
// database keeps a shape once for all runs of a build. A run adds only numbers, and only for
// procedures that it entered. Example: the shape of `f` has two blocks and the edge between them; a
// run in which `f` was entered 7 times adds five bytes: exact, 7, 7, 7, no indirect targets.
//
// CountSum adds in fixed point with 128 bits: integers stay exact, and small counts are not rounded
// away when factors (weights, ageing, confidence) multiply them. Rounding each number separately
// would break the flow: three edges with 0.4 each lead to a block with 1.2; the block is rounded to
// 1 and the edges to 0, so control enters the block from nowhere. So some edges are rounded up,
// largest fractions first, until each block's inflow from outside is also an integer.

#include "profiledb/counts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "optimizer/base/bytes.h"
#include "optimizer/base/saturating.h"
#include "optimizer/profile/records.h"

namespace respike {
namespace {

using ProfileEdge = ProcedureProfile::Edge;
using ProfileCall = ProcedureProfile::Call;
using IndirectTarget = ProcedureProfile::IndirectTarget;

constexpr unsigned kExact = 1;
void check_end(const ByteReader& in) {
  if (!in.at_end()) throw Error("something follows its end");
}

auto edge_key(const ProfileEdge& edge) {
  return std::tuple(edge.from, edge.to, edge.kind);
}
auto call_key(const ProfileCall& call) {
  return std::tuple(call.block, call.callee);
}
auto target_key(const auto& site) {
  return std::pair(site.block, site.target);
}

/// Sorts by block and target, and adds up targets that are listed twice for a block.
template <typename Target, typename Add>
void unite_targets(std::vector<Target>& targets, Add add) {
  std::sort(targets.begin(), targets.end(),
            [](const Target& a, const Target& b) { return target_key(a) < target_key(b); });
  size_t kept = 0;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (kept != 0 && target_key(targets[kept - 1]) == target_key(targets[i]))
      targets[kept - 1].changes = add(targets[kept - 1].changes, targets[i].changes);
    else
      targets[kept++] = targets[i];
  }
  targets.resize(kept);
}

/// Merges two sorted lists; counts of a record that both lists have are added.
template <typename Record, typename Key>
void unite_records(std::vector<Record>& first, const std::vector<Record>& second, Key key) {
  std::vector<Record> result;
  result.reserve(std::max(first.size(), second.size()));
  auto a = first.begin();
  auto b = second.begin();
  while (a != first.end() || b != second.end()) {
    if (b == second.end() || (a != first.end() && key(*a) < key(*b))) {
      result.push_back(*a++);
    } else if (a == first.end() || key(*b) < key(*a)) {
      result.push_back(*b++);
    } else {
      result.push_back(*a++);
      result.back().count = saturating_add(result.back().count, b++->count);
    }
  }
  first = std::move(result);
}

bool same_blocks(const ProcedureProfile& a, const ProcedureProfile& b) {
  return std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(),
                    [](const BlockInfo& x, const BlockInfo& y) {
                      return x.address == y.address && x.size == y.size;
                    });
}

void unite(ProcedureProfile& first, const ProcedureProfile& second) {
  if (!same_blocks(first, second)) return;
  for (size_t b = 0; b < first.blocks.size(); ++b)
    first.blocks[b].count = saturating_add(first.blocks[b].count, second.blocks[b].count);
  unite_records(first.edges, second.edges, edge_key);
  unite_records(first.calls, second.calls, call_key);
  first.indirect.insert(first.indirect.end(), second.indirect.begin(), second.indirect.end());
  unite_targets(first.indirect, saturating_add);
  first.exact = first.exact && second.exact;
}

}  // namespace

std::vector<uint8_t> encode_counts(const ProcedureProfile& procedure) {
  ByteWriter out;
  out.write(static_cast<uint8_t>(procedure.exact ? kExact : 0));
  for (const auto& block : procedure.blocks) out.uleb128(block.count);
  for (const ProfileEdge& edge : procedure.edges) out.uleb128(edge.count);
  for (const ProfileCall& call : procedure.calls) out.uleb128(call.count);
  out.uleb128(procedure.indirect.size());
  for (const IndirectTarget& site : procedure.indirect) {
    out.uleb128(site.block);
    write_difference(out, site.target, procedure.address);
    out.uleb128(site.changes);
  }
  return std::move(out.bytes());
}

void decode_counts(std::span<const uint8_t> bytes, ProcedureProfile& procedure) {
  ByteReader in(bytes, "it");
  procedure.exact = (in.read<uint8_t>() & kExact) != 0;
  for (auto& block : procedure.blocks) block.count = in.uleb128();
  for (ProfileEdge& edge : procedure.edges) edge.count = in.uleb128();
  for (ProfileCall& call : procedure.calls) call.count = in.uleb128();
  procedure.indirect.resize(read_count(in, 3));
  for (IndirectTarget& site : procedure.indirect) {
    site.block = read_u32(in);
    if (site.block >= procedure.blocks.size()) throw Error("there is no such block");
    site.target = read_difference(in, procedure.address);
    site.changes = in.uleb128();
  }
  check_end(in);
}

EncodedShape encode_shape(std::span<const ProcedureProfile> procedures) {
  EncodedShape shape;
  shape.procedures.reserve(procedures.size());
  ByteWriter all;
  for (const ProcedureProfile& procedure : procedures) {
    assert(!is_counted(procedure));
    const auto& bytes = shape.procedures.emplace_back(encode_procedure(procedure));
    all.uleb128(bytes.size());
    all.append(bytes);
  }
  shape.hash = content_hash(all.bytes());
  return shape;
}

Shape shape_of(std::span<const ProcedureProfile> procedures) {
  Shape shape(procedures.begin(), procedures.end());
  for (ProcedureProfile& procedure : shape) clear_counts(procedure);
  return shape;
}

bool is_counted(const ProcedureProfile& procedure) {
  return procedure.entered() || !procedure.indirect.empty();
}

void clear_counts(ProcedureProfile& procedure) {
  for (auto& block : procedure.blocks) block.count = 0;
  for (ProfileEdge& edge : procedure.edges) edge.count = 0;
  for (ProfileCall& call : procedure.calls) call.count = 0;
  procedure.indirect.clear();
  procedure.exact = true;
}

void add_counts(ProcedureProfile& sum, const ProcedureProfile& more) {
  const auto add = [](auto& to, const auto& from) {
    assert(to.size() == from.size());
    for (size_t i = 0; i < to.size(); ++i) to[i].count = saturating_add(to[i].count, from[i].count);
  };
  add(sum.blocks, more.blocks);
  add(sum.edges, more.edges);
  add(sum.calls, more.calls);
  sum.exact = sum.exact && more.exact;
  sum.indirect.insert(sum.indirect.end(), more.indirect.begin(), more.indirect.end());
  unite_targets(sum.indirect, saturating_add);
}

/// The nearest integer.
uint64_t CountSum::rounded(Fixed value) {
  value = (value + kHalf) >> kFractionBits;
  return value > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(value);
}

/// Makes the counts of edges integers: the edges to a block add up to the rounded count of the
/// block less the rounded count of its entries. Leaves the edges to a block alone if they add up to
/// more than the block.
void CountSum::round_edges(const ProcedureProfile& procedure, Sum& sum) {
  const auto is_integer = [](Fixed value) { return (value & (kOne - 1)) == 0; };
  if (std::ranges::all_of(sum.blocks, is_integer) && std::ranges::all_of(sum.edges, is_integer))
    return;
  std::vector<std::vector<uint32_t>> incoming(sum.blocks.size());
  for (uint32_t e = 0; e < sum.edges.size(); ++e) incoming[procedure.edges[e].to].push_back(e);
  for (size_t b = 0; b < incoming.size(); ++b) {
    Fixed exact = 0, whole = 0;
    for (const uint32_t e : incoming[b]) {
      exact += sum.edges[e];
      whole += sum.edges[e] >> kFractionBits;
    }
    if (exact > sum.blocks[b]) continue;
    const auto fraction = [&](uint32_t e) { return sum.edges[e] & (kOne - 1); };
    std::ranges::stable_sort(incoming[b], std::greater(), fraction);
    const auto integer = [](Fixed value) { return (value + kHalf) >> kFractionBits; };
    Fixed up = integer(sum.blocks[b]) - integer(sum.blocks[b] - exact) - whole;
    for (const uint32_t e : incoming[b]) {
      const Fixed more = up > 0 && fraction(e) != 0 ? 1 : 0;
      up -= more;
      sum.edges[e] = ((sum.edges[e] >> kFractionBits) + more) << kFractionBits;
    }
  }
}

void CountSum::add(size_t ordinal, const ProcedureProfile& procedure, double factor) {
  assert(factor >= 0 && factor <= kMostFactor);
  const auto scale = static_cast<uint64_t>(std::llround(factor * double(kOne)));
  Sum& sum = sums_[ordinal];
  const auto add = [scale](std::vector<Fixed>& to, const auto& from) {
    to.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) to[i] += Fixed{from[i].count} * scale;
  };
  add(sum.blocks, procedure.blocks);
  add(sum.edges, procedure.edges);
  add(sum.calls, procedure.calls);
  sum.exact = sum.exact && procedure.exact;
  for (const IndirectTarget& site : procedure.indirect)
    sum.indirect.push_back({site.block, site.target, Fixed{site.changes} * scale});
  unite_targets(sum.indirect, std::plus<Fixed>());
}

Shape CountSum::take() {
  for (size_t p = 0; p < shape_.size(); ++p) {
    ProcedureProfile& procedure = shape_[p];
    Sum& sum = sums_[p];
    round_edges(procedure, sum);
    const auto set = [&](auto& to, const std::vector<Fixed>& from) {
      for (size_t i = 0; i < from.size(); ++i) to[i].count = rounded(from[i]);
    };
    set(procedure.blocks, sum.blocks);
    set(procedure.edges, sum.edges);
    set(procedure.calls, sum.calls);
    procedure.exact = sum.exact;
    for (const Target& site : sum.indirect)
      procedure.indirect.push_back({site.block, site.target, rounded(site.changes)});
  }
  return std::move(shape_);
}

Shape unite(Shape first, const Shape& second) {
  const auto key = [](const ProcedureProfile& p) { return std::tie(p.address, p.name); };
  Shape result;
  result.reserve(std::max(first.size(), second.size()));
  auto a = first.begin();
  auto b = second.begin();
  while (a != first.end() || b != second.end()) {
    if (b == second.end() || (a != first.end() && key(*a) < key(*b))) {
      result.push_back(std::move(*a++));
    } else if (a == first.end() || key(*b) < key(*a)) {
      result.push_back(*b++);
    } else {
      result.push_back(std::move(*a++));
      unite(result.back(), *b++);
    }
  }
  return result;
}

}  // namespace respike
