// Turns the parser's commands into data, so that help, manual pages and completions say the same as
// the parser and cannot be out of date.
//
// Hidden commands and options have no group, and are left out. Choices come from the type name of
// CLI11's option: "{chain,place}" has the choices chain and place, and the value "chain|place". A
// note with "stands behind --: USAGE" replaces the usage line.
//
// Example: the description of `respike image optimize` has the words {"respike", "image",
// "optimize"}, and its positional IMAGE.

#include "cli/description.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace respike::cli {
namespace {

/// The words of "{a,b,c}".
std::vector<std::string> choices_of(const std::string& text) {
  std::vector<std::string> choices;
  if (!text.starts_with('{') || !text.ends_with('}')) return choices;
  std::istringstream list(text.substr(1, text.size() - 2));
  for (std::string word; std::getline(list, word, ',');) choices.push_back(word);
  return choices;
}

/// The part of a type name such as "TEXT:FILE" that the user has to give: FILE.
std::string value_of(const CLI::Option& option) {
  if (option.get_type_size_max() == 0) return "";
  const std::string type = option.get_type_name();
  const size_t colon = type.find(':');
  return colon == type.npos ? type : type.substr(colon + 1);
}

ArgumentDescription describe(const CLI::Option& option) {
  ArgumentDescription result;
  result.name = option.get_positional() ? option.get_name(true, false) : "";
  for (const std::string& name : option.get_snames()) result.flags.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.flags.push_back("--" + name);
  result.value = value_of(option);
  result.choices = choices_of(result.value);
  if (!result.choices.empty()) result.value = fmt::format("{}", fmt::join(result.choices, "|"));
  result.text = option.get_description();
  result.standard = result.value.empty() ? "" : option.get_default_str();
  result.required = option.get_required();
  result.repeated = option.get_items_expected_max() > 1;
  return result;
}

CommandDescription describe(const CLI::App& app, std::vector<std::string> words) {
  CommandDescription result;
  words.push_back(app.get_name());
  result.words = words;
  result.summary = app.get_description();
  result.group = app.get_group();
  std::istringstream notes(app.get_footer());
  for (std::string line; std::getline(notes, line);)
    if (!line.empty()) result.notes.push_back(line);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? result.positionals : result.options).push_back(describe(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) result.commands.push_back(describe(*command, words));
  return result;
}

}  // namespace

std::string CommandDescription::name() const {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string CommandDescription::usage() const {
  for (const std::string& note : notes)
    if (const size_t at = note.find("stands behind --: "); at != note.npos)
      return note.substr(note.find(": ", at) + 2);
  std::string text = name();
  if (std::ranges::any_of(options, [](const auto& o) { return o.flags.back() != "--help"; }))
    text += " [OPTIONS]";
  if (!commands.empty()) text += " COMMAND";
  for (const ArgumentDescription& each : positionals) {
    const std::string word = each.name + (each.repeated ? "..." : "");
    text += each.required ? " " + word : " [" + word + "]";
  }
  return text;
}

const CommandDescription* CommandDescription::command(const std::string& word) const {
  for (const CommandDescription& each : commands)
    if (each.words.back() == word) return &each;
  return nullptr;
}

CommandDescription describe(const CLI::App& app) {
  return describe(app, {});
}

}  // namespace respike::cli
