// Carries a profile over to another build.
//
// Procedures are matched first (procedure_pairs.h), then the nodes of each pair of procedures
// (node_pairs.h); then the counts of each pair are carried over (carry.h). A procedure that the
// older build did not have is entered as often as its callers call it (they have counts by then);
// its inner counts are estimates. Four rounds serve new procedures that call new procedures, as
// compilers make them when they inline less.
//
// Example: `main` called `f` 5 times, and `f` had a loop. Now `f` calls a new `f.part.0` with the
// loop. `main` and `f` are pairs; the block that calls in `f` gets 5, so `f.part.0` is entered 5
// times.

#include "optimizer/profile/matching/match.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "optimizer/base/error.h"
#include "optimizer/base/saturating.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/profile/matching/carry.h"
#include "optimizer/profile/matching/procedure_pairs.h"

namespace respike {
namespace {

/// Procedures that compilers link into every program: they do not distinguish programs.
constexpr std::string_view kOfEveryProgram[] = {"_start",
                                                "__start",
                                                "_init",
                                                "_fini",
                                                "frame_dummy",
                                                "__do_global_dtors_aux",
                                                "__libc_csu_init",
                                                "__libc_csu_fini",
                                                "register_tm_clones",
                                                "deregister_tm_clones"};
/// Every program has a `main`; a pair of them counts as evidence only from this confidence on.
constexpr double kMainIsAlike = 0.5;

bool is_of_every_program(std::string_view name) {
  return std::find(std::begin(kOfEveryProgram), std::end(kOfEveryProgram), name) !=
         std::end(kOfEveryProgram);
}

constexpr uint64_t kEffort = 500'000'000;  // effort of repair_flow(): takes seconds; large programs
                                           // use a tenth
constexpr int kNewInARow = 4;              // longest chain of calls between new procedures

class Matcher {
 public:
  Matcher(const Profile& before, const Profile& now) : before_(before) {
    result_.profile = now;
    result_.profile.runs = before.runs;
    clear_counts(result_.profile);
  }

  MatchResult run() {
    partner_ = pair_procedures(before_, result_.profile);
    number_callees();
    result_.procedures.resize(partner_.size());
    for (uint32_t p = 0; p < partner_.size(); ++p)
      if (partner_[p] != kNone) carry(p);
    for (int round = 0; round < kNewInARow; ++round) estimate_new();
    summarize();
    return std::move(result_);
  }

 private:
  std::vector<ProcedureProfile>& procedures() { return result_.profile.procedures; }

  /// Numbers procedures of both builds, by address: the two procedures of a pair have the same
  /// number, from 1 on. An old procedure without a partner has number 0.
  void number_callees() {
    std::vector<uint32_t> taken(before_.procedures.size());
    for (uint32_t p = 0; p < partner_.size(); ++p) {
      number_now_.emplace(procedures()[p].address, p + 1);
      if (partner_[p] != kNone) taken[partner_[p]] = p + 1;
    }
    for (uint32_t p = 0; p < taken.size(); ++p)
      number_before_.emplace(before_.procedures[p].address, taken[p]);
  }

  using Numbers = std::unordered_map<uint64_t, uint32_t>;

  static std::vector<uint32_t> calls_of(const ProcedureProfile& procedure, const Numbers& numbers) {
    std::vector<uint32_t> calls(procedure.nodes.size());
    for (const auto& call : procedure.calls) {
      const uint32_t node = procedure.blocks[call.block].node;
      const auto number = numbers.find(call.callee);
      if (node != kNone && call.callee != 0 && number != numbers.end())
        calls[node] = number->second;
    }
    return calls;
  }

  void carry(uint32_t p) {
    const ProcedureProfile& old = before_.procedures[partner_[p]];
    ProcedureProfile& fresh = procedures()[p];
    const CarriedCounts carried = carry_counts(old, calls_of(old, number_before_), fresh,
                                               calls_of(fresh, number_now_), effort_);
    result_.procedures[p] = {partner_[p], carried.confidence()};
    carry_indirect(old, fresh);
    const auto executed = static_cast<double>(old.instructions());
    sure_ += executed * carried.confidence();
    if (!is_of_every_program(old.name) &&
        (old.name != "main" || carried.confidence() >= kMainIsAlike))
      evidence_ += executed * carried.confidence();
  }

