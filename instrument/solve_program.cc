// Which calls never returned.
//
// Nearly all procedures can be solved alone: as much flow comes in as goes out, so every call
// returned once and all counts are exact. In the other procedures some calls kept flow: the program
// ended in them, or an exception or a longjmp passed over them. The counts of a procedure (more
// precisely: of each part that edges without counters connect) say how much its calls kept in all,
// but not which calls. The whole program says more:
//
// - A procedure that returned as often as it was entered kept nothing from its callers. What it
//   kept is entries less returns, which are counted. Where it left by a jump to another procedure,
//   the other procedure returns in its place.
// - A procedure keeps flow from its callers: all calls of it together lost as much, provided that
//   all its callers are known. They are known if its entries are as many as the known calls.
// - Where an exception was caught, the count of the landing pad's entry is what the calls with this
//   landing pad lost.
//
// Example: a part of main lost 1, and calls f 5 times and g 3 times. f was entered and returned 5
// times, so a call of g never returned.
//
// These are linear equations with few unknowns, one per call in question, and each unknown is in at
// most three equations. They are solved by propagation: an equation with a single unknown gives its
// value; an equation with nothing left to divide makes all its unknowns 0, as losses have one sign.
// Where propagation is stuck, calls are tried in turn, and losses that would make a count negative
// are impossible. If more than one call remains, one of them is chosen and the procedure is not
// exact.
//
// Limits: a call that returned twice (fork) and another call that never returned cancel out when no
// other count shows either. In a program that was killed, the innermost procedure is assumed to
// have finished.

#include "instrument/solve_program.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <map>

#include "optimizer/base/saturating.h"

namespace respike {
namespace {

using Kind = FlowEdge::Kind;
using ProcedureMap = CounterMap::ProcedureMap;
using Call = CounterMap::Call;

bool is_negative(uint64_t count) {
  return count > INT64_MAX;
}
uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}
/// The difference modulo 2^64: counters may hold any value.
int64_t minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

/// How callers enter a procedure, and what it keeps from them.
struct Callee {
  uint64_t entries = 0;     // from outside, landing pads not counted
  int64_t kept = 0;         // entries that never returned
  bool kept_known = true;   // false: depends on unknown code
  unsigned changes = 0;     // of `kept`
  uint64_t calls = 0;       // by known callers
  uint64_t own_calls = 0;   // of `calls`: by the procedure itself
  uint64_t kept_there = 0;  // of `kept`: from calls whose losses are counted
  bool jumped_to = false;   // by a procedure that it returns for
};

/// A call that may not have returned.
struct Site {
  uint32_t procedure;
  BlockId block;
  uint32_t callee;
  int64_t loss = 0;
  bool known = false;
  std::array<uint32_t, 3> equations = {kNone, kNone, kNone};
};

/// The losses of `sites` add up to `rest`.
struct Equation {
  enum class Kind : uint8_t { part, pad, callee } kind;  // the most trusted first
  uint32_t procedure;                                    // the caller; of Kind::callee: the callee
  uint32_t node = kNone;                                 // a node of the part
  int64_t rest = 0;
  uint32_t open = 0;  // sites whose loss is not known
  std::vector<uint32_t> sites = {};
  bool used = false;     // it determined the loss of a site
  bool guessed = false;  // the loss of one of its sites is a guess, so `rest` is
};

class ProgramSolver {
 public:
  ProgramSolver(const CounterMap& map, std::span<const uint64_t> counters)
      : map_(map),
        counters_(counters),
        counts_(map.procedures.size()),
        callees_(map.procedures.size()) {}

  std::vector<ProcedureCounts> solve() {
    for (uint32_t p = 0; p < counts_.size(); ++p) solve_alone(p);
    if (!unbalanced_.empty()) {
      for (uint32_t p = 0; p < counts_.size(); ++p) sum_up_calls(p);
      follow_jumps();
      for (const auto& [p, imbalances] : unbalanced_) add_equations(p, imbalances);
      add_callee_equations();
      resolve();
      for (const auto& [p, imbalances] : unbalanced_) solve_with_losses(p);
      check_callees();
    }
    for (uint32_t p = 0; p < counts_.size(); ++p) clamp(p);
    return std::move(counts_);
  }

