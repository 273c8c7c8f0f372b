// `respike profile ...`: commands that work on profiles.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/fitting.h"
#include "cli/messages.h"
#include "optimizer/ir/procedure_name.h"
#include "optimizer/profile/profile.h"

namespace respike::cli {
namespace {

// ---- show ----

struct ShowArguments {
  std::string profile;
  std::vector<std::string> procedures;
  uint64_t top = 30;
  bool json = false;
};

/// Whether `text` names the procedure: NAME, or NAME@ADDRESS when several procedures have the name.
bool is_meant(const ProcedureProfile& procedure, const std::string& text) {
  if (procedure.name == text) return true;
  const auto meant = split_addressed_name(text);
  return meant && procedure.name == meant->name && procedure.address == meant->address;
}

/// The procedures to show, hottest first.
std::vector<const ProcedureProfile*> chosen(const Profile& profile,
                                            const ShowArguments& arguments) {
  std::vector<std::pair<uint64_t, const ProcedureProfile*>> weighed;
  for (const ProcedureProfile& procedure : profile.procedures)
    if (arguments.procedures.empty() ||
        std::any_of(arguments.procedures.begin(), arguments.procedures.end(),
                    [&](const std::string& text) { return is_meant(procedure, text); }))
      weighed.emplace_back(procedure.instructions(), &procedure);
  for (const std::string& text : arguments.procedures)
    if (std::none_of(weighed.begin(), weighed.end(),
                     [&](const auto& entry) { return is_meant(*entry.second, text); }))
      throw Error(
          fmt::format("it has no procedure {}: the image has none, or it is not counted, as "
                      "what is opaque, pinned or never used is not",
                      text),
          arguments.profile);
  std::stable_sort(weighed.begin(), weighed.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const ProcedureProfile*> result;
  for (const auto& [instructions, procedure] : weighed) result.push_back(procedure);
  return result;
}

constexpr const char* kEdgeKinds[] = {"fall_through", "taken", "indirect", "landing_pad"};

Json to_json(const ProcedureProfile& procedure) {
  const auto address = [&](BlockId block) { return procedure.blocks[block].address; };
  Json blocks = Json::array(), edges = Json::array(), calls = Json::array(),
       indirect = Json::array();
  for (const auto& block : procedure.blocks)
    blocks.push_back({{"address", block.address},
                      {"count", block.count},
                      {"size", block.size},
                      {"instructions", block.instructions}});
  for (const auto& edge : procedure.edges)
    edges.push_back({{"from", address(edge.from)},
                     {"to", address(edge.to)},
                     {"count", edge.count},
                     {"kind", kEdgeKinds[static_cast<size_t>(edge.kind)]}});
  for (const auto& call : procedure.calls)
    calls.push_back(
        {{"from", address(call.block)}, {"callee", call.callee}, {"count", call.count}});
  for (const auto& site : procedure.indirect)
    indirect.push_back(
        {{"from", address(site.block)}, {"target", site.target}, {"changes", site.changes}});
  return {{"name", procedure.name},
          {"address", procedure.address},
          {"signature", fmt::format("{:016x}", procedure.signature)},
          {"exact", procedure.exact},
          {"entries", procedure.entries()},
          {"instructions", procedure.instructions()},
          {"blocks", std::move(blocks)},
          {"edges", std::move(edges)},
          {"calls", std::move(calls)},
          {"indirect", std::move(indirect)}};
}

void print_json(const Profile& profile, const ShowArguments& arguments) {
  Json procedures = Json::array();
  for (const ProcedureProfile* procedure : chosen(profile, arguments))
    procedures.push_back(to_json(*procedure));
  const Json json = {{"image", profile.image_path},
                     {"build_id", profile.image_build_id},
                     {"hash", fmt::format("{:016x}", profile.image_hash)},
                     {"runs", profile.runs},
                     {"procedures", std::move(procedures)}};
  fmt::print("{}\n", text_of(json));
}

/// The sum of executed instructions, at most 2^64 - 1.
uint64_t instructions_of(const Profile& profile) {
  return std::accumulate(profile.procedures.begin(), profile.procedures.end(), uint64_t{0},
                         [](uint64_t sum, const ProcedureProfile& procedure) {
                           return saturating_add(sum, procedure.instructions());
                         });
}

void print_summary(const Profile& profile) {
  const auto count = [&](auto wanted) {
    return static_cast<uint64_t>(
        std::count_if(profile.procedures.begin(), profile.procedures.end(), wanted));
  };
  const uint64_t entered = count([](const ProcedureProfile& p) { return p.entered(); });
  const uint64_t doubtful = count([](const ProcedureProfile& p) { return !p.exact; });
  fmt::print("image         {}\n", printable(profile.image_path));
  if (!profile.image_build_id.empty())
    fmt::print("build id      {}\n", printable(profile.image_build_id));
  fmt::print("runs          {:g}\n", profile.runs);
  fmt::print("procedures    {}, {} executed, {} not exact\n", grouped(profile.procedures.size()),
             grouped(entered), grouped(doubtful));
  fmt::print("instructions  {} executed\n", grouped(instructions_of(profile)));
}

void print_table(const Profile& profile, const ShowArguments& arguments) {
  const double all = static_cast<double>(instructions_of(profile));
  const auto procedures = chosen(profile, arguments);
  fmt::print("\n{:>8} {:>8} {:>20} {:>16}  {}\n", "share", "sum", "instructions", "entries",
             "procedure");
  double sum = 0;
  uint64_t rows = 0, left = 0;
  for (const ProcedureProfile* procedure : procedures) {
    if (!procedure->entered()) continue;
    if (arguments.top != 0 && rows == arguments.top) {
      ++left;
      continue;
    }
    ++rows;
    const uint64_t instructions = procedure->instructions();
    sum += static_cast<double>(instructions);
    fmt::print("{:>8} {:>8} {:>20} {:>16}  {}{}\n", percent(static_cast<double>(instructions), all),
               percent(sum, all), grouped(instructions), grouped(procedure->entries()),
               printable(procedure->name), procedure->exact ? "" : "  (not exact)");
  }
  if (left != 0) fmt::print("{} more; --top 0 shows all\n", grouped(left));
}

/// The successors of each block with counts, as text.
std::vector<std::string> ways_on(const ProcedureProfile& procedure,
                                 const std::map<uint64_t, std::string>& names) {
  static constexpr const char* kWords[] = {"", "taken ", "jump ", "pad "};
  const auto name_of = [&](uint64_t address, const char* none) {
    const auto name = names.find(address);
    return address == 0          ? none
           : name != names.end() ? printable(name->second)
                                 : fmt::format("{:x}", address);
  };
  std::vector<std::string> texts(procedure.blocks.size());
  const auto add = [&](BlockId block, const std::string& part) {
    texts[block] += (texts[block].empty() ? "" : ", ") + part;
  };
  for (const auto& call : procedure.calls) add(call.block, "calls " + name_of(call.callee, "?"));
  for (const auto& site : procedure.indirect)
    add(site.block, fmt::format("last to {}, {} changes", name_of(site.target, "outside"),
                                grouped(site.changes)));
  for (const auto& edge : procedure.edges)
    add(edge.from, fmt::format("{}{}: {}", kWords[static_cast<size_t>(edge.kind)], edge.to,
                               grouped(edge.count)));
  return texts;
}

void print_procedure(const ProcedureProfile& procedure,
                     const std::map<uint64_t, std::string>& names) {
  fmt::print("\n{} at {:x}: {} instructions executed{}, signature {:016x}\n",
             printable(procedure.name), procedure.address, grouped(procedure.instructions()),
             procedure.exact ? "" : ", not exact", procedure.signature);
  fmt::print("{:>7} {:>12} {:>12} {:>16}  {}\n", "block", "address", "instructions", "count",
             "goes on to");
  const std::vector<std::string> ways = ways_on(procedure, names);
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const auto& block = procedure.blocks[b];
    fmt::print("{:>7} {:>12x} {:>12} {:>16}  {}\n", b, block.address, block.instructions,
               grouped(block.count), ways[b]);
  }
}

void run_show(const ShowArguments& arguments) {
  const Profile profile = read_profile(arguments.profile);
  if (arguments.json) return print_json(profile, arguments);
  if (arguments.procedures.empty()) {
    print_summary(profile);
    print_table(profile, arguments);
    return;
  }
  std::map<uint64_t, std::string> names;
  for (const ProcedureProfile& procedure : profile.procedures)
    names.emplace(procedure.address, procedure.name);
  for (const ProcedureProfile* procedure : chosen(profile, arguments))
    print_procedure(*procedure, names);
}

// ---- match ----

struct MatchArguments {
  std::string profile, image, output;
  uint64_t top = 10;
  bool json = false;
};

/// A procedure of the older profile: its executed instructions, and how many found no sure place.
struct Loss {
  const ProcedureProfile* before = nullptr;
  const ProcedureProfile* now = nullptr;  // its partner; nullptr: none
  double confidence = 0;
  double executed = 0;
  double lost() const { return executed * (1 - confidence); }
};

/// All procedures that ran, sorted by lost(), the largest first.
std::vector<Loss> losses(const Profile& before, const MatchResult& match) {
  std::vector<Loss> result(before.procedures.size());
  for (size_t p = 0; p < result.size(); ++p) {
    result[p].before = &before.procedures[p];
    result[p].executed = static_cast<double>(before.procedures[p].instructions());
  }
  for (size_t p = 0; p < match.procedures.size(); ++p) {
    if (match.procedures[p].before == kNone) continue;
    Loss& loss = result[match.procedures[p].before];
    loss.now = &match.profile.procedures[p];
    loss.confidence = match.procedures[p].confidence;
  }
  std::erase_if(result, [](const Loss& loss) { return !loss.before->entered(); });
  std::stable_sort(result.begin(), result.end(),
                   [](const Loss& a, const Loss& b) { return a.lost() > b.lost(); });
  return result;
}

void print_match_json(const Profile& before, const MatchResult& match) {
  Json json = match_to_json(match);
  Json& procedures = json["procedure_list"] = Json::array();
  for (const Loss& loss : losses(before, match)) {
    Json entry = {{"name", loss.before->name},
                  {"address", loss.before->address},
                  {"instructions", loss.before->instructions()},
                  {"confidence", loss.confidence}};
    if (loss.now != nullptr) {
      entry["new_name"] = loss.now->name;
      entry["new_address"] = loss.now->address;
    }
    procedures.push_back(std::move(entry));
  }
  fmt::print("{}\n", text_of(json));
}

void print_match(const Profile& before, const MatchResult& match, uint64_t top) {
  fmt::print("procedures    {} of {} matched\n", grouped(match.procedures_matched),
             grouped(match.procedures_before));
  fmt::print("executed      {} of {} matched, with {} of what was executed\n",
             grouped(match.entered_matched), grouped(match.entered_before),
             percent(match.instructions_matched, match.instructions_before));
  fmt::print("confidence    {}\n", percent(match.confidence, 1));
  uint64_t rows = 0;
  for (const Loss& loss : losses(before, match)) {
    if (loss.lost() == 0 || rows == top) break;
    if (rows++ == 0) fmt::print("\n{:>10} {:>10}  {}\n", "executed", "confidence", "procedure");
    const std::string now = loss.now == nullptr ? "  (not there)"
                            : loss.now->name == loss.before->name
                                ? ""
                                : "  (now " + printable(loss.now->name) + ")";
    fmt::print("{:>10} {:>10}  {}{}\n", percent(loss.executed, match.instructions_before),
               percent(loss.confidence, 1), printable(loss.before->name), now);
  }
}

void run_match(const MatchArguments& arguments) {
  refuse_overwriting(arguments.output, {arguments.image});
  Diagnostics diagnostics;
  const Profile before = read_profile(arguments.profile);
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_machine(image);
  const MatchResult match = match_image(before, arguments.profile, image, diagnostics);
  write_profile(arguments.output, match.profile);
  if (arguments.json)
    print_match_json(before, match);
  else
    print_match(before, match, arguments.top);
  print_warnings(diagnostics);
}

// ---- merge ----

struct MergeArguments {
  std::vector<std::string> profiles;
  std::string output;
};

/// Splits PROFILE or PROFILE:WEIGHT. Text behind the last colon that is no number belongs to the
/// name.
std::pair<std::string, double> weighted(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, 1.0};
  double weight = 0;
  const auto [end, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), weight);
  if (error != std::errc() || end != text.data() + text.size()) return {text, 1.0};
  return {text.substr(0, colon), weight};
}

