// The counter map as bytes.
//
// Most of a flow graph follows from the order of its blocks, so an edge is written as differences
// to the edge before it. The kind of an edge says which of its ends is outside(), if any; the other
// end is its near end. Counters are numbered in the order of edges. With
// optimizer/profile/records.h a block with its edges and counters takes about six bytes, and the
// hashes of its code take four.
//
// Example: a fall-through edge from block 5 to block 6 with the next counter takes two small
// numbers: the head (kind, "next counter", near end one block after the previous near end) and the
// step to its other end.
//
// A map is not trusted: after decoding, all indices are in range.

#include "instrument/counter_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "optimizer/base/hash.h"
#include "optimizer/profile/records.h"
#include "optimizer/profile/solve_flow.h"
#include "optimizer/profile/switches.h"

namespace respike {
namespace {

using ProcedureMap = CounterMap::ProcedureMap;
using Kind = FlowEdge::Kind;

constexpr SealedFormat kFormat = {"RSPKCMAP", 3, "counter map", 2};

constexpr uint32_t kWithSwitches = 3;                  // version
constexpr unsigned kAtomic = 1;                        // flags of the map
constexpr unsigned kBlockCounter = 1, kBlockPad = 2;   // the two bits of a block
constexpr unsigned kJump = 1, kKnown = 2, kInMap = 4;  // flags of a call
constexpr unsigned kNoCounter = 0, kNextCounter = 1, kSomeCounter = 2;

// The head of an edge: kind (4 bits), kind of counter (2 bits), and the step from the near end of
// the previous edge to the near end of this edge (zigzag).
constexpr unsigned kKindMask = 15, kCounterShift = 4, kStepShift = 6;

constexpr uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1)));
}

/// Edges whose near end is their target.
bool comes_from_outside(Kind kind) {
  return kind == Kind::entry || kind == Kind::call_return || kind == Kind::leak;
}
bool leads_outside(Kind kind) {
  return kind == Kind::exit || kind == Kind::call;
}

/// Whether an edge of this kind can run between these nodes.
bool fits(const FlowGraph& graph, const FlowEdge& edge) {
  const bool from_block = edge.from < graph.outside() && edge.from % 2 == 1;
  const bool to_block = edge.to < graph.outside() && edge.to % 2 == 0;
  switch (edge.kind) {
    case Kind::block:
      return false;
    case Kind::fall_through:
    case Kind::taken:
      return from_block && to_block;
    case Kind::indirect:
      return (from_block || graph.is_hub(edge.from)) && (to_block || graph.is_hub(edge.to));
    case Kind::entry:
    case Kind::call_return:
      return to_block;
    case Kind::leak:
      return edge.to < graph.outside() && edge.to % 2 == 1;
    case Kind::call:
      return from_block;
    case Kind::exit:
      return from_block || graph.is_hub(edge.from);
  }
  return false;
}

/// Counters of consecutive edges mostly have consecutive numbers.
struct CounterSequence {
  uint32_t next = 0;

  unsigned code(uint32_t counter) const {
    return counter == kNone ? kNoCounter : counter == next ? kNextCounter : kSomeCounter;
  }
  void write(ByteWriter& out, uint32_t counter) {
    if (code(counter) == kSomeCounter) write_difference(out, counter, next);
    if (counter != kNone) next = counter + 1;
  }
  uint32_t read(ByteReader& in, unsigned code) {
    if (code == kNoCounter) return kNone;
    if (code > kSomeCounter) throw Error("an edge has no known kind of counter");
    const uint32_t counter = code == kNextCounter ? next : read_difference(in, next);
    next = counter + 1;
    return counter;
  }
};