 private:
  const FlowGraph& graph(uint32_t p) const { return map_.procedures[p].graph; }

  void solve_alone(uint32_t p) {
    FlowSolution solution = solve_flow(graph(p), counters_);
    assert(solution.solvable);
    counts_[p].edges = std::move(solution.counts);
    if (!solution.imbalances.empty()) unbalanced_.emplace(p, std::move(solution.imbalances));
  }

  void clamp(uint32_t p) {
    const FlowGraph& g = graph(p);
    for (uint32_t e = 0; e < g.edges.size(); ++e)
      if (is_negative(counts_[p].edges[e]) && g.edges[e].kind != Kind::leak) {
        counts_[p].edges[e] = 0;
        counts_[p].exact = false;
      }
  }

  // ---- what procedures kept ----

  /// The call that ends a block, or nullptr.
  const Call* call_at(uint32_t p, BlockId block) const {
    const auto& calls = map_.procedures[p].calls;
    const auto call = std::lower_bound(calls.begin(), calls.end(), block,
                                       [](const Call& c, BlockId b) { return c.block < b; });
    return call != calls.end() && call->block == block ? &*call : nullptr;
  }
  bool is_out(uint32_t p, uint32_t node) const {
    return node < graph(p).outside() && node % 2 == 1;
  }

  std::vector<bool> landing_pads(uint32_t p) const {
    std::vector<bool> pads(graph(p).blocks);
    for (const CounterMap::Block& block : map_.procedures[p].blocks)
      if (block.landing_pad != kNone) pads[block.landing_pad] = true;
    return pads;
  }

  void sum_up_calls(uint32_t p) {
    const FlowGraph& g = graph(p);
    const std::vector<uint64_t>& counts = counts_[p].edges;
    const std::vector<bool> pads = landing_pads(p);
    Callee& own = callees_[p];
    uint64_t returns = 0;
    for (uint32_t e = 0; e < g.edges.size(); ++e) {
      const FlowEdge& edge = g.edges[e];
      if (edge.kind == Kind::entry && !pads[g.block_of(edge.to)]) own.entries += counts[e];
      if (edge.kind != Kind::exit && edge.kind != Kind::call) continue;
      const Call* call = is_out(p, edge.from) ? call_at(p, g.block_of(edge.from)) : nullptr;
      if (edge.kind == Kind::call) {
        if (call != nullptr && call->callee != kNone)
          callees_[call->callee].kept_there += counts[e] - counts[e + 1];  // its return
      } else if (call != nullptr && !call->jump) {  // a call of a procedure that never returns
        if (call->callee != kNone) callees_[call->callee].kept_there += counts[e];
      } else {
        returns += counts[e];
        if (counts[e] == 0) continue;
        if (call != nullptr && call->callee != kNone)
          jumps_.push_back({p, call->callee, counts[e]});
        else if (call != nullptr || !is_out(p, edge.from))
          own.kept_known = false;
      }
    }
    own.kept = static_cast<int64_t>(own.entries - returns);
  }

  /// A procedure that left by a jump kept whatever the jump's target kept.
  void follow_jumps() {
    std::sort(jumps_.begin(), jumps_.end(),
              [](const Jump& a, const Jump& b) { return a.to < b.to; });
    std::deque<uint32_t> work;
    for (const Jump& jump : jumps_) callees_[jump.to].jumped_to = true;
    for (uint32_t p = 0; p < callees_.size(); ++p)
      if (callees_[p].jumped_to) work.push_back(p);
    while (!work.empty()) {
      const uint32_t p = work.front();
      work.pop_front();
      const Callee& callee = callees_[p];
      auto jump = std::lower_bound(jumps_.begin(), jumps_.end(), p,
                                   [](const Jump& j, uint32_t to) { return j.to < to; });
      for (; jump != jumps_.end() && jump->to == p; ++jump) {
        Callee& source = callees_[jump->from];
        if (!source.kept_known) continue;
        constexpr unsigned kMostChanges = 8;
        const bool all = callee.kept != 0 && kept_everything(callee);
        if (!callee.kept_known || (callee.kept != 0 && !all) || (jump->kept && !all) ||
            source.changes == kMostChanges) {
          source.kept_known = false;
        } else if (all && !jump->kept) {
          source.kept = static_cast<int64_t>(static_cast<uint64_t>(source.kept) + jump->count);
          jump->kept = true;
          ++source.changes;
        } else {
          continue;
        }
        work.push_back(jump->from);
      }
    }
    for (const Jump& jump : jumps_)
      if (jump.kept) callees_[jump.to].kept_there += jump.count;
  }

