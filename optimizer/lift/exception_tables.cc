// The exception tables of one procedure become one table.
//
// Problem: the conventions of some machines give each unwind region a table of its own, and an
// emitter that parts a procedure writes a table for each part. Lifted again, the procedure has many
// tables where it had one. Wherever blocks with different tables meet, a region ends, which must
// not happen right after a call (return_region() in check/same_program.cc).
//
// Idea: a call site refers to its table by an offset into the table of actions; actions hold
// numbers of types and offsets of specifications. A table has these three parts. Where in each part
// one of two tables begins with the other, a table of the longer parts means the same for the call
// sites of both tables, so it can stand for both. A writer that leaves off the unused end of a
// table, as Respike's does, leaves such tables.
//
// Example: a procedure with the types {int, char} was parted; one fragment only catches int. The
// tables {int} and {int, char} become the second table.
//
// Other tables stay apart. Time is linear in the size of the tables.

#include <algorithm>
#include <map>

#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

constexpr size_t kMostTables = 8;  // of a procedure: distinct tables

template <typename T>
bool is_prefix(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

template <typename T>
bool one_continues_other(const std::vector<T>& a, const std::vector<T>& b) {
  return is_prefix(a, b) || is_prefix(b, a);
}

/// A table of the longer parts; nullopt where in one part neither table begins with the other.
std::optional<Lsda> join(const Lsda& a, const Lsda& b) {
  const bool both_typed = a.has_type_table() && b.has_type_table();
  if ((both_typed && a.type_encoding != b.type_encoding) ||
      !one_continues_other(a.types, b.types) || !one_continues_other(a.actions, b.actions) ||
      !one_continues_other(a.specifications, b.specifications))
    return std::nullopt;
  const auto longer = [](const auto& x, const auto& y) { return x.size() < y.size() ? y : x; };
  return Lsda{.type_encoding = a.has_type_table() ? a.type_encoding : b.type_encoding,
              .actions = longer(a.actions, b.actions),
              .types = longer(a.types, b.types),
              .specifications = longer(a.specifications, b.specifications)};
}

/// For each of the procedure's tables, the table that stands for it.
class Representatives {
 public:
  explicit Representatives(std::vector<Lsda>& lsdas) : lsdas_(lsdas) {}

  void add(uint32_t lsda) {
    if (!groups_.try_emplace(lsda, chosen_.size()).second) return;
    for (size_t group = 0; group < chosen_.size(); ++group)
      if (auto joined = join(lsdas_[chosen_[group]], lsdas_[lsda])) {
        groups_[lsda] = group;
        if (*joined == lsdas_[chosen_[group]]) return;
        chosen_[group] = *joined == lsdas_[lsda] ? lsda : static_cast<uint32_t>(lsdas_.size());
        if (chosen_[group] == lsdas_.size()) lsdas_.push_back(std::move(*joined));
        return;
      }
    if (chosen_.size() == kMostTables)
      groups_[lsda] = kAlone;
    else
      chosen_.push_back(lsda);
  }
  uint32_t of(uint32_t lsda) const {
    const size_t group = groups_.at(lsda);
    return group == kAlone ? lsda : chosen_[group];
  }

 private:
  static constexpr size_t kAlone = SIZE_MAX;

  std::vector<Lsda>& lsdas_;
  std::vector<uint32_t> chosen_;       // one table per group
  std::map<uint32_t, size_t> groups_;  // by table: its group
};

}  // namespace

void join_exception_tables(Program& program) {
  for (Procedure& procedure : program.procedures) {
    auto& sites = procedure.call_sites;
    const auto same = [&](const CallSite& site) { return site.lsda == sites.front().lsda; };
    if (std::ranges::all_of(sites, same)) continue;
    Representatives representatives(program.unwind.lsdas);
    for (const CallSite& site : sites) representatives.add(site.lsda);
    for (CallSite& site : sites) site.lsda = representatives.of(site.lsda);
  }
}

}  // namespace respike