void write_graph(ByteWriter& out, const ProcedureMap& procedure, CounterSequence& counters) {
  const FlowGraph& graph = procedure.graph;
  out.uleb128(graph.blocks);
  BlockWriter blocks(out);
  for (BlockId b = 0; b < graph.blocks; ++b) {
    const CounterMap::Block& block = procedure.blocks[b];
    const uint32_t counter = graph.edges[b].counter;
    blocks.write(block, (counter != kNone ? kBlockCounter : 0u) |
                            (block.landing_pad != kNone ? kBlockPad : 0u));
    if (counter != kNone) {
      write_difference(out, counter, counters.next);
      counters.next = counter + 1;
    }
    if (block.landing_pad != kNone) out.uleb128(block.landing_pad);
  }
  out.uleb128(graph.hubs);
  out.uleb128(graph.edges.size() - graph.blocks);
  uint32_t before = 0;
  for (uint32_t e = graph.blocks; e < graph.edges.size(); ++e) {
    const FlowEdge& edge = graph.edges[e];
    const uint32_t near = comes_from_outside(edge.kind) ? edge.to : edge.from;
    const uint32_t far = comes_from_outside(edge.kind) ? edge.from : edge.to;
    assert(fits(graph, edge));
    out.uleb128(static_cast<unsigned>(edge.kind) | counters.code(edge.counter) << kCounterShift |
                zigzag(int64_t{near} - before) << kStepShift);
    if (!comes_from_outside(edge.kind) && !leads_outside(edge.kind))
      write_difference(out, far, near + 1);
    counters.write(out, edge.counter);
    before = near;
  }
}

void read_graph(ByteReader& in, ProcedureMap& procedure, CounterSequence& counters,
                uint32_t all_counters) {
  FlowGraph& graph = procedure.graph;
  procedure.blocks.resize(read_count(in));
  if (procedure.blocks.size() > UINT32_MAX / 4) throw Error("a procedure has too many blocks");
  graph.blocks = static_cast<uint32_t>(procedure.blocks.size());
  graph.edges.resize(graph.blocks);
  const auto check_counter = [&](uint32_t counter) {
    if (counter != kNone && counter >= all_counters) throw Error("there is no such counter");
    return counter;
  };
  BlockReader blocks(in);
  for (BlockId b = 0; b < graph.blocks; ++b) {
    CounterMap::Block& block = procedure.blocks[b];
    const unsigned bits = blocks.read(block);
    check_node(block, procedure.nodes.size());
    graph.edges[b] = {graph.in(b), graph.out(b), Kind::block, kNone};
    if ((bits & kBlockCounter) != 0)
      graph.edges[b].counter = check_counter(counters.read(in, kSomeCounter));
    if ((bits & kBlockPad) != 0) block.landing_pad = read_u32(in);
    if (block.landing_pad != kNone && block.landing_pad >= graph.blocks)
      throw Error("there is no such landing pad");
  }
  graph.hubs = static_cast<uint32_t>(read_count(in, 2));  // each hub has an edge
  const size_t edges = read_count(in);
  if (graph.blocks == 0 && edges != 0) throw Error("there are edges without blocks");
  graph.edges.reserve(graph.blocks + edges);
  uint32_t before = 0;
  for (size_t i = 0; i < edges; ++i) {
    const uint64_t head = in.uleb128();
    FlowEdge edge;
    edge.kind = static_cast<Kind>(head & kKindMask);
    const uint32_t near = before + static_cast<uint32_t>(unzigzag(head >> kStepShift));
    const uint32_t far = comes_from_outside(edge.kind) || leads_outside(edge.kind)
                             ? graph.outside()
                             : read_difference(in, near + 1);
    if (near >= graph.nodes() || far >= graph.nodes()) throw Error("an edge leads to no node");
    edge.from = comes_from_outside(edge.kind) ? far : near;
    edge.to = comes_from_outside(edge.kind) ? near : far;
    edge.counter = check_counter(counters.read(in, head >> kCounterShift & 3));
    if (!fits(graph, edge)) throw Error("an edge does not fit its ends");
    if ((graph.edges.back().kind == Kind::call) != (edge.kind == Kind::call_return))
      throw Error("a call and its return do not follow each other");
    graph.edges.push_back(edge);
    before = near;
  }
  if (!graph.edges.empty() && graph.edges.back().kind == Kind::call)
    throw Error("a call has no return");
}