  static bool kept_everything(const Callee& callee) {
    return callee.kept_known && callee.entries == static_cast<uint64_t>(callee.kept);
  }
  /// Whether calls of the procedure may have lost something.
  bool may_keep(uint32_t callee) const {
    return callee == kNone || !callees_[callee].kept_known || callees_[callee].kept != 0;
  }

  // ---- equations ----

  uint32_t add_equation(Equation equation) {
    equations_.push_back(std::move(equation));
    return static_cast<uint32_t>(equations_.size() - 1);
  }
  void add_to(uint32_t equation, uint32_t site) {
    equations_[equation].sites.push_back(site);
    ++equations_[equation].open;
    sites_[site].equations[static_cast<size_t>(equations_[equation].kind)] = equation;
  }

  void add_equations(uint32_t p, const std::vector<FlowSolution::Imbalance>& imbalances) {
    const std::vector<uint32_t> parts = flow_parts(graph(p));
    std::map<uint32_t, uint32_t> equation_of;  // part -> equation
    for (const auto& [node, amount] : imbalances)
      equation_of[parts[node]] = add_equation(
          {.kind = Equation::Kind::part, .procedure = p, .node = node, .rest = amount});
    const uint32_t first_site = static_cast<uint32_t>(sites_.size());
    std::vector<std::pair<uint32_t, Site>> unlikely;  // equation, site
    const auto add_site = [&](uint32_t equation, const Site& site) {
      sites_.push_back(site);
      add_to(equation, static_cast<uint32_t>(sites_.size() - 1));
    };
    for (const FlowEdge& edge : graph(p).edges) {
      if (edge.kind != Kind::fall_through || !is_out(p, edge.from)) continue;
      const BlockId block = graph(p).block_of(edge.from);
      const Call* call = call_at(p, block);
      const auto equation = equation_of.find(parts[edge.from]);
      if (call == nullptr || call->jump || equation == equation_of.end()) continue;
      const Site site = {.procedure = p, .block = block, .callee = call->callee};
      if (may_keep(call->callee))
        add_site(equation->second, site);
      else
        unlikely.emplace_back(equation->second, site);
    }
    // No callee seems to have kept the flow: a callee was interrupted, or this procedure.
    std::erase_if(unlikely, [&](const auto& u) { return equations_[u.first].open != 0; });
    for (const auto& [equation, site] : unlikely) add_site(equation, site);
    if (!unlikely.empty()) counts_[p].exact = false;
    for (const auto& [part, equation] : equation_of)
      if (equations_[equation].sites.empty()) counts_[p].exact = false;
    add_pad_equations(p, imbalances, first_site);
  }

