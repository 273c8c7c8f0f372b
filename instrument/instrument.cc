// Instrumentation in order: lift, choose counters, insert probes, emit with start code and counter
// map.
//
// Counters are numbered over the whole image. The two words of each indirect jump or call come
// after the counters of its procedure. The number of words is known before any code is changed, and
// so are their addresses: counters follow the last writable segment or, where code follows that
// segment, leave room for the code to grow. The start code becomes the entry of a program or the
// initializer of a library, and continues with the image's own.
//
// Example: a program with 3 counters gets 8 KB of counters on a machine with 8 KB pages, since the
// counter file is mapped over whole pages.
//
// The lifted program stays unchanged: probes go into a copy, which shares the unchanged parts. At
// the end the written image is lifted again and compared with the lifted program (check_output.h).

#include "instrument/instrument.h"

#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "instrument/always_cut.h"
#include "instrument/check_output.h"
#include "instrument/counter_map.h"
#include "instrument/probe_places.h"
#include "instrument/runtime/start_code.h"
#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/check/broken_rules.h"
#include "optimizer/check/invariants.h"
#include "optimizer/debug/debug_file.h"
#include "optimizer/emit/emit.h"
#include "optimizer/image/imports.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/layout/orders.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/profile/estimate.h"
#include "optimizer/profile/signature.h"
#include "optimizer/profile/switches.h"
#include "optimizer/report/left_out.h"

namespace respike {
namespace {

/// A copy that may receive probes. It shares the lists of instructions and edges with `program`,
/// which must outlive the copy: an editor gives a changed block new lists.
Program copy_for_editing(const Program& program) {
  Program copy;
  copy.image = program.image;
  copy.machine = program.machine;
  copy.map = program.map;
  copy.origin_base = program.origin_base;
  copy.procedures = program.procedures;
  copy.ranges = program.ranges;
  copy.range_index = program.range_index;
  copy.code_pointers = program.code_pointers;
  copy.falls_into = program.falls_into;
  copy.near_branches = program.near_branches;
  copy.kept = program.kept;
  copy.enclosure = program.enclosure;
  copy.gp_values = program.gp_values;
  copy.observed_calls = program.observed_calls;
  copy.unwind = program.unwind;
  copy.foreign_fdes = program.foreign_fdes;
  copy.unreadable_fde = program.unreadable_fde;
  return copy;
}

/// Everything about one image that is being instrumented.
class Instrumenter {
 public:
  Instrumenter(const Image& image, const InstrumentOptions& options, Diagnostics& diagnostics)
      : image_(image), options_(options), diagnostics_(diagnostics) {}

  InstrumentResult run();

 private:
  struct Chosen {
    ProcedureId procedure;
    CounterPlacement counters;
    uint32_t first_counter;
    std::vector<CounterMap::IndirectSite> indirect;
  };

  void choose_file_names();
  void choose_counters(const CodeFacts& facts);
  void choose_counters(ProcedureId id, const std::vector<bool>& returns_otherwise,
                       const CodeFacts& facts);
  std::vector<double> weigh(ProcedureId id, const FlowGraph& graph) const;
  std::vector<double> estimate_calls(const CallGraph& calls) const;
  void insert_probes(Program& counting, Layout& layout, const CodeFacts& facts);
  void add_frames(Program& counting, uint64_t address) const;
  void describe();
  std::vector<uint8_t> emit_image(const Program& counting, Layout layout);
  void write(const CodeFacts& facts, Steps& steps);
  bool is_library() const { return image_.kind == Image::Kind::shared_library; }
  /// The start code of a library is its initializer; with imports, its entry.
  bool has_initializer() const { return is_library() && start_.imports.empty(); }
  void note_addresses(const Injection::Addresses& addresses);
  respike_start_parameters start_parameters(const Injection::Addresses& addresses, uint64_t at,
                                            const ImageId& id) const;
  Injection::Contents inject(const Injection::Addresses& addresses);
  uint64_t text_size() const;
  void require_copies() const;
  /// Bytes before the counters.
  uint64_t front_size() const {
    return imports_ ? align_up(scratch_offset() + RESPIKE_PATH_SIZE, start_.page_size)
           : options_.counters == Counters::threads ? RESPIKE_COPIES_SIZE
                                                    : 0;
  }
  // Before the counters of a start code with imports: import tables, words with addresses of
  // counters, memory for a path. Distances from the start of the memory.
  uint64_t bases_offset() const { return align_up(imports_->contents.size(), 8); }
  uint64_t base_count() const { return program_.machine->probes->bases_of(8 * uint64_t{words_}); }
  uint64_t scratch_offset() const {
    return bases_offset() + align_up(imports_->slot_size * base_count(), 8);
  }
  uint64_t parameters_size() const {
    return sizeof(respike_start_parameters) + (imports_ ? sizeof(respike_windows_parameters) : 0);
  }
  void inject_imports(const Injection::Addresses& addresses, Injection::Contents& contents) const;