void write_procedure(ByteWriter& out, const ProcedureMap& procedure, uint64_t before,
                     CounterSequence& counters) {
  assert(procedure.blocks.size() == procedure.graph.blocks);
  write_text(out, procedure.name);
  write_difference(out, procedure.address, before);
  out.write(procedure.signature);
  write_nodes(out, procedure.nodes);
  write_graph(out, procedure, counters);
  out.uleb128(procedure.calls.size());
  BlockId last = 0;
  for (const auto& call : procedure.calls) {
    const bool in_map = call.callee != kNone;
    const bool known = !in_map && call.address != 0;
    out.uleb128(uint64_t{call.block - last} << 3 | (call.jump ? kJump : 0u) |
                (known ? kKnown : 0u) | (in_map ? kInMap : 0u));
    if (in_map) out.uleb128(call.callee);
    if (known) write_difference(out, call.address, procedure.address);
    last = call.block;
  }
  out.uleb128(procedure.indirect.size());
  last = 0;
  for (const auto& site : procedure.indirect) {
    out.uleb128(site.block - last);
    write_difference(out, site.counter, counters.next);
    counters.next = site.counter + 2;
    last = site.block;
  }
}

/// The next of a list of blocks in ascending order.
BlockId read_block_id(uint64_t step, BlockId last, size_t blocks) {
  if (step >= blocks || last + step >= blocks) throw Error("there is no such block");
  return last + static_cast<BlockId>(step);
}

void read_procedure(ByteReader& in, ProcedureMap& procedure, uint64_t before,
                    CounterSequence& counters, const CounterMap& map) {
  procedure.name = read_text(in);
  procedure.address = read_difference(in, before);
  procedure.signature = in.read<uint64_t>();
  read_nodes(in, procedure.nodes);
  read_graph(in, procedure, counters, map.counters);
  const size_t blocks = procedure.blocks.size();
  procedure.calls.resize(read_count(in));
  BlockId last = 0;
  for (auto& call : procedure.calls) {
    const uint64_t head = in.uleb128();
    call.block = last = read_block_id(head >> 3, last, blocks);
    call.jump = (head & kJump) != 0;
    if ((head & kInMap) != 0) {
      call.callee = read_u32(in);
      if (call.callee >= map.procedures.size()) throw Error("there is no such procedure");
    } else if ((head & kKnown) != 0) {
      call.address = read_difference(in, procedure.address);
    }
  }
  procedure.indirect.resize(read_count(in, 2));
  last = 0;
  for (auto& site : procedure.indirect) {
    site.block = last = read_block_id(in.uleb128(), last, blocks);
    site.counter = read_difference(in, counters.next);
    if (site.counter >= map.counters || map.counters - site.counter < 2)
      throw Error("there is no such counter");
    counters.next = site.counter + 2;
  }
}

const Section& map_section(const Image& image) {
  const Section* section = image.section_named(kCounterMapSection);
  if (section == nullptr) throw Error("this is not an instrumented image", image.path);
  if (section->contents.size() < RESPIKE_IMAGE_ID_SIZE)
    throw Error("the counter map is damaged: it ends too early", image.path, section->offset);
  return *section;
}

}  // namespace

std::vector<uint8_t> encode_counter_map(const CounterMap& map) {
  ByteWriter out;
  write_text(out, map.original_path);
  write_text(out, map.original_build_id);
  out.write(map.original_hash);
  out.write(static_cast<uint8_t>(map.atomic ? kAtomic : 0));
  out.uleb128(map.counters);
  out.write(map.counters_address);
  out.uleb128(map.procedures.size());
  CounterSequence counters;
  uint64_t before = 0;
  for (const ProcedureMap& procedure : map.procedures) {
    write_procedure(out, procedure, before, counters);
    before = procedure.address;
  }
  out.uleb128(map.places.size());
  CounterMap::Place last;
  for (const CounterMap::Place& place : map.places) {
    write_difference(out, place.address, last.address);
    // Neighbours usually moved by the same distance.
    write_difference(out, place.original - place.address, last.original - last.address);
    last = place;
  }
  out.uleb128(map.left_out.size());
  for (const LeftOut& procedure : map.left_out) {
    write_text(out, procedure.name);
    out.uleb128(procedure.bytes);
  }
  for (const ProcedureMap& procedure : map.procedures) write_switches(out, procedure.switches);
  return seal(kFormat, out.bytes());
}