std::string weight_problem(const std::string& text) {
  const double weight = weighted(text).second;
  return std::isfinite(weight) && weight >= 0 ? "" : "a weight is a number from 0 on: " + text;
}

void run_merge(const MergeArguments& arguments) {
  std::vector<Profile> profiles;
  std::vector<double> weights;
  std::vector<std::string> names;
  for (const std::string& text : arguments.profiles) {
    const auto [name, weight] = weighted(text);
    refuse_overwriting(arguments.output, {name});
    profiles.push_back(read_profile(name));
    weights.push_back(weight);
    names.push_back(name);
  }
  std::vector<std::optional<MatchResult>> matches;
  write_profile(arguments.output, merge_builds(profiles, weights, names, &matches));
  Diagnostics diagnostics;
  for (size_t i = 0; i < matches.size(); ++i)
    if (matches[i]) diagnostics.warn(fmt::format("{}: {}", names[i], match_text(*matches[i])));
  print_warnings(diagnostics);
}

}  // namespace

void add_profile_commands(CLI::App& app) {
  CLI::App* profile = app.add_subcommand("profile", "Work on profiles");
  profile->require_subcommand(1);

  CLI::App* show = profile->add_subcommand("show", "What ran how often, hottest first");
  auto show_arguments = std::make_shared<ShowArguments>();
  show->callback([show_arguments] { run_show(*show_arguments); });
  show->add_option("PROFILE", show_arguments->profile, "profile")->required();
  show->add_option("--procedure", show_arguments->procedures,
                   "blocks and edges of this procedure (repeatable)")
      ->allow_extra_args(false);
  show->add_option("--top", show_arguments->top, "how many procedures to list; 0: all")
      ->check(whole_number())
      ->capture_default_str();
  show->add_flag("--json", show_arguments->json, "print JSON, always of all procedures");

  CLI::App* match = profile->add_subcommand("match", "Carry a profile over to another build");
  auto match_arguments = std::make_shared<MatchArguments>();
  match->callback([match_arguments] { run_match(*match_arguments); });
  match->add_option("PROFILE", match_arguments->profile, "profile of the older build")->required();
  match->add_option("IMAGE", match_arguments->image, "the newer build")->required();
  match->add_option("-o,--output", match_arguments->output, "profile to write")->required();
  match
      ->add_option("--top", match_arguments->top,
                   "how many of the procedures with doubtful counts to list")
      ->capture_default_str();
  match->add_flag("--json", match_arguments->json, "print JSON, of all procedures that ran");

  CLI::App* merge = profile->add_subcommand(
      "merge", "Add profiles of the same image, or of several builds of it");
  auto merge_arguments = std::make_shared<MergeArguments>();
  merge->callback([merge_arguments] { run_merge(*merge_arguments); });
  merge
      ->add_option("PROFILE[:WEIGHT]", merge_arguments->profiles,
                   "profile, and what its counts are multiplied by (1)")
      ->required()
      ->check(CLI::Validator(weight_problem, ""));
  add_output_option(*merge, merge_arguments->output, "profile to write");
}

}  // namespace respike::cli
