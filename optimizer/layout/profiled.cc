// From counts to an order of code, in four steps:
//
//   blocks of a procedure -> chains -> pieces (procedures, halves of them, or hot chains)
//     -> an order of the pieces -> fragments
//
// After Spike (Cohn et al., DTJ 1997, "Code layout"): chaining makes frequent paths straight,
// splitting removes code that seldom runs, and placement puts callers beside callees. Code that
// seldom runs and code that never ran are also kept apart: mixed, they would touch many pages. The
// chains of a hot part are placed one by one, so a procedure's error path or second loop may be far
// from its first loop, and beside its callees.
//
// Example: f has a hot loop, an error path that ran twice and a debugging path that never ran. Its
// three pieces are placed in the hot, the cold and the idle code.
//
// Where conflicts count, pieces form short rows by affinity, and the order of the rows lets rows
// that take turns share few lines of the cache (cache_order.h). On machines whose issue depends on
// addresses, hot pieces may get padding before them (phases.h).

#include "optimizer/layout/profiled.h"

#include <algorithm>
#include <array>
#include <limits>

#include "optimizer/analysis/branch_reach.h"
#include "optimizer/analysis/packing.h"
#include "optimizer/base/parallel.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/layout/cache_order.h"
#include "optimizer/layout/calls.h"
#include "optimizer/layout/chains.h"
#include "optimizer/layout/cluster.h"
#include "optimizer/layout/code_layout.h"
#include "optimizer/layout/glued_runs.h"
#include "optimizer/layout/hotness.h"
#include "optimizer/layout/orders.h"
#include "optimizer/layout/phases.h"
#include "optimizer/layout/walk.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

/// The parts of a procedure. Each kind of part is placed apart from the others.
enum class Part : uint8_t {
  hot,
  cold,  // ran, below the threshold
  idle,  // never ran
};

/// Blocks of one procedure that are placed together.
struct Piece {
  ProcedureId procedure = kNone;
  std::vector<BlockId> blocks;
  Part part = Part::hot;
  uint64_t size = 0;  // bytes
  double heat = 0;    // bytes executed
};

// Blocks of the walk: at most, and for each hot block.
constexpr uint64_t kLongestWalk = 1'000'000, kWalkPerBlock = 500;
// The largest number of blocks of a procedure for ext-TSP, whose time is quadratic in them: a tenth
// of a second for 2,000.
constexpr std::ptrdiff_t kMostForExtTsp = 2000;
constexpr uint64_t kReachesAll = uint64_t{1} << 30;  // bytes: such a branch reaches all code

class Builder {
 public:
  Builder(const Program& program, const LayoutOptions& options, std::span<const ExecutedCode> input)
      : program_(program),
        options_(options),
        input_(input),
        kept_(program.procedures.size()),
        calls_(find_calls(program)),
        threshold_(options.split ? hot_threshold(program, options.cold_share,
                                                 program.machine->branches.reach / 4)
                                 : 1),
        packing_(program) {}

