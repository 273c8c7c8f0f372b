// For each call a profile holds the block, the count and, if the code names the callee, the
// callee's address. For a call through a pointer it holds the last target, and how often the target
// changed: if it changed once, to the first target, all calls went there. Entries of a procedure
// beyond its known calls came from elsewhere. Example: qsort is called 3 times by main, and the
// comparison that main passes is called 200 times through a pointer that never changed:
//
//   main -> qsort 3,  qsort -> compare 200
//
// Calls into another image cannot be followed: that image's counts are in another profile.

#include "views/call_counts.h"

#include <map>
#include <tuple>
#include <unordered_map>

#include "optimizer/base/saturating.h"

namespace respike {
namespace {

/// Addresses of blocks rather than of procedures, since calls may enter after a procedure's first
/// instructions.
class Places {
 public:
  explicit Places(const Profile& profile) {
    for (uint32_t p = 0; p < profile.procedures.size(); ++p)
      procedures_.try_emplace(profile.procedures[p].address, p);
    for (uint32_t p = 0; p < profile.procedures.size(); ++p)
      for (const auto& block : profile.procedures[p].blocks)
        if (block.size != 0) procedures_.try_emplace(block.address, p);
  }
  uint32_t at(uint64_t address) const {
    const auto found = procedures_.find(address);
    return address == 0 || found == procedures_.end() ? kNone : found->second;
  }

 private:
  std::unordered_map<uint64_t, uint32_t> procedures_;
};

class Counter {
 public:
  explicit Counter(const Profile& profile) : profile_(profile), places_(profile) {}

  std::vector<CallCount> run() {
    for (uint32_t p = 0; p < profile_.procedures.size(); ++p)
      for (const auto& call : profile_.procedures[p].calls)
        if (call.count != 0) add_call(p, call);
    std::vector<CallCount> result;
    for (const auto& [key, count] : counts_) result.push_back(count);
    add_unknown_callers(result);
    return result;
  }

 private:
  void add_call(uint32_t caller, const ProcedureProfile::Call& call) {
    if (call.callee != 0) return add(caller, places_.at(call.callee), call.count, false);
    bool known = false;
    for (const auto& site : profile_.procedures[caller].indirect) {
      const uint32_t callee = places_.at(site.target);
      if (site.block != call.block || callee == kNone) continue;
      add(caller, callee, call.count, site.changes > 1 || has_other_targets(caller, site));
      known = true;
    }
    if (!known) add(caller, kNone, call.count, false);
  }

  bool has_other_targets(uint32_t caller, const ProcedureProfile::IndirectTarget& site) const {
    for (const auto& other : profile_.procedures[caller].indirect)
      if (other.block == site.block && other.target != site.target) return true;
    return false;
  }

  void add(uint32_t caller, uint32_t callee, uint64_t count, bool at_most) {
    CallCount& sum = counts_[{caller, callee, at_most}];
    sum = {.caller = caller,
           .callee = callee,
           .count = saturating_add(sum.count, count),
           .places = sum.places + 1,
           .at_most = at_most};
  }

  void add_unknown_callers(std::vector<CallCount>& calls) const {
    std::vector<uint64_t> known(profile_.procedures.size());
    for (const CallCount& call : calls)
      if (call.callee != kNone && !call.at_most)
        known[call.callee] = saturating_add(known[call.callee], call.count);
    for (uint32_t p = 0; p < profile_.procedures.size(); ++p)
      if (const uint64_t entries = profile_.procedures[p].entries(); entries > known[p])
        calls.push_back({.caller = kNone, .callee = p, .count = entries - known[p]});
  }

  const Profile& profile_;
  const Places places_;
  std::map<std::tuple<uint32_t, uint32_t, bool>, CallCount> counts_;
};

}  // namespace

std::vector<CallCount> count_calls(const Profile& profile) {
  return Counter(profile).run();
}

}  // namespace respike