  const Image& image_;
  const InstrumentOptions& options_;
  Diagnostics& diagnostics_;
  InstrumentResult result_;
  Program program_;  // as it was lifted
  StartCode start_;
  std::string file_prefix_;
  std::vector<Chosen> chosen_;
  uint32_t words_ = 0;  // counters and words of indirect jumps and calls
  AddedMemory memory_;
  std::optional<NewImports> imports_;  // of the start code, at the start of the memory
  CounterMap map_;
  std::vector<std::pair<CodeLocation, uint64_t>> places_;  // of map_: its place, and its address
                                                           // before
};

/// Edge weights from counts if there are any, else from the shape of the graph.
std::vector<double> Instrumenter::weigh(ProcedureId id, const FlowGraph& graph) const {
  const Procedure& procedure = program_[id];
  const bool counted = std::any_of(procedure.blocks.begin(), procedure.blocks.end(),
                                   [](const BasicBlock& block) { return block.count != 0; });
  if (!counted) return estimate_flow(program_, id, graph);
  std::vector<double> weights(graph.edges.size());
  const double calls = std::max<double>(1, static_cast<double>(procedure.blocks[0].count));
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const FlowEdge& edge = graph.edges[e];
    uint64_t count = 0;
    switch (edge.kind) {
      case FlowEdge::Kind::block:
        count = procedure.blocks[e].count;
        break;
      case FlowEdge::Kind::fall_through:
      case FlowEdge::Kind::taken: {
        const Edge* own = procedure.blocks[graph.block_of(edge.from)].edge(
            edge.kind == FlowEdge::Kind::taken ? Edge::Kind::taken : Edge::Kind::fall_through);
        count = own->count;
        break;
      }
      case FlowEdge::Kind::call:
        count = procedure.blocks[graph.block_of(edge.from)].count;
        break;
      case FlowEdge::Kind::call_return:
        count = procedure.blocks[graph.block_of(graph.edges[e - 1].from)].count;
        break;
      default:  // edges that never have a probe of their own
        break;
    }
    weights[e] = static_cast<double>(count) / calls;
  }
  return weights;
}

void Instrumenter::choose_counters(ProcedureId id, const std::vector<bool>& returns_otherwise,
                                   const CodeFacts& facts) {
  const Procedure& procedure = program_[id];
  const ProbePlaces places = find_probe_places(program_, id);
  std::vector<bool> always_cut(procedure.blocks.size());
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    if (!is_returning_call(program_, block)) continue;
    const Instruction& last = block.instructions.back();
    const Reference* reference = branch_of(procedure, last);
    if (reference == nullptr) {
      always_cut[b] = true;  // the callee is unknown
    } else if (procedure.nonstandard) {
      always_cut[b] = true;  // an exception may end the call
    } else {
      const CodeLocation& to = reference->target;
      // Code follows a call that never returns only if a predicate may skip the call.
      always_cut[b] = to.procedure == kNone || returns_otherwise[to.procedure] ||
                      !program_[to.procedure].returns;
    }
  }
  auto placement = place_counters(program_, id, always_cut, facts.first_block_entered(id), places,
                                  [&](const FlowGraph& graph) { return weigh(id, graph); });
  if (!placement) {
    result_.left_out.push_back({procedure.name, "too much of it must stay as it is"});
    map_.left_out.push_back({procedure.name, procedure.size});
    return;
  }
  const bool imports_known = !facts.imports().empty();  // stubs of imports jump to them
  Chosen chosen{id, std::move(*placement), words_, {}};
  words_ += static_cast<uint32_t>(chosen.counters.probes.size());
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const BasicBlock& block = procedure.blocks[b];
    const ControlFlow flow = program_.machine->facts(block.instructions.back()).flow;
    // Where the targets of a jump are known, counts of its edges say more and cost less.
    const bool unknown_jump = flow == ControlFlow::indirect_jump &&
                              block.edge(Edge::Kind::indirect) == nullptr &&
                              !(imports_known && facts.linkage_slot(id, b));
    const bool unknown_call = flow == ControlFlow::indirect_call && !facts.linkage_slot(id, b);
    if (!unknown_call && !unknown_jump) continue;
    chosen.indirect.push_back({b, words_});
    words_ += 2;
  }
  result_.blocks += procedure.blocks.size();
  result_.counters += chosen.counters.probes.size();
  result_.counted_blocks +=
      std::count_if(chosen.counters.probes.begin(), chosen.counters.probes.end(),
                    [&](uint32_t edge) { return edge < procedure.blocks.size(); });
  ++result_.instrumented;
  chosen_.push_back(std::move(chosen));
}

