// Matching the procedures of two builds.
//
// Spike matched lists of signatures in the order of the symbol table by minimum edit distance. Most
// procedures of two builds have more in common than a signature, so the most certain pairs come
// first:
//
// 1. Anchors, in any order: two procedures are a pair when their key occurs exactly once in each
//    build. Keys are, in this order: name with contents (signature and strict hashes), name,
//    contents, name without the compiler's suffixes, signature. Contents and signatures are keys
//    only for procedures that are large enough to be distinctive.
// 2. The call graph: the procedures of a pair call the same procedures at the same places. Every
//    such place is a vote for a pair of callees; pairs that both sides prefer are taken, and vote
//    in the next round. Votes distinguish local symbols of the same name, and find renamed
//    procedures.
// 3. Between neighbouring anchors that are in order: the shortest edit script over names with
//    signatures, then over signatures.
// 4. Procedures that share a name: in order.
// 5. Between anchors: the pairs with the highest likeness_of().
//
// Then the call graph votes again. A pair with different names is accepted only if its code is
// similar.
//
// Example: `main` calls `read`, which was renamed to `load`; two files have a static `helper`.
// `main` is an anchor by name; its calls vote for (read, load), and the calls of that pair vote for
// the right `helper`.

#include "optimizer/profile/matching/procedure_pairs.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/profile/matching/node_pairs.h"
#include "optimizer/profile/matching/sequence_diff.h"
#include "optimizer/profile/names.h"