  /// Calls with a landing pad lost the entries of the pad. If these explain all losses, calls
  /// without a pad lost nothing.
  void add_pad_equations(uint32_t p, const std::vector<FlowSolution::Imbalance>& imbalances,
                         uint32_t first_site) {
    const std::vector<bool> is_pad = landing_pads(p);
    if (std::find(is_pad.begin(), is_pad.end(), true) == is_pad.end()) return;
    const FlowGraph& g = graph(p);
    const auto& blocks = map_.procedures[p].blocks;
    std::map<BlockId, uint64_t> entered;  // pad (kNone: no pad) -> losses of through calls
    for (const auto& [node, amount] : imbalances) entered[kNone] += static_cast<uint64_t>(amount);
    for (uint32_t e = 0; e < g.edges.size(); ++e) {
      const FlowEdge& edge = g.edges[e];
      const uint64_t count = counts_[p].edges[e];
      if (edge.kind == Kind::entry && is_pad[g.block_of(edge.to)]) {
        entered[g.block_of(edge.to)] += count;
        entered[kNone] -= count;
      } else if (edge.kind == Kind::exit && is_out(p, edge.from) && count != 0 &&
                 blocks[g.block_of(edge.from)].landing_pad != kNone) {
        return;  // a call that never returns threw, or the program ended in it
      } else if (edge.kind == Kind::call) {
        const BlockId pad = blocks[g.block_of(edge.from)].landing_pad;
        if (pad == kNone) continue;
        const uint64_t lost = count - counts_[p].edges[e + 1];
        entered[pad] -= lost;
        entered[kNone] += lost;
      }
    }
    if (entered[kNone] != 0) return;  // other losses: the program ended in a call
    std::map<BlockId, uint32_t> equation_of;
    for (uint32_t s = first_site; s < sites_.size(); ++s) {
      const BlockId pad = blocks[sites_[s].block].landing_pad;
      const auto [entry, fresh] = equation_of.emplace(pad, 0);
      if (fresh)
        entry->second = add_equation({.kind = Equation::Kind::pad,
                                      .procedure = p,
                                      .rest = static_cast<int64_t>(entered[pad])});
      add_to(entry->second, s);
    }
  }

  void add_callee_equations() {
    sum_up_calls_by_callee();
    std::vector<uint64_t> slack(callees_.size());  // error that the sum of calls may have
    for (const auto& [p, imbalances] : unbalanced_) {
      uint64_t all = 0;
      for (const auto& [node, amount] : imbalances) all = saturating_add(all, magnitude(amount));
      for (const Site& site : sites_of(p))
        if (site.callee != kNone) slack[site.callee] = saturating_add(slack[site.callee], all);
    }
    std::vector<uint32_t> equation_of(callees_.size(), kNone);
    for (uint32_t s = 0; s < sites_.size(); ++s) {
      const uint32_t q = sites_[s].callee;
      if (q == kNone) continue;
      const Callee& callee = callees_[q];
      if (!callee.kept_known || callee.kept == 0 || !is_closed(callee, slack[q]) ||
          (callee.jumped_to && !kept_everything(callee)))
        continue;
      if (equation_of[q] == kNone)
        equation_of[q] =
            add_equation({.kind = Equation::Kind::callee,
                          .procedure = q,
                          .rest = minus(callee.kept, static_cast<int64_t>(callee.kept_there))});
      add_to(equation_of[q], s);
    }
  }

  void sum_up_calls_by_callee() {
    for (Callee& callee : callees_) callee.calls = callee.own_calls = 0;
    for (uint32_t p = 0; p < counts_.size(); ++p) {
      for (const Call& call : map_.procedures[p].calls)
        if (call.callee != kNone && !call.jump)
          add_call(p, call.callee, counts_[p].edges[call.block]);
    }
    for (const Jump& jump : jumps_) add_call(jump.from, jump.to, jump.count);
  }
  void add_call(uint32_t from, uint32_t to, uint64_t count) {
    callees_[to].calls += count;
    if (from == to) callees_[to].own_calls += count;
  }

  // ---- solving them ----

  /// `guessed`: another loss is equally possible. Whatever follows from it is a guess as well.
  void settle(uint32_t s, int64_t loss, bool guessed) {
    Site& site = sites_[s];
    assert(!site.known);
    site.known = true;
    site.loss = loss;
    if (guessed) counts_[site.procedure].exact = false;
    for (const uint32_t e : site.equations) {
      if (e == kNone) continue;
      equations_[e].guessed |= guessed;
      equations_[e].rest = minus(equations_[e].rest, loss);
      --equations_[e].open;
      if (is_ready(equations_[e])) enqueue(e);
    }
  }
  static bool is_ready(const Equation& e) { return e.open == 1 || (e.open != 0 && e.rest == 0); }
  void enqueue(uint32_t e) { ready_[static_cast<size_t>(equations_[e].kind)].push_back(e); }