void Instrumenter::choose_counters(const CodeFacts& facts) {
  const std::vector<bool> returns_otherwise = find_always_cut(program_, facts);
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
    const Procedure& procedure = program_[id];
    if (!procedure.movable()) {
      result_.left_out.push_back({procedure.name, procedure.reason});
      if (is_worth_telling(program_, procedure))
        map_.left_out.push_back({procedure.name, procedure.size});
    } else if (facts.calls().unused(id)) {
      ++result_.unused;
      result_.blocks += procedure.blocks.size();
    } else {
      choose_counters(id, returns_otherwise, facts);
    }
  }
  memory_.alignment = start_.page_size;
  if (!start_.imports.empty())
    imports_ = add_imports(image_, start_.library, start_.imports,
                           plan_added_segment(image_, {.size = 8}).memory_address);
  memory_.size =
      front_size() + align_up(std::max<uint64_t>(8, 8 * uint64_t{words_}), start_.page_size);
  // More than code and tables ever grow by; address space is free. The writer checks that the room
  // is enough.
  constexpr uint64_t kRoomForStart = 1 << 20, kRoomPerCounter = 512;
  for (const Segment& segment : image_.segments)
    if (segment.loaded()) memory_.lowest = segment.address + segment.memory_size;
  memory_.lowest += kRoomForStart + 2 * image_.file.size() + kRoomPerCounter * words_;
}

/// How often each procedure is called: counted, or estimated from the calls of its callers (Wu and
/// Larus, MICRO 1994, section 5), without recursive calls.
std::vector<double> Instrumenter::estimate_calls(const CallGraph& calls) const {
  std::vector<double> result(program_.procedures.size(), 1);
  if (options_.weights != nullptr) {
    for (size_t id = 0; id < result.size(); ++id)
      result[id] = static_cast<double>(
          program_.procedures[id].blocks.empty() ? 0 : program_.procedures[id].blocks[0].count);
    return result;
  }
  constexpr double kMost = 1e12;
  std::vector<const CounterPlacement*> placements(program_.procedures.size());
  for (const Chosen& chosen : chosen_) placements[chosen.procedure] = &chosen.counters;
  const auto order = calls.bottom_up();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (placements[*id] == nullptr) continue;
    for (const Call& call : calls.calls_of(*id))
      if (call.known() && calls.components()[call.callee] != calls.components()[*id])
        result[call.callee] = std::min(
            kMost, result[call.callee] + result[*id] * placements[*id]->blocks[call.block]);
  }
  return result;
}