namespace respike {
namespace {

constexpr double kAlike = 0.5;         // likeness_of() that makes a pair plausible
constexpr uint32_t kOwnContents = 12;  // fewest instructions of a procedure with distinctive
                                       // contents
constexpr uint32_t kOwnSignature = 6;  // fewest nodes of a procedure with a distinctive signature
constexpr size_t kMostCompared = 40;   // procedures between anchors, for comparing all pairs
constexpr int kMostRounds = 16;        // rounds of votes

uint64_t hash_of(std::string_view text) {
  return hash64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

/// The procedures of one build and their keys; 0: no key.
struct Side {
  explicit Side(const Profile& profile) : procedures(profile.procedures) {
    std::unordered_map<uint64_t, uint32_t> at;
    for (uint32_t p = 0; p < size(); ++p) at.emplace(procedures[p].address, p);
    for (const ProcedureProfile& procedure : procedures) {
      const bool named = has_own_name(procedure.name, procedure.address);
      name.push_back(named ? hash_of(procedure.name) : 0);
      source.push_back(named ? hash_of(source_name(procedure.name)) : 0);
      ByteWriter text;
      text.write(procedure.signature);
      for (const NodeHash& node : procedure.nodes) text.write(node.strict);
      contents.push_back(hash64(text.bytes()));
      uint64_t& length = instructions.emplace_back(0);
      for (const auto& block : procedure.blocks) length += block.instructions;
      auto& list = calls.emplace_back();
      for (const auto& call : procedure.calls) {
        const auto callee = call.callee == 0 ? at.end() : at.find(call.callee);
        const uint32_t node = procedure.blocks[call.block].node;
        if (callee != at.end() && node != kNone) list.emplace_back(node, callee->second);
      }
      std::sort(list.begin(), list.end());
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(procedures.size()); }

  const std::vector<ProcedureProfile>& procedures;
  std::vector<uint64_t> name, source, contents, instructions;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> calls;  // (node, callee), sorted by node
};

class Pairing {
 public:
  Pairing(const Profile& before, const Profile& now)
      : before_(before), now_(now), partner_(now_.size(), kNone), taken_(before_.size(), kNone) {}

  std::vector<uint32_t> run() {
    pair_anchors();
    vote();
    align_between_anchors();
    pair_repeated_names();
    vote();
    return std::move(partner_);
  }

 private:
  bool free_now(uint32_t p) const { return partner_[p] == kNone; }
  bool free_before(uint32_t p) const { return taken_[p] == kNone; }
  void add(uint32_t before, uint32_t now) {
    partner_[now] = before;
    taken_[before] = now;
  }

  double likeness(uint32_t before, uint32_t now) const {
    return likeness_of(before_.procedures[before], now_.procedures[now]);
  }
  bool same_signature(uint32_t before, uint32_t now) const {
    return before_.procedures[before].signature == now_.procedures[now].signature;
  }
  /// Whether names and code permit a pair that votes, order or signature suggest.
  bool plausible(uint32_t before, uint32_t now) const {
    if (before_.source[before] != 0 && before_.source[before] == now_.source[now]) return true;
    const bool named = before_.source[before] != 0 && now_.source[now] != 0;
    if (!named && same_signature(before, now)) return true;
    return likeness(before, now) >= kAlike;
  }

  // ---- anchors ----

  /// Pairs free procedures whose key occurs exactly once in each build. Key: (side, procedure) ->
  /// key.
  template <typename Key>
  void pair_unique(Key key) {
    std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> found;  // how often the key occurs
                                                                        // in each build
    std::unordered_map<uint64_t, uint32_t> place;                       // the procedure in the
                                                                        // older build
    for (uint32_t p = 0; p < before_.size(); ++p)
      if (const uint64_t k = free_before(p) ? key(before_, p) : 0; k != 0) {
        ++found[k].first;
        place[k] = p;
      }
    for (uint32_t p = 0; p < now_.size(); ++p)
      if (const uint64_t k = free_now(p) ? key(now_, p) : 0; k != 0) ++found[k].second;
    for (uint32_t p = 0; p < now_.size(); ++p) {
      const uint64_t k = free_now(p) ? key(now_, p) : 0;
      if (k != 0 && found[k] == std::pair(1u, 1u)) add(place[k], p);
    }
  }

  void pair_anchors() {
    pair_unique([](const Side& side, uint32_t p) {
      return side.name[p] == 0 ? 0 : side.name[p] * 31 + side.contents[p];
    });
    pair_unique([](const Side& side, uint32_t p) { return side.name[p]; });
    pair_unique([](const Side& side, uint32_t p) {
      return side.instructions[p] < kOwnContents ? 0 : side.contents[p];
    });
    pair_unique([](const Side& side, uint32_t p) { return side.source[p]; });
    // A signature alone is weak: pairs whose names or code contradict it are undone.
    const auto anchored = partner_;
    pair_unique([](const Side& side, uint32_t p) {
      const ProcedureProfile& procedure = side.procedures[p];
      return procedure.nodes.size() < kOwnSignature ? 0 : procedure.signature;
    });
    for (uint32_t p = 0; p < now_.size(); ++p)
      if (anchored[p] == kNone && !free_now(p) && !plausible(partner_[p], p)) {
        taken_[partner_[p]] = kNone;
        partner_[p] = kNone;
      }
  }

  // ---- the call graph ----

  using Votes = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;  // before, now -> how many

  /// Votes for the callees that the procedures of a pair call at the same place. The same place is
  /// the same node if the graphs are equal, else the same position between calls of paired
  /// procedures.
  void collect_votes(uint32_t before, uint32_t now, Votes& votes) const {
    const auto &a = before_.calls[before], &b = now_.calls[now];
    const auto cast = [&](uint32_t x, uint32_t y) {
      if (free_before(x) && free_now(y)) ++votes[{x, y}];
    };
    if (same_signature(before, now)) {
      for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i].first == b[j].first)
          cast(a[i++].second, b[j++].second);
        else if (a[i].first < b[j].first)
          ++i;
        else
          ++j;
      }
      return;
    }
    constexpr uint64_t kFree = uint64_t{1} << 32;
    std::vector<uint64_t> x, y;
    for (const auto& [node, callee] : a) x.push_back(free_before(callee) ? kFree : taken_[callee]);
    for (const auto& [node, callee] : b) y.push_back(free_now(callee) ? kFree : callee);
    for (const auto& [i, j] : common_subsequence(x, y)) cast(a[i].second, b[j].second);
  }

  void vote() {
    for (int round = 0; round < kMostRounds; ++round) {
      Votes votes;
      for (uint32_t p = 0; p < now_.size(); ++p)
        if (!free_now(p)) collect_votes(partner_[p], p, votes);
      // The partner that each procedure prefers; none if several are equally strong.
      using Choice = std::pair<uint64_t, uint32_t>;  // strength, procedure
      std::unordered_map<uint32_t, Choice> of_before, of_now;
      const auto choose = [](Choice& choice, uint64_t strength, uint32_t p) {
        if (strength > choice.first)
          choice = {strength, p};
        else if (strength == choice.first)
          choice.second = kNone;
      };
      for (const auto& [pair, count] : votes) {
        const auto [a, b] = pair;
        const uint64_t strength =
            4 * uint64_t{count} + 2 * (before_.source[a] == now_.source[b]) + same_signature(a, b);
        choose(of_before[a], strength, b);
        choose(of_now[b], strength, a);
      }
      bool any = false;
      for (const auto& [pair, count] : votes) {
        const auto [a, b] = pair;
        if (of_before[a].second != b || of_now[b].second != a || !plausible(a, b)) continue;
        add(a, b);
        any = true;
      }
      if (!any) return;
    }
  }