CounterMap decode_counter_map(std::span<const uint8_t> bytes) {
  const auto payload = unseal(kFormat, bytes);
  ByteReader in(payload, "it");
  try {
    CounterMap map;
    map.original_path = read_text(in);
    map.original_build_id = read_text(in);
    map.original_hash = in.read<uint64_t>();
    map.atomic = (in.read<uint8_t>() & kAtomic) != 0;
    map.counters = read_u32(in);
    map.counters_address = in.read<uint64_t>();
    constexpr size_t kLeast = 17;  // bytes of a procedure
    map.procedures.resize(read_count(in, kLeast));
    CounterSequence counters;
    uint64_t before = 0;
    for (ProcedureMap& procedure : map.procedures) {
      read_procedure(in, procedure, before, counters, map);
      before = procedure.address;
      if (!has_spanning_forest(procedure.graph))
        throw Error("counters are missing in the flow graph of a procedure");
    }
    map.places.resize(read_count(in, 2));
    CounterMap::Place last;
    for (CounterMap::Place& place : map.places) {
      place.address = read_difference(in, last.address);
      place.original = place.address + read_difference(in, last.original - last.address);
      if (place.address < last.address) throw Error("places are out of order");
      last = place;
    }
    map.left_out.resize(read_count(in, 2));
    for (LeftOut& procedure : map.left_out) {
      procedure.name = read_text(in);
      procedure.bytes = in.uleb128();
    }
    if (version_of(bytes) >= kWithSwitches)
      for (ProcedureMap& procedure : map.procedures)
        procedure.switches = read_switches(in, procedure.blocks.size());
    if (!in.at_end()) throw Error("something follows its end");
    return map;
  } catch (const Error& error) {
    throw Error(fmt::format("the counter map is damaged: {}", error.what()));
  }
}

std::optional<std::string> describe_left_out(const CounterMap& map) {
  std::vector<uint64_t> others;
  for (const ProcedureMap& procedure : map.procedures)
    others.push_back(std::accumulate(
        procedure.blocks.begin(), procedure.blocks.end(), uint64_t{0},
        [](uint64_t sum, const CounterMap::Block& block) { return sum + block.size; }));
  return describe_left_out(map.left_out, others, "is not counted");
}

ImageId make_image_id(std::span<const uint8_t> original, std::string_view options,
                      std::span<const uint8_t> encoded_map) {
  ByteWriter all;
  for (const auto& part :
       {hash128(original),
        hash128({reinterpret_cast<const uint8_t*>(options.data()), options.size()}),
        hash128(encoded_map)})
    all.append(part);
  return hash128(all.bytes());
}

std::vector<uint8_t> counter_map_section(const ImageId& id, std::span<const uint8_t> encoded_map) {
  std::vector<uint8_t> contents(id.begin(), id.end());
  contents.insert(contents.end(), encoded_map.begin(), encoded_map.end());
  return contents;
}

ImageId read_image_id(const Image& image) {
  ImageId id;
  std::copy_n(map_section(image).contents.begin(), id.size(), id.begin());
  return id;
}

CounterMap read_counter_map(const Image& image) {
  const Section& section = map_section(image);
  try {
    return decode_counter_map(section.contents.subspan(RESPIKE_IMAGE_ID_SIZE));
  } catch (const Error& error) {
    throw Error(error.what(), image.path, section.offset);
  }
}

}  // namespace respike