void Instrumenter::insert_probes(Program& counting, Layout& layout, const CodeFacts& facts) {
  const AddedSegment segment = plan_added_segment(image_, memory_);
  const uint64_t counters = segment.memory_address + front_size();
  map_.counters_address = counters;
  std::optional<CounterBases> bases;
  if (imports_) bases = {segment.memory_address + bases_offset(), counters, imports_->slot_size};
  const std::vector<double> calls = estimate_calls(facts.calls());
  ProbeInserter inserter(counting, facts, counters, options_.counters, bases);
  for (size_t i = 0; i < chosen_.size(); ++i) {
    const Chosen& chosen = chosen_[i];
    inserter.count(chosen.procedure, chosen.counters, chosen.first_counter,
                   calls[chosen.procedure]);
    auto& indirect = map_.procedures[i].indirect;  // describe() relies on the order
    std::erase_if(indirect, [&](const CounterMap::IndirectSite& site) {
      return !inserter.record_target(chosen.procedure, site.block, site.counter);
    });
    result_.indirect_sites += indirect.size();
  }
  if (options_.counters == Counters::threads)
    inserter.find_copies(segment.free_address + start_.find_copy, find_forks(program_, facts));
  add_frames(counting, segment.free_address);
  inserter.insert(layout);
  result_.probes = inserter.statistics();
}

/// Adds the unwind information of the start code, which goes to `address`.
void Instrumenter::add_frames(Program& counting, uint64_t address) const {
  UnwindTables& tables = counting.unwind;
  const auto cies = static_cast<uint32_t>(tables.cies.size());
  const auto states = static_cast<uint32_t>(tables.states.size());
  for (Cie cie : start_.frames.tables.cies) {
    cie.initial_state += states;
    tables.cies.push_back(std::move(cie));
  }
  for (CfiState state : start_.frames.tables.states) {
    state.cie += cies;
    tables.states.push_back(std::move(state));
  }
  for (Fde fde : start_.frames.fdes) {
    fde.start += address;
    fde.end += address;
    for (Fde::Row& row : fde.rows) {
      row.address += address;
      row.state += states;
    }
    counting.foreign_fdes.push_back(std::move(fde));
  }
}

/// Fills the counter map, except for addresses in the output. Needs the program as it was lifted.
void Instrumenter::describe() {
  map_.original_path = std::filesystem::absolute(image_.path).lexically_normal();
  map_.original_build_id = image_.build_id;
  map_.original_hash = hash64(image_.file);
  map_.atomic = options_.counters == Counters::atomic;
  map_.counters = words_;
  std::vector<uint32_t> number(program_.procedures.size(), kNone);
  for (uint32_t i = 0; i < chosen_.size(); ++i) number[chosen_[i].procedure] = i;
  const Machine& machine = *program_.machine;
  const std::vector<ProcedureSignature> signatures = sign(program_);
  std::vector<std::vector<Switch>> switches = find_switches(program_);
  for (Chosen& chosen : chosen_) {
    const Procedure& procedure = program_[chosen.procedure];
    CounterMap::ProcedureMap& out = map_.procedures.emplace_back();
    out.name = procedure.name;
    out.address = procedure.address;
    const ProcedureSignature& signature = signatures[chosen.procedure];
    out.signature = signature.value;
    out.nodes = signature.nodes;
    out.switches = std::move(switches[chosen.procedure]);
    out.graph = chosen.counters.graph;
    for (FlowEdge& edge : out.graph.edges)
      if (edge.counter != kNone) edge.counter += chosen.first_counter;
    out.indirect = chosen.indirect;
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      const BasicBlock& block = procedure.blocks[b];
      CounterMap::Block& described = out.blocks.emplace_back();
      described.address = block.origin == kNone ? 0 : program_.address_of(block);
      described.size = block.origin_size;
      for (const Instruction& instruction : block.instructions)
        described.instructions += instruction.origin == kNone || instruction.is_pseudo() ? 0 : 1;
      described.node = signature.node[b];
      const ControlFlow flow = machine.facts(block.instructions.back()).flow;
      const bool call = is_call(flow);
      if (call && block.call_site != kNone)
        described.landing_pad = procedure.call_sites[block.call_site].landing_pad;
      const Instruction& last = block.instructions.back();
      const Reference* reference = branch_of(procedure, last);
      const bool leaves = reference != nullptr ||
                          (flow == ControlFlow::indirect_jump && block.has(BasicBlock::kMayLeave));
      if (!call && !leaves) continue;
      CounterMap::Call made{.block = b, .jump = !call};
      if (reference != nullptr && reference->target.procedure != kNone) {
        made.callee = number[reference->target.procedure];
        if (made.callee == kNone) made.address = program_[reference->target.procedure].address;
      }
      out.calls.push_back(made);
    }
  }
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
    for (BlockId b = 0; b < program_[id].blocks.size(); ++b) {
      const BasicBlock& block = program_[id].blocks[b];
      if (block.origin == kNone ||
          (b != 0 && !block.has(BasicBlock::kEntry) && !block.has(BasicBlock::kAddressTaken)))
        continue;
      places_.push_back({{.procedure = id, .block = b}, program_.address_of(block)});
    }
}