  void propagate() {
    for (;;) {
      const auto queue = std::find_if(ready_.begin(), ready_.end(),
                                      [](const auto& list) { return !list.empty(); });
      if (queue == ready_.end()) return;
      const uint32_t e = queue->back();
      queue->pop_back();
      if (!is_ready(equations_[e])) continue;
      equations_[e].used = true;
      settle_rest(e, equations_[e].guessed);
    }
  }

  /// Gives the first unknown of an equation all that is left, and the others nothing.
  void settle_rest(uint32_t e, bool guessed) {
    const std::vector<uint32_t>& sites = equations_[e].sites;
    for (size_t i = 0; i < sites.size(); ++i) {
      if (sites_[sites[i]].known) continue;
      settle(sites[i], equations_[e].rest, guessed);
    }
  }

  void resolve() {
    for (uint32_t e = 0; e < equations_.size(); ++e)
      if (is_ready(equations_[e])) enqueue(e);
    propagate();
    constexpr int kRounds = 4;
    for (int round = 0; round < kRounds && narrow(); ++round) propagate();
    for (uint32_t e = 0; e < equations_.size(); ++e) {
      if (equations_[e].kind != Equation::Kind::part || equations_[e].open == 0) continue;
      choose(e);
      propagate();
    }
  }

  /// If another equation contains all unknowns of an equation, the further unknowns of the other
  /// equation lost the difference. Their losses are known if the difference is 0 or if there is one
  /// such unknown.
  bool narrow() {
    bool changed = false;
    for (uint32_t inner = 0; inner < equations_.size(); ++inner)
      for (size_t kind = 0; kind < ready_.size(); ++kind) {
        const Equation& equation = equations_[inner];
        if (equation.open == 0 || kind == static_cast<size_t>(equation.kind)) continue;
        const uint32_t outer = common_equation(equation, kind);
        if (outer == kNone) continue;
        const uint32_t others = equations_[outer].open - equation.open;
        const int64_t difference = minus(equations_[outer].rest, equation.rest);
        if (others == 0 || (others != 1 && difference != 0)) continue;
        const bool guessed = equation.guessed || equations_[outer].guessed;
        equations_[inner].used = equations_[outer].used = true;
        const size_t own = static_cast<size_t>(equation.kind);
        for (const uint32_t s : equations_[outer].sites)
          if (!sites_[s].known && sites_[s].equations[own] != inner) settle(s, difference, guessed);
        changed = true;
      }
    return changed;
  }

  /// An equation of the kind that contains all unknowns of `equation`, or kNone.
  uint32_t common_equation(const Equation& equation, size_t kind) const {
    uint32_t result = kNone;
    bool first = true;
    for (const uint32_t s : equation.sites) {
      if (sites_[s].known) continue;
      const uint32_t other = sites_[s].equations[kind];
      if (other == kNone || (!first && other != result)) return kNone;
      result = other;
      first = false;
    }
    return result;
  }

  std::vector<CallLoss> known_losses(uint32_t p) const {
    std::vector<CallLoss> losses;
    for (const Site& site : sites_of(p))
      if (site.loss != 0) losses.push_back({site.block, site.loss});
    return losses;
  }
  std::span<const Site> sites_of(uint32_t p) const {
    const auto first = std::partition_point(sites_.begin(), sites_.end(),
                                            [&](const Site& site) { return site.procedure < p; });
    const auto last = std::partition_point(first, sites_.end(),
                                           [&](const Site& site) { return site.procedure == p; });
    return {first, last};
  }

  /// Tries which call of a part lost something, where propagation does not decide.
  void choose(uint32_t e) {
    constexpr size_t kMostTries = 32;
    const Equation& equation = equations_[e];
    const uint32_t p = equation.procedure;
    std::vector<uint32_t> open;
    for (const uint32_t s : equation.sites)
      if (!sites_[s].known) open.push_back(s);
    // Calls of procedures that are known to have kept something come first.
    std::stable_partition(open.begin(), open.end(), [&](uint32_t s) {
      const uint32_t callee = sites_[s].equations[2];
      return callee != kNone && equations_[callee].rest != 0 &&
             (equations_[callee].rest > 0) == (equation.rest > 0);
    });
    uint32_t chosen = kNone;
    size_t possible = 0, tried = 0;
    for (size_t i = 0; i < std::min(open.size(), kMostTries); ++i) {
      if (effort_ < graph(p).edges.size()) break;
      effort_ -= graph(p).edges.size();
      ++tried;
      if (!is_possible(p, sites_[open[i]].block, equation)) continue;
      if (possible++ == 0) chosen = open[i];
    }
    const bool guessed =
        equation.guessed || possible != 1 || magnitude(equation.rest) != 1 || tried != open.size();
    if (chosen == kNone) chosen = open[0];
    settle(chosen, equation.rest, guessed);
    if (equation.open != 0) settle_rest(e, guessed);
  }