  /// Carries targets of indirect jumps and calls over, as far as the jumping block is known.
  void carry_indirect(const ProcedureProfile& old, ProcedureProfile& fresh) const {
    if (old.indirect.empty() || old.signature != fresh.signature) return;
    std::unordered_map<uint32_t, BlockId> calls;  // node -> the block of the node that calls
    for (const auto& call : fresh.calls)
      if (fresh.blocks[call.block].node != kNone)
        calls.emplace(fresh.blocks[call.block].node, call.block);
    for (const auto& site : old.indirect) {
      const auto block = calls.find(old.blocks[site.block].node);
      if (block == calls.end()) continue;
      const auto callee = number_before_.find(site.target);
      const bool known = callee != number_before_.end() && callee->second != 0;
      const uint64_t target = known ? result_.profile.procedures[callee->second - 1].address : 0;
      fresh.indirect.push_back({block->second, target, site.changes});
    }
    unite(fresh.indirect);
  }

  /// Estimates the counts of procedures without a partner from the calls that their callers make.
  void estimate_new() {
    std::unordered_map<uint64_t, uint64_t> calls;  // by address
    for (const ProcedureProfile& procedure : procedures())
      for (const auto& call : procedure.calls)
        if (call.callee != 0 && call.callee != procedure.address) {
          uint64_t& count = calls[call.callee];
          count = saturating_add(count, call.count);
        }
    for (uint32_t p = 0; p < partner_.size(); ++p) {
      if (partner_[p] != kNone) continue;
      const auto count = calls.find(procedures()[p].address);
      if (count != calls.end() && count->second != 0)
        estimate_counts(procedures()[p], count->second, effort_);
    }
  }

  void summarize() {
    double own = 0;  // executed instructions of procedures that distinguish programs
    std::vector<bool> matched(before_.procedures.size());
    for (const uint32_t old : partner_)
      if (old != kNone) matched[old] = true;
    for (uint32_t p = 0; p < matched.size(); ++p) {
      const ProcedureProfile& procedure = before_.procedures[p];
      const bool entered = procedure.entered();
      const auto instructions = static_cast<double>(procedure.instructions());
      if (!is_of_every_program(procedure.name)) own += instructions;
      ++result_.procedures_before;
      result_.entered_before += entered;
      result_.instructions_before += instructions;
      if (!matched[p]) continue;
      ++result_.procedures_matched;
      result_.entered_matched += entered;
      result_.instructions_matched += instructions;
    }
    if (result_.instructions_before == 0) return;
    result_.confidence = sure_ / result_.instructions_before;
    result_.evidence = own == 0 ? 0 : evidence_ / own;
  }

  const Profile& before_;
  MatchResult result_;
  std::vector<uint32_t> partner_;       // by procedure of the new build
  Numbers number_before_, number_now_;  // by address; 0: no partner
  uint64_t effort_ = kEffort;
  double sure_ = 0, evidence_ = 0;  // executed instructions
};

}  // namespace

MatchResult match_profile(const Profile& before, const Profile& now) {
  return Matcher(before, now).run();
}

MatchResult match_profile(const Profile& before, const Program& now) {
  return match_profile(before, profile_of(now));
}

Profile merge_builds(std::span<const Profile> profiles, std::span<const double> weights,
                     std::span<const std::string> names,
                     std::vector<std::optional<MatchResult>>* matches) {
  const Profile& last = profiles.back();
  std::vector<Profile> carried;
  for (size_t i = 0; i < profiles.size(); ++i) {
    std::optional<MatchResult> match;
    if (same_places(profiles[i], last)) {
      carried.push_back(profiles[i]);
    } else {  // also for one build: collected profiles list only procedures with counters
      match = match_profile(profiles[i], last);
      if (match->of_another_program())
        throw Error(fmt::format("it is of another program than {}", names.back()), names[i]);
      carried.push_back(std::move(match->profile));
      if (profiles[i].image_hash == last.image_hash) match.reset();
    }
    if (matches != nullptr) matches->push_back(std::move(match));
  }
  return merge_profiles(carried, weights, names);
}

}  // namespace respike