/// Fills in the addresses of the output.
void Instrumenter::note_addresses(const Injection::Addresses& addresses) {
  for (const auto& [location, original] : places_)
    map_.places.push_back({addresses.resolve(location), original});
  std::sort(map_.places.begin(), map_.places.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
    for (BlockId b = 0; b < program_[id].blocks.size() && program_[id].movable(); ++b) {
      const BasicBlock& block = program_[id].blocks[b];
      if (block.origin != kNone)
        result_.block_addresses.emplace_back(program_.address_of(block),
                                             addresses.resolve({.procedure = id, .block = b}));
    }
}

/// The parameters of the start code. `at`: where the parameters will be.
respike_start_parameters Instrumenter::start_parameters(const Injection::Addresses& addresses,
                                                        uint64_t at, const ImageId& id) const {
  const auto copy_path = [](char* to, const std::string& path) {
    std::memcpy(to, path.data(), path.size());
    return static_cast<uint32_t>(path.size());
  };
  respike_start_parameters parameters{};
  parameters.counters = static_cast<int64_t>(addresses.memory + front_size() - at);
  const uint64_t next = has_initializer() ? addresses.initializer.value_or(0) : addresses.entry;
  if (next != 0) parameters.next = static_cast<int64_t>(next - at);
  parameters.counters_size = memory_.size - front_size();
  parameters.copied = options_.counters == Counters::threads ? 1 : 0;
  parameters.file_prefix_size = copy_path(parameters.file_prefix, file_prefix_);
  respike_counter_header& header = parameters.header;
  std::memcpy(header.magic, RESPIKE_COUNTER_FILE_MAGIC, sizeof(header.magic));
  header.version = RESPIKE_COUNTER_FILE_VERSION;
  header.header_size = static_cast<uint32_t>(align_up(sizeof(header), start_.page_size));
  header.counters_size = parameters.counters_size;
  std::copy(id.begin(), id.end(), header.image_id);
  if (options_.counters == Counters::atomic) header.flags = RESPIKE_COUNTERS_ATOMIC;
  if (options_.counters == Counters::threads) header.flags = RESPIKE_COUNTERS_COPIED;
  copy_path(header.image_path, options_.output);
  return parameters;
}

/// Adds what a start code with imports needs: the import tables, the words that lead to the
/// counters in the image until the start code points them to a file, and the places of both.
void Instrumenter::inject_imports(const Injection::Addresses& addresses,
                                  Injection::Contents& contents) const {
  const uint64_t at = addresses.code + start_.code.size();
  const auto distance = [&](uint64_t address) { return static_cast<int64_t>(address - at); };
  const uint64_t bases = addresses.memory + bases_offset();
  respike_windows_parameters parameters{};
  parameters.slots = distance(imports_->slots.front());
  parameters.bases = distance(bases);
  parameters.scratch = distance(addresses.memory + scratch_offset());
  parameters.base_count = static_cast<uint32_t>(base_count());
  parameters.base_distance = static_cast<uint32_t>(program_.machine->probes->base_distance());
  parameters.is_library = is_library() ? 1 : 0;
  parameters.is_wide = imports_->slot_size == 8 ? 1 : 0;
  std::memcpy(contents.code.data() + start_.code.size() + sizeof(respike_start_parameters),
              &parameters, sizeof(parameters));
  contents.wide_words = parameters.is_wide != 0;
  contents.memory = imports_->contents;
  contents.memory.resize(scratch_offset());
  for (uint64_t i = 0; i < base_count(); ++i) {
    const uint64_t counters = addresses.memory + front_size() + i * parameters.base_distance;
    const uint64_t word = i * imports_->slot_size;
    if (contents.wide_words)
      store(&contents.memory[bases_offset() + word], counters);
    else
      store(&contents.memory[bases_offset() + word], static_cast<uint32_t>(counters));
    contents.words.emplace_back(bases + word, counters);
  }
}

Injection::Contents Instrumenter::inject(const Injection::Addresses& addresses) {
  note_addresses(addresses);
  const std::vector<uint8_t> encoded = encode_counter_map(map_);
  const ImageId id = make_image_id(image_.file, options_.description, encoded);

  Injection::Contents contents;
  contents.code.assign(start_.code.begin(), start_.code.end());
  contents.code.resize(start_.code.size() + parameters_size());
  const respike_start_parameters parameters =
      start_parameters(addresses, addresses.code + start_.code.size(), id);
  std::memcpy(contents.code.data() + start_.code.size(), &parameters, sizeof(parameters));

  contents.entry = addresses.entry;
  if (imports_) inject_imports(addresses, contents);
  if (has_initializer())
    contents.initializer = addresses.code + start_.initializer_entry;
  else
    contents.entry = addresses.code + start_.program_entry;
  NewImage::AddedSection section;
  section.name = kCounterMapSection;
  section.alignment = 8;
  section.contents = counter_map_section(id, encoded);
  contents.sections.push_back(std::move(section));
  return contents;
}

std::vector<uint8_t> Instrumenter::emit_image(const Program& counting, Layout layout) {
  Injection injection;
  injection.memory = memory_;
  injection.code_size = start_.code.size() + parameters_size();
  injection.make = [this](const Injection::Addresses& addresses) { return inject(addresses); };
  Provenance note;
  note.options = options_.description;
  EmitStatistics emitted;
  std::optional<DebugFile> debug_file;
  if (options_.debug_file != nullptr)
    debug_file.emplace(*options_.debug_file, options_.debug_file_name);
  auto bytes = emit(counting, std::move(layout), std::move(note), diagnostics_, &emitted,
                    &injection, nullptr, debug_file ? &*debug_file : nullptr);
  if (debug_file) result_.debug_file = std::move(debug_file->bytes);
  result_.new_text_bytes = emitted.text_bytes + emitted.added_text_bytes;
  return bytes;
}

uint64_t Instrumenter::text_size() const {
  uint64_t size = 0;
  for (const Procedure& procedure : program_.procedures) {
    if (!procedure.movable()) continue;
    for (const BasicBlock& block : procedure.blocks)
      size += program_.machine->codec.size(block.instructions.span());
  }
  return size;
}

/// Leaves room in names for the suffix that the start code appends. With too long a name it would
/// create no file, and nothing would say why the program was not counted.
void Instrumenter::choose_file_names() {
  constexpr size_t kLongestName = RESPIKE_NAME_SIZE - RESPIKE_NAME_TAIL - 1;
  std::string name = options_.output.filename();
  if (name.size() > kLongestName) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(name.data());
    const std::string hash = fmt::format("~{:016x}", hash64({bytes, name.size()}));
    size_t kept = kLongestName - hash.size();
    const auto inside_character = [&] { return (name[kept] & 0xc0) == 0x80; };  // of UTF-8
    while (kept > 0 && inside_character()) --kept;
    name = name.substr(0, kept) + hash;
  }
  file_prefix_ = (options_.spool / name).string() + ".";
  if (file_prefix_.size() + RESPIKE_NAME_TAIL >= RESPIKE_PATH_SIZE)
    throw Error("the spool's path is too long for the names of counter files", options_.spool);
  if (options_.output.native().size() >= RESPIKE_PATH_SIZE)
    throw Error("the path is too long", options_.output);
}