  /// Whether no count of the part becomes negative when this call lost all of `rest`.
  bool is_possible(uint32_t p, BlockId block, const Equation& equation) const {
    const FlowGraph& g = graph(p);
    std::vector<CallLoss> losses = known_losses(p);
    losses.push_back({block, equation.rest});
    const FlowSolution solution = solve_flow(g, counters_, losses);
    const std::vector<uint32_t> parts = flow_parts(g);
    for (uint32_t e = 0; e < g.edges.size(); ++e)
      if (g.edges[e].counter == kNone && parts[g.edges[e].from] == parts[equation.node] &&
          g.edges[e].kind != Kind::leak && is_negative(solution.counts[e]))
        return false;
    return true;
  }

  // ---- results ----

  void solve_with_losses(uint32_t p) {
    counts_[p].losses = known_losses(p);
    std::sort(counts_[p].losses.begin(), counts_[p].losses.end(),
              [](const CallLoss& a, const CallLoss& b) { return a.block < b.block; });
    FlowSolution solution = solve_flow(graph(p), counters_, counts_[p].losses);
    counts_[p].edges = std::move(solution.counts);
    if (!solution.imbalances.empty()) counts_[p].exact = false;
  }

  /// Equations of callees hold if there are no unknown callers. Results that followed from an
  /// equation that does not hold are not exact.
  void check_callees() {
    sum_up_calls_by_callee();
    std::vector<uint32_t> wrong;
    for (uint32_t e = 0; e < equations_.size(); ++e) {
      if (equations_[e].kind != Equation::Kind::callee) continue;
      const Callee& callee = callees_[equations_[e].procedure];
      if (is_closed(callee, 0) ? equations_[e].rest != 0 : equations_[e].used) wrong.push_back(e);
    }
    std::vector<bool> seen(equations_.size());
    while (!wrong.empty()) {
      const uint32_t e = wrong.back();
      wrong.pop_back();
      if (seen[e]) continue;
      seen[e] = true;
      for (const uint32_t s : equations_[e].sites) {
        counts_[sites_[s].procedure].exact = false;
        for (const uint32_t other : sites_[s].equations)
          if (other != kNone && equations_[other].used) wrong.push_back(other);
      }
    }
  }

  /// Whether all callers of a procedure are known: its entries are as many as its calls, within
  /// `slack`, and not all calls are its own, since another procedure has to make the first call.
  static bool is_closed(const Callee& callee, uint64_t slack) {
    return magnitude(static_cast<int64_t>(callee.entries - callee.calls)) <= slack &&
           callee.calls != callee.own_calls;
  }

  struct Jump {
    uint32_t from, to;  // procedures
    uint64_t count;
    bool kept = false;
  };

  const CounterMap& map_;
  std::span<const uint64_t> counters_;
  std::vector<ProcedureCounts> counts_;
  std::map<uint32_t, std::vector<FlowSolution::Imbalance>> unbalanced_;  // by procedure
  std::vector<Callee> callees_;                                          // by procedure
  std::vector<Jump> jumps_;                                              // by `to`
  std::vector<Site> sites_;                                              // by procedure
  std::vector<Equation> equations_;
  std::array<std::vector<uint32_t>, 3> ready_;  // equations, by kind
  uint64_t effort_ = 100'000'000;               // edges that trying calls may still visit
};

}  // namespace

std::vector<ProcedureCounts> solve_program(const CounterMap& map,
                                           std::span<const uint64_t> counters) {
  return ProgramSolver(map, counters).solve();
}

}  // namespace respike
