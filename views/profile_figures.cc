// Example: a profile of 120 procedures, 7 of which ran, has the figures 120 and 7. The hottest
// procedure comes first, and the text of each of its blocks lists the block's successors.

#include "views/profile_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "optimizer/base/error.h"
#include "optimizer/base/number_text.h"
#include "optimizer/base/saturating.h"
#include "optimizer/ir/procedure_name.h"

namespace respike {
namespace {

bool is_meant(const ProcedureProfile& procedure, const std::string& text) {
  if (procedure.name == text) return true;
  const auto meant = split_addressed_name(text);
  return meant && procedure.name == meant->name && procedure.address == meant->address;
}

}  // namespace

ProfileFigures figures_of(const Profile& profile) {
  ProfileFigures figures;
  for (const ProcedureProfile& procedure : profile.procedures) {
    ++figures.procedures;
    figures.entered += procedure.entered();
    figures.not_exact += !procedure.exact;
    figures.instructions = saturating_add(figures.instructions, procedure.instructions());
  }
  return figures;
}

std::vector<const ProcedureProfile*> hottest_first(const Profile& profile,
                                                   const std::vector<std::string>& names,
                                                   const std::string& file) {
  std::vector<std::pair<uint64_t, const ProcedureProfile*>> weighed;
  for (const ProcedureProfile& procedure : profile.procedures)
    if (names.empty() || std::ranges::any_of(names, [&](const std::string& text) {
          return is_meant(procedure, text);
        }))
      weighed.emplace_back(procedure.instructions(), &procedure);
  for (const std::string& text : names)
    if (std::ranges::none_of(weighed,
                             [&](const auto& entry) { return is_meant(*entry.second, text); }))
      throw Error(
          fmt::format("it has no procedure {}: the image has none, or it is not counted, as "
                      "what is opaque, pinned or never used is not",
                      text),
          file);
  std::ranges::stable_sort(weighed, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const ProcedureProfile*> result;
  for (const auto& [instructions, procedure] : weighed) result.push_back(procedure);
  return result;
}

ProcedureNames names_by_address(const Profile& profile) {
  ProcedureNames names;
  for (const ProcedureProfile& procedure : profile.procedures)
    names.emplace(procedure.address, procedure.name);
  return names;
}

std::string name_or_address(const ProcedureNames& names, uint64_t address, std::string_view none) {
  if (address == 0) return std::string(none);
  const auto name = names.find(address);
  return name != names.end() ? name->second : fmt::format("{:x}", address);
}

std::vector<std::string> ways_on(const ProcedureProfile& procedure, const ProcedureNames& names) {
  static constexpr const char* kWords[] = {"", "taken ", "jump ", "pad "};
  std::vector<std::string> texts(procedure.blocks.size());
  const auto add = [&](BlockId block, const std::string& part) {
    texts[block] += (texts[block].empty() ? "" : ", ") + part;
  };
  for (const auto& call : procedure.calls)
    add(call.block, "calls " + name_or_address(names, call.callee, "?"));
  for (const auto& site : procedure.indirect)
    add(site.block,
        fmt::format("last to {}, {} changes", name_or_address(names, site.target, "outside"),
                    grouped(site.changes)));
  for (const auto& edge : procedure.edges)
    add(edge.from, fmt::format("{}{}: {}", kWords[static_cast<size_t>(edge.kind)], edge.to,
                               grouped(edge.count)));
  return texts;
}

std::string_view name_of(ProcedureProfile::Edge::Kind kind) {
  static constexpr std::string_view kNames[] = {"fall_through", "taken", "indirect", "landing_pad"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace respike