/// The distance to a copy of the counters is in a register, and a program has one such register for
/// all its images. The register belongs to the program itself, not to its libraries.
void Instrumenter::require_copies() const {
  const auto fail = [&](const char* why) {
    throw Error(fmt::format("threads cannot have counters of their own, since {}; --counters "
                            "atomic counts threads exactly, too",
                            why),
                image_.path);
  };
  const Machine& machine = *program_.machine;
  if (!machine.probes->has_copies()) fail("the machine has no register for that");
  if (is_library()) fail("it is a library");
  // A static program sets its thread pointer while it runs.
  if (std::ranges::none_of(image_.segments, [](const Segment& segment) {
        return segment.kind == Segment::Kind::interpreter;
      }))
    fail("it is linked statically");
  for (const Symbol& symbol : image_.dynamic_symbols)
    if (symbol.name == "arch_prctl") fail("it calls arch_prctl itself");
  for (const Procedure& procedure : program_.procedures)
    for (const BasicBlock& block : procedure.blocks)
      for (const Instruction& instruction : block.instructions)
        if (!instruction.is_pseudo() &&
            machine.probes->uses_copy(input_bytes(program_, instruction)))
          fail(("the register for that is used in " + procedure.name).c_str());
}

/// Puts probes into a copy of the program, and writes the copy.
void Instrumenter::write(const CodeFacts& facts, Steps& steps) {
  steps.begin("insert probes", 0.33);
  Program counting = copy_for_editing(program_);
  Layout layout = original_layout(counting);  // from here on the order gains only probes
  insert_probes(counting, layout, facts);
  require_invariants(counting, &layout);

  steps.begin("emit", 0.42);
  result_.bytes = emit_image(counting, std::move(layout));
}