  // ---- order ----

  /// The longest list of pairs that has the same order on both sides.
  std::vector<std::pair<uint32_t, uint32_t>> ordered_anchors() const {
    std::vector<uint32_t> last;  // for the best list of each length: its last procedure of now_
    std::vector<uint32_t> previous(now_.size(), kNone);
    for (uint32_t p = 0; p < now_.size(); ++p) {
      if (free_now(p)) continue;
      const auto at = std::lower_bound(last.begin(), last.end(), p, [&](uint32_t x, uint32_t y) {
        return partner_[x] < partner_[y];
      });
      if (at != last.begin()) previous[p] = *(at - 1);
      if (at == last.end())
        last.push_back(p);
      else
        *at = p;
    }
    std::vector<std::pair<uint32_t, uint32_t>> chain;
    for (uint32_t p = last.empty() ? kNone : last.back(); p != kNone; p = previous[p])
      chain.emplace_back(partner_[p], p);
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  using Gap = std::vector<uint32_t>;

  /// Calls f with the free procedures of both builds between neighbouring anchors.
  template <typename F>
  void for_each_gap(F f) {
    auto anchors = ordered_anchors();
    anchors.emplace_back(before_.size(), now_.size());
    uint32_t a = 0, b = 0;
    for (const auto& [to_a, to_b] : anchors) {
      Gap before, now;
      for (; a < to_a; ++a)
        if (free_before(a)) before.push_back(a);
      for (; b < to_b; ++b)
        if (free_now(b)) now.push_back(b);
      if (!before.empty() && !now.empty()) f(before, now);
      a = to_a + 1;
      b = to_b + 1;
    }
  }

  /// Pairs procedures that the shortest edit script over their keys keeps.
  template <typename Key>
  void align(Gap& before, Gap& now, Key key) {
    std::vector<uint64_t> a, b;
    for (const uint32_t p : before) a.push_back(key(before_, p));
    for (const uint32_t p : now) b.push_back(key(now_, p));
    for (const auto& [i, j] : common_subsequence(a, b))
      if (plausible(before[i], now[j])) add(before[i], now[j]);
    std::erase_if(before, [&](uint32_t p) { return !free_before(p); });
    std::erase_if(now, [&](uint32_t p) { return !free_now(p); });
  }

  void pair_most_alike(const Gap& before, const Gap& now) {
    if (before.size() > kMostCompared || now.size() > kMostCompared) return;
    std::vector<std::tuple<double, uint32_t, uint32_t>> pairs;
    for (const uint32_t a : before)
      for (const uint32_t b : now)
        if (const double how = likeness(a, b); how >= kAlike) pairs.emplace_back(-how, a, b);
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [how, a, b] : pairs)
      if (free_before(a) && free_now(b)) add(a, b);
  }

  void align_between_anchors() {
    for_each_gap([&](Gap& before, Gap& now) {
      align(before, now, [](const Side& side, uint32_t p) {
        return side.source[p] * 31 + side.procedures[p].signature;
      });
      align(before, now, [](const Side& side, uint32_t p) { return side.procedures[p].signature; });
    });
    pair_repeated_names();
    for_each_gap([&](Gap& before, Gap& now) { pair_most_alike(before, now); });
  }

  /// Pairs local symbols of the same name in order: the first with the first, and so on.
  void pair_repeated_names() {
    std::unordered_map<uint64_t, std::vector<uint32_t>> by_name;  // procedures of before_, last
                                                                  // first
    for (uint32_t p = before_.size(); p-- > 0;)
      if (free_before(p) && before_.name[p] != 0) by_name[before_.name[p]].push_back(p);
    for (uint32_t p = 0; p < now_.size(); ++p) {
      if (!free_now(p) || now_.name[p] == 0) continue;
      const auto list = by_name.find(now_.name[p]);
      if (list == by_name.end() || list->second.empty()) continue;
      add(list->second.back(), p);
      list->second.pop_back();
    }
  }

  Side before_, now_;
  std::vector<uint32_t> partner_, taken_;
};

}  // namespace

std::vector<uint32_t> pair_procedures(const Profile& before, const Profile& now) {
  return Pairing(before, now).run();
}

}  // namespace respike