  Layout build() {
    input_order_.resize(program_.procedures.size());
    for (const CodeRange& range : program_.ranges)
      for (const BlockId b : blocks_of(program_[range.procedure], range))
        input_order_[range.procedure].push_back(b);
    // Blocks that the input does not have come last.
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
      std::vector<BlockId>& order = input_order_[id];
      std::vector<bool> known(program_[id].blocks.size());
      for (const BlockId b : order) known[b] = true;
      for (BlockId b = 0; b < known.size(); ++b)
        if (!known[b]) order.push_back(b);
    }
    std::vector<Cuts> cuts(program_.procedures.size());
    parallel_for(cuts.size(), [&](size_t id) {
      if (program_[ProcedureId(id)].movable())
        cuts[id] = cut(ProcedureId(id), options_.blocks, options_.split);
    });
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
      if (program_[id].movable()) choose_pieces(id, std::move(cuts[id]));
    find_pieces();
    const bool apart = options_.split || options_.pieces != Pieces::original;
    std::vector<uint32_t> hot, others;
    for (uint32_t p = 0; p < pieces_.size(); ++p)
      (pieces_[p].part == Part::hot || !apart ? hot : others).push_back(p);
    const size_t before = arrange(others);
    if (before == 0) sort_cold(others);
    hot = in_order(hot);
    const auto in_front = others.begin() + static_cast<ptrdiff_t>(before);
    std::vector<uint32_t> order(others.begin(), in_front);
    order.insert(order.end(), hot.begin(), hot.end());
    order.insert(order.end(), in_front, others.end());
    if (options_.pieces == Pieces::colour && program_.machine->issue != nullptr)
      choose_phases(hot, order);
    return assemble(order, starts_);
  }

 private:
  using Blocks = LayoutOptions::Blocks;
  using Pieces = LayoutOptions::Pieces;

  // ---- pieces ----

  using Chains = std::vector<std::vector<BlockId>>;
  /// The blocks of a procedure, in parts that are placed apart.
  using Cuts = std::vector<std::pair<Part, Chains>>;

  /// Makes pieces in the wanted order `cuts` or, where that order costs more than the input, in the
  /// cheapest of some other orders.
  void choose_pieces(ProcedureId id, Cuts cuts) {
    const size_t first = pieces_.size();
    add_pieces(id, std::move(cuts));
    if (input_.empty()) return;
    const double wanted = costs_more(id);
    if (wanted <= 0) return;
    double least = wanted;
    std::vector<Piece> best(pieces_.begin() + static_cast<ptrdiff_t>(first), pieces_.end());
    const std::pair<Blocks, bool> others[] = {{Blocks::chain, options_.split},
                                              {Blocks::original, options_.split},
                                              {Blocks::chain, false},
                                              {Blocks::original, false}};
    for (const auto& [blocks, split] : others) {
      pieces_.resize(first);
      add_pieces(id, cut(id, blocks, split));
      const double more = costs_more(id);
      // The wanted order stays where no other order helps much, as for a loop that leaves the
      // procedure.
      if (more < least && more <= wanted / 2) {
        least = more;
        kept_[id] = true;
        best.assign(pieces_.begin() + static_cast<ptrdiff_t>(first), pieces_.end());
      }
      if (least <= 0) break;
    }
    pieces_.resize(first);
    for (Piece& piece : best) {
      packing_.pack(id, piece.blocks);
      pieces_.push_back(std::move(piece));
    }
  }

  /// How many more cycles than in the input the procedure takes. Where a group has one instruction,
  /// this is at least the cost of the added instructions. Where a group has several, an added
  /// instruction often replaces a no-op, and a hundredth of the cycles is not worth another order.
  double costs_more(ProcedureId id) const {
    constexpr double kNextToNothing = 0.01;  // of the procedure's cycles
    const ExecutedCode now = executed_in(program_, id, packing_);
    const ExecutionCosts costs = program_.machine->costs;
    const double before = input_[id].cycles(costs), more = now.cycles(costs) - before;
    if (program_.machine->codec.groups.slots != 1) return more > kNextToNothing * before ? more : 0;
    return std::max(more, (now.instructions - input_[id].instructions) * costs.instruction);
  }

  Cuts cut(ProcedureId id, Blocks how, bool split) const {
    const Procedure& procedure = program_[id];
    std::vector<Part> parts(procedure.blocks.size());
    for (const auto& run : glued_runs(procedure)) {
      uint64_t most = 0;
      for (const BlockId b : run) most = std::max(most, procedure.blocks[b].count);
      for (const BlockId b : run)
        parts[b] = most >= threshold_ ? Part::hot : most != 0 ? Part::cold : Part::idle;
    }
    if (!split) {
      const Part hottest =
          parts.empty() ? Part::idle : *std::min_element(parts.begin(), parts.end());
      return {{hottest, chains_of(id, how, std::vector<bool>(parts.size(), true))}};
    }
    Cuts cuts;
    for (const Part part : {Part::hot, Part::cold, Part::idle}) {
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) continue;
      std::vector<bool> wanted;
      for (const Part each : parts) wanted.push_back(each == part);
      cuts.emplace_back(part, chains_of(id, how, wanted));
    }
    return cuts;
  }

  Chains chains_of(ProcedureId id, Blocks how, const std::vector<bool>& wanted) const {
    const Procedure& procedure = program_[id];
    switch (how) {
      case Blocks::chain:
        return chain_blocks(procedure, wanted);
      case Blocks::ext_tsp:
        if (std::count(wanted.begin(), wanted.end(), true) > kMostForExtTsp)
          return chain_blocks(procedure, wanted);
        return cut_where_nothing_falls(procedure,
                                       ext_tsp_blocks(*program_.machine, procedure, wanted));
      case Blocks::original: {
        std::vector<BlockId> blocks = input_order_[id];
        std::erase_if(blocks, [&](BlockId b) { return !wanted[b]; });
        return {std::move(blocks)};
      }
    }
    return {};
  }

  /// Cuts an order of blocks into chains: control can fall into each block of a chain, except the
  /// first, from the block before it.
  static std::vector<std::vector<BlockId>> cut_where_nothing_falls(
      const Procedure& procedure, const std::vector<BlockId>& order) {
    std::vector<std::vector<BlockId>> chains;
    for (size_t i = 0; i < order.size(); ++i) {
      bool follows = false;
      if (i != 0)
        for (const Edge& edge : procedure.blocks[order[i - 1]].successors)
          if (edge.target == order[i] &&
              (edge.kind == Edge::Kind::fall_through || edge.kind == Edge::Kind::taken))
            follows = true;
      if (!follows) chains.emplace_back();
      chains.back().push_back(order[i]);
    }
    return chains;
  }

  void add_pieces(ProcedureId id, Cuts cuts) {
    for (auto& [part, chains] : cuts) add_pieces(id, std::move(chains), part);
  }

  /// Whether unwinders read the prolog of the procedure, as those of Windows NT do; if so, its
  /// states are lists of instructions. Each piece gets a copy of the prolog before it, which costs
  /// too much for chains as pieces: on Lua 15.9 million instruction cache misses instead of 11.3
  /// million.
  bool needs_prologs(ProcedureId id) const {
    if (program_.image == nullptr || program_.image->calling_standard != CallingStandard::windows)
      return false;
    const uint32_t state = program_[id].blocks.front().cfi_state;
    return state < program_.unwind.states.size() && program_.unwind.states[state].cfa_is_expression;
  }

  void add_pieces(ProcedureId id, Chains chains, Part part) {
    const bool apart = part == Part::hot && options_.pieces == Pieces::colour && !needs_prologs(id);
    const size_t first = pieces_.size();
    for (auto& chain : chains) {
      if (chain.empty()) continue;
      if (pieces_.size() == first || apart)
        pieces_.push_back({.procedure = id, .blocks = {}, .part = part});
      Piece& piece = pieces_.back();
      piece.blocks.insert(piece.blocks.end(), chain.begin(), chain.end());
    }
    for (Piece& piece : std::span(pieces_).subspan(first)) {
      packing_.pack(id, piece.blocks);
      for (const BlockId b : piece.blocks) {
        const uint64_t size = packing_.size(id, b);
        piece.size += size;
        piece.heat += static_cast<double>(size) * static_cast<double>(program_[id].blocks[b].count);
      }
    }
  }

  // ---- their order ----

  /// Sorts the pieces that are not hot and returns how many of them come before hot code. That is
  /// none, unless branches might not reach from one end of all code to the other; then hot code is
  /// in the middle. Next to hot code come the cold pieces, so that they lie in few pages, then the
  /// idle pieces of procedures that ran, then all others.
  size_t arrange(std::vector<uint32_t>& others) const {
    uint64_t all = 0, size = 0;
    std::vector<bool> ran(program_.procedures.size());
    for (const Piece& piece : pieces_) {
      all += piece.size;
      if (piece.part != Part::idle) ran[piece.procedure] = true;
    }
    for (const uint32_t p : others) size += pieces_[p].size;
    const uint64_t first_half = all < program_.machine->branches.reach / 2 ? 0 : size / 2;
    std::vector<std::pair<int, uint32_t>> places;  // below 0: before hot code
    uint64_t seen = 0;
    size_t before = 0;
    for (const uint32_t p : others) {
      const Piece& piece = pieces_[p];
      const int distance = piece.part == Part::cold ? 0 : ran[piece.procedure] ? 1 : 2;
      const bool in_front = seen < first_half;
      places.emplace_back(in_front ? -1 - distance : distance, p);
      before += in_front;
      seen += piece.size;
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); ++i) others[i] = places[i].second;
    return before;
  }

  /// Puts cold pieces into an order by calls and heat. `others` begins with them. Another input may
  /// run much code that is cold in this profile, and then the order matters as it does for hot
  /// code. Where branches are short, the order of the input stays, which keeps far branches few.
  void sort_cold(std::vector<uint32_t>& others) const {
    if (options_.pieces == Pieces::original) return;
    if (program_.machine->branches.reach < kReachesAll) return;
    const auto end = std::partition_point(
        others.begin(), others.end(), [&](uint32_t p) { return pieces_[p].part == Part::cold; });
    const std::vector<uint32_t> cold(others.begin(), end);
    const PiecesToPlace known = to_place(cold);
    const std::vector<uint32_t> order =
        place_cache_directed(known.sizes, known.heat, find_affinities(cold, known.number));
    for (size_t i = 0; i < order.size(); ++i) others[i] = cold[order[i]];
  }

  void find_pieces() {
    numbers_ = BlockNumbers(program_);
    piece_of_.assign(numbers_.count(), kNone);
    starts_.resize(pieces_.size());
    for (uint32_t p = 0; p < pieces_.size(); ++p)
      for (const BlockId b : pieces_[p].blocks) piece_of_[numbers_(pieces_[p].procedure, b)] = p;
  }

  /// What placement needs to know about some pieces.
  struct PiecesToPlace {
    std::vector<uint32_t> number;  // by piece: its index in the lists below, or kNone
    std::vector<uint64_t> sizes;
    std::vector<double> heat;
  };

  PiecesToPlace to_place(const std::vector<uint32_t>& pieces) const {
    PiecesToPlace result;
    result.number.assign(pieces_.size(), kNone);
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      result.number[pieces[i]] = i;
      result.sizes.push_back(pieces_[pieces[i]].size);
      result.heat.push_back(pieces_[pieces[i]].heat);
    }
    return result;
  }

  std::vector<uint32_t> in_order(const std::vector<uint32_t>& hot) {
    if (options_.pieces == Pieces::original) return hot;
    const auto [number, sizes, heat] = to_place(hot);
    std::vector<Affinity> affinities = find_affinities(hot, number);
    std::vector<uint32_t> order;
    if (options_.pieces == Pieces::colour)
      order = coloured_order(hot, affinities);
    else if (options_.pieces == Pieces::cache_sorted)
      order = place_cache_directed(sizes, heat, affinities);
    else
      order = place_by_affinity(sizes, heat, std::move(affinities));
    for (uint32_t& each : order) each = hot[each];
    return order;
  }

  /// The order of the pieces of `hot` as indices of `hot`.
  std::vector<uint32_t> coloured_order(const std::vector<uint32_t>& hot,
                                       const std::vector<Affinity>& affinities) {
    const CacheShape cache = program_.machine->icache;
    std::vector<CodeUnit> pieces;
    for (const uint32_t p : hot) {
      const Piece& piece = pieces_[p];
      CodeUnit& code = pieces.emplace_back();
      code.procedure = piece.procedure;
      code.size = piece.size;
      code.heat = piece.heat;
      for (const BlockId b : piece.blocks)
        code.blocks.emplace_back(numbers_(piece.procedure, b), packing_.size(piece.procedure, b));
    }
    trace_ = make_trace();
    std::vector<uint32_t> order;
    for (const auto& row :
         order_for_cache(pieces, affinities, trace_, cache, program_.machine->itlb)) {
      starts_[hot[row.front()]].alignment = cache.line;
      order.insert(order.end(), row.begin(), row.end());
    }
    return order;
  }

  /// Affinities by calls and by jumps from piece to piece. `number`: index in `hot`, by piece.
  std::vector<Affinity> find_affinities(const std::vector<uint32_t>& hot,
                                        const std::vector<uint32_t>& number) const {
    std::vector<Affinity> affinities;
    const auto add = [&](uint32_t from, uint64_t offset, ProcedureId procedure, BlockId block,
                         uint64_t count) {
      const uint32_t piece = piece_of_[numbers_(procedure, block)];
      if (count == 0 || piece == kNone || number[piece] == kNone) return;
      affinities.push_back({from, number[piece], static_cast<double>(count), offset});
    };
    std::vector<uint32_t> end_of(numbers_.count());  // by block: bytes from the piece's start
    for (uint32_t i = 0; i < hot.size(); ++i) {
      const Piece& piece = pieces_[hot[i]];
      const Procedure& procedure = program_[piece.procedure];
      uint64_t at = 0;
      for (const BlockId b : piece.blocks) {
        const BasicBlock& block = procedure.blocks[b];
        at += packing_.size(piece.procedure, b);
        end_of[numbers_(piece.procedure, b)] = static_cast<uint32_t>(at);
        for (const Edge& edge : block.successors)
          add(i, at, piece.procedure, edge.target, edge.count);
      }
    }
    for (const CodeCall& call : calls_) {
      const uint32_t piece = piece_of_[numbers_(call.caller, call.block)];
      if (call.known() && piece != kNone && number[piece] != kNone)
        add(number[piece], end_of[numbers_(call.caller, call.block)], call.callee, call.entry,
            call.count);
    }
    return affinities;
  }

  /// `order`: all pieces. `starts`: where each piece may start.
  Layout assemble(std::span<const uint32_t> order, std::span<const Start> starts) const {
    Layout layout;
    for (const uint32_t p : order) append(layout, pieces_[p], starts[p]);
    return layout;
  }

  static void append(Layout& layout, const Piece& piece, Start start) {
    if (layout.fragments.empty() || layout.fragments.back().procedure != piece.procedure ||
        start.alignment > Start().alignment)
      layout.fragments.push_back({.procedure = piece.procedure, .blocks = {}, .start = start});
    auto& blocks = layout.fragments.back().blocks;
    blocks.insert(blocks.end(), piece.blocks.begin(), piece.blocks.end());
  }

  // ---- their phases ----

  /// Puts padding before pieces of `hot` where that gains more cycles of issue than it costs
  /// misses. Tries paddings at several prices, and no padding, and takes the variant with the
  /// fewest cycles in total. `order`: all pieces.
  void choose_phases(std::span<const uint32_t> hot, std::span<const uint32_t> order) {
    constexpr double kMostPrice = std::numeric_limits<double>::max();
    constexpr std::array<double, 4> kPrices = {10, 3, 1, 0.3};  // of the mean cycles of a byte
    uint64_t size = 0;
    for (const uint32_t p : hot) size += pieces_[p].size;
    if (size == 0 || size > program_.machine->issue->most_code) return;
    lengthen_branches(hot);
    const std::vector<PieceToPad> pieces = pieces_to_pad(hot);
    double bytes = 1;  // never 0
    for (const PieceToPad& piece : pieces) bytes += static_cast<double>(piece.size);
    const uint32_t period = program_.machine->issue->period;
    std::vector<PaddedPieces> padded = {pad_pieces(pieces, period, kMostPrice)};
    for (const double price : kPrices)
      padded.push_back(pad_pieces(pieces, period, price * padded[0].cycles / bytes));
    const double blocks = executed_blocks();
    std::vector<double> cycles(padded.size());
    parallel_for(padded.size(), [&](size_t i) {
      cycles[i] = padded[i].cycles +
                  blocks * fetch_cost_of(assemble(order, starts_with(hot, padded[i].starts)));
    });
    const auto best = std::min_element(cycles.begin(), cycles.end()) - cycles.begin();
    starts_ = starts_with(hot, padded[static_cast<size_t>(best)].starts);
  }

  /// Gives branches that do not reach in this order of pieces their long form. Branches to other
  /// pieces become long as well.
  void lengthen_branches(std::span<const uint32_t> order) {
    if (program_.machine->branches.set_length == nullptr) return;
    constexpr uint64_t kFar = uint64_t{1} << 30;
    std::vector<uint64_t> addresses(numbers_.count(), kFar);
    BlockRun run;
    for (bool grown = true; grown;) {  // sizes only grow, each branch at most once
      grown = false;
      uint64_t at = 0;
      for (const uint32_t p : order) {
        at = starts_[p].from(at);
        for (const BlockId b : pieces_[p].blocks) {
          addresses[numbers_(pieces_[p].procedure, b)] = at;
          at += packing_.size(pieces_[p].procedure, b);
        }
      }
      for (const uint32_t p : order) {
        const ProcedureId id = pieces_[p].procedure;
        for (const BlockId b : pieces_[p].blocks) {
          const Packing::Branches far =
              out_of_reach(program_, packing_, numbers_, addresses, id, b, run);
          if (!far) continue;
          packing_.lengthen(id, b, far);
          grown = true;
        }
      }
    }
    for (const uint32_t p : order) {
      Piece& piece = pieces_[p];
      piece.size = 0;
      for (const BlockId b : piece.blocks) piece.size += packing_.size(piece.procedure, b);
    }
  }

  std::vector<PieceToPad> pieces_to_pad(std::span<const uint32_t> hot) const {
    std::vector<PieceToPad> pieces(hot.size());
    parallel_for(hot.size(), [&](size_t i) {
      const Piece& piece = pieces_[hot[i]];
      pieces[i] = {.cycles = cycles_by_phase(program_, piece.procedure, piece.blocks, packing_),
                   .size = piece.size,
                   .start = starts_[hot[i]],
                   .bound = i != 0 && leads_into(pieces_[hot[i - 1]], hot[i])};
      if (!pieces[i].bound) keep_alignment(pieces[i], piece);
    });
    return pieces;
  }

  /// An entry cannot start in each phase.
  void keep_alignment(PieceToPad& padded, const Piece& piece) const {
    const BasicBlock& first = program_[piece.procedure].blocks[piece.blocks.front()];
    const uint32_t own = alignment_of_entry(program_, first);
    if (own == 0) return;
    padded.start.alignment = std::max(padded.start.alignment, own);
    const size_t unit = program_.machine->issue->period / padded.cycles.size();
    for (size_t i = 0; i < padded.cycles.size(); ++i)
      if (i * unit % own != 0) padded.cycles[i] = std::numeric_limits<double>::infinity();
  }

  /// Whether the two pieces make one fragment, in which control falls from one into the other.
  bool leads_into(const Piece& piece, uint32_t next) const {
    if (piece.procedure != pieces_[next].procedure || starts_[next].alignment > Start().alignment)
      return false;
    for (const Edge& edge : program_[piece.procedure].blocks[piece.blocks.back()].successors)
      if (edge.target == pieces_[next].blocks.front() &&
          (edge.kind == Edge::Kind::fall_through || edge.kind == Edge::Kind::taken))
        return true;
    return false;
  }

  std::vector<Start> starts_with(std::span<const uint32_t> hot,
                                 std::span<const Start> of_hot) const {
    std::vector<Start> starts = starts_;
    for (size_t i = 0; i < hot.size(); ++i) starts[hot[i]] = of_hot[i];
    return starts;
  }

  /// See fetch_cost(), on the walk.
  double fetch_cost_of(const Layout& layout) const {
    const CacheShape cache = program_.machine->icache;
    return fetch_cost(trace_, lines_in_layout(program_, layout, packing_, cache.line), cache);
  }

  double executed_blocks() const {
    double blocks = 0;
    for (const Procedure& procedure : program_.procedures)
      if (procedure.movable())
        for (const BasicBlock& block : procedure.blocks) blocks += static_cast<double>(block.count);
    return blocks;
  }

  // ---- the forecast ----

 public:
  /// A trace whose length is in proportion to the number of hot blocks.
  Trace make_trace() const {
    uint64_t blocks = 0;
    for (const Piece& piece : pieces_)
      if (piece.part == Part::hot) blocks += piece.blocks.size();
    return walk(program_, calls_, std::min(kLongestWalk, blocks * kWalkPerBlock));
  }

  Forecast forecast(const Layout& layout) {
    Forecast result;
    const ExecutionCosts costs = program_.machine->costs;
    if (trace_.empty()) trace_ = make_trace();
    const double blocks = executed_blocks();
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
      if (!program_[id].movable()) continue;
      const ExecutedCode output = executed_in(program_, id, packing_);
      result.input.executed += input_[id];
      result.output.executed += output;
      if (output.instructions != 0)
        result.procedures.push_back({id, program_[id].name, input_[id], output, kept_[id]});
    }
    for (const CodeCall& call : calls_)
      if (!call.known() && program_[call.caller].movable())
        result.unknown_calls += static_cast<double>(call.count);
    const CacheShape cache = program_.machine->icache;
    result.input.misses = blocks * fetch_cost(trace_, lines_in_input(program_, cache.line), cache);
    result.output.misses = blocks * fetch_cost_of(layout);
    for (Forecast::Cost* cost : {&result.input, &result.output})
      cost->cycles = cost->executed.cycles(costs) + cost->misses;
    return result;
  }

 private:
  const Program& program_;
  const LayoutOptions& options_;
  const std::span<const ExecutedCode> input_;  // by procedure, or empty
  std::vector<bool> kept_;                     // by procedure: it got another order than wanted
  const std::vector<CodeCall> calls_;
  const uint64_t threshold_;
  Packing packing_;                                // of the pieces
  std::vector<std::vector<BlockId>> input_order_;  // by procedure
  std::vector<Piece> pieces_;
  std::vector<Start> starts_;       // by piece
  BlockNumbers numbers_;            // of piece_of_
  std::vector<uint32_t> piece_of_;  // by block
  Trace trace_;                     // made by Pieces::colour or the forecast
};

}  // namespace

Layout profiled_layout(const Program& program, const LayoutOptions& options,
                       std::span<const ExecutedCode> input, Forecast* forecast) {
  Builder builder(program, options, input);
  Layout layout = builder.build();
  if (forecast != nullptr && !input.empty()) *forecast = builder.forecast(layout);
  return layout;
}

}  // namespace respike