InstrumentResult Instrumenter::run() {
  Steps steps(options_.progress);
  require_rewritable(image_);
  if (options_.debug_file != nullptr) require_debug_file(image_, *options_.debug_file);
  choose_file_names();
  if (is_library()) require_room_for_initializer(image_);

  steps.begin("lift", 0.0);
  program_ = lift(image_, diagnostics_);
  if (program_.machine->probes == nullptr)
    throw Error(fmt::format("{} images cannot be instrumented yet", program_.machine->name),
                image_.path);
  start_ = start_code(image_.machine, image_.calling_standard);
  require_invariants(program_);
  if (options_.counters == Counters::threads) require_copies();
  result_.procedures = program_.procedures.size();
  if (options_.weights != nullptr && annotate(program_, *options_.weights).matched == 0)
    diagnostics_.warn("the weights are of another program: it knows none of the procedures");

  steps.begin("analyse", 0.15);
  const CodeFacts facts(program_);

  steps.begin("choose counters", 0.25);
  choose_counters(facts);
  describe();
  result_.warning = describe_left_out(map_);
  result_.text_bytes = text_size();

  write(facts, steps);
  malloc_trim(0);  // The memory of emission is free, but in other block sizes than the second lift
                   // needs.

  steps.begin("verify", 0.6);
  const Image written = view_image(result_.bytes, "the instrumented image");
  if (const auto broken = find_broken_rule(image_, written))
    throw Error("the instrumented image would not work: " + *broken, image_.path);
  if (const auto fault = find_counting_fault(program_, facts, written))
    throw Error("the instrumented image would differ: " + *fault, image_.path);
  return std::move(result_);
}

}  // namespace

InstrumentResult instrument(const Image& image, const InstrumentOptions& options,
                            Diagnostics& diagnostics) {
  return Instrumenter(image, options, diagnostics).run();
}

}  // namespace respike
