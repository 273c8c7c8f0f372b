// Completions of a shell: what may stand at the cursor.
//
// understand() reads the words before the cursor as the parser would: it follows the names of
// commands, notes an option that still needs its value, collects positional words, and stops at the
// words of another program (after "--", after `run NAME`, or after the first word of a session's
// command). complete() then offers the values of that option, options, subcommands, or values of
// the next positional. Values come from the command's description, or from the database and files
// by a NameSource.
//
// Example: for `respike image optimize --layout=ra` the words of --layout that begin with "ra" are
// offered, each with "--layout=" before it.

#include "cli/completing.h"

#include <algorithm>
#include <string_view>

namespace respike::cli {
namespace {

/// The meaning of the words before the cursor.
struct Place {
  std::vector<const CommandDescription*> path;   // respike, image, optimize
  const ArgumentDescription* pending = nullptr;  // an option that waits for its value
  std::vector<std::string> given;                // positional words of the command
  bool in_program = false;  // the words belong to the program that the command runs
};

/// An option of the command, or of an enclosing command, whose options may also follow the command.
const ArgumentDescription* find_option(const Place& place, std::string_view flag) {
  for (const CommandDescription* command : place.path)
    for (const ArgumentDescription& option : command->options)
      if (std::ranges::find(option.flags, flag) != option.flags.end()) return &option;
  return nullptr;
}

Place understand(const CommandDescription& root, const std::vector<std::string>& words) {
  Place place;
  place.path.push_back(&root);
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    const CommandDescription& command = *place.path.back();
    const bool runs = place.path.size() == 2 &&
                      (command.words.back() == "run" || command.words.back() == "session");
    if (place.in_program) break;
    if (place.pending != nullptr) {
      place.pending = nullptr;
    } else if (word == "--") {
      place.in_program = true;
    } else if (word.starts_with('-') && word.size() > 1) {
      const ArgumentDescription* option = find_option(place, word);
      if (option != nullptr && !option->value.empty()) place.pending = option;
    } else if (const CommandDescription* below = command.command(word)) {
      place.path.push_back(below);
    } else {
      place.given.push_back(word);
      place.in_program = runs;
    }
  }
  return place;
}

void add(Completions& to, const std::vector<std::string>& names) {
  for (const std::string& name : names) to.words.emplace_back(name, "");
}

/// Adds values of an argument: its choices, else names of the kind that its own name says, else
/// files.
void add_values(Completions& to, const ArgumentDescription& argument, const Place& place,
                const NameSource& names) {
  const std::string flag = argument.flags.empty() ? "" : argument.flags.back();
  const std::string first = place.given.empty() ? "" : place.given.front();
  const auto is_application = [](const ArgumentDescription& each) {
    return each.flags.empty() && each.name.starts_with("NAME");
  };
  const auto& positionals = place.path.back()->positionals;
  const bool of_application = !positionals.empty() && is_application(positionals.front());
  if (!argument.choices.empty())
    add(to, argument.choices);
  else if (is_application(argument))
    add(to, names.applications());
  else if (flag == "--image" && of_application)
    add(to, names.images(first));
  else if (flag == "--procedure" || flag == "--only" || flag == "--skip")
    add(to, names.procedures(first));
  else
    to.files = true;
}

/// "--layout=ra" as the two words that it stands for.
std::vector<std::string> split_values(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const std::string& word : words) {
    const size_t at = word.starts_with("--") ? word.find('=') : word.npos;
    all.push_back(word.substr(0, at));
    if (at != word.npos) all.push_back(word.substr(at + 1));
  }
  return all;
}

}  // namespace

Completions complete(const CommandDescription& root, const std::vector<std::string>& typed,
                     const NameSource& names) {
  Completions result;
  const std::vector<std::string> words = split_values(typed);
  const Place place = understand(root, words);
  const std::string word = words.empty() ? "" : words.back();
  const std::string before = !typed.empty() && typed.back() != word
                                 ? typed.back().substr(0, typed.back().size() - word.size())
                                 : "";
  const CommandDescription& command = *place.path.back();
  if (place.in_program) {
    result.files = true;
  } else if (place.pending != nullptr) {
    add_values(result, *place.pending, place, names);
  } else if (word.starts_with('-')) {
    for (const CommandDescription* each : place.path)
      for (const ArgumentDescription& option : each->options)
        result.words.emplace_back(option.flags.back(), option.text);
  } else if (!command.commands.empty()) {
    for (const CommandDescription& each : command.commands)
      result.words.emplace_back(each.words.back(), each.summary);
  } else if (command.words.back() == "help") {
    const CommandDescription* at = &root;
    for (const std::string& each : place.given)
      if (at != nullptr) at = at->command(each);
    if (at != nullptr)
      for (const CommandDescription& each : at->commands)
        result.words.emplace_back(each.words.back(), each.summary);
  } else if (!command.positionals.empty()) {
    const auto& all = command.positionals;
    if (place.given.size() < all.size())
      add_values(result, all[place.given.size()], place, names);
    else if (all.back().repeated)
      add_values(result, all.back(), place, names);
  } else {
    result.files = true;
  }
  std::erase_if(result.words, [&](const auto& each) { return !each.first.starts_with(word); });
  for (auto& each : result.words) each.first = before + each.first;
  return result;
}

}  // namespace respike::cli
