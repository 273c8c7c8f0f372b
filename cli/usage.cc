// The parser knows that there is an extra word or that an option is missing, but not what the user
// meant. When it requires a command, it does not look at the word in the command's place. This file
// recognizes common mistakes:
//
//   image optimize prog fast     give the output with -o: -o fast
//   measure prog                 the program stands behind --: respike measure -- prog
//   exec prog make check         the command stands behind --: respike exec prog -- make check
//   image optimize p --layout    --layout needs a value
//   verify prog fast             unknown command verify, did you mean respike image verify? ...
//   compare prog                 give two programs: respike compare BEFORE AFTER; ...
//   optimize prog -o fast        of an image: respike image optimize prog -o fast
//   optimise prog                unknown command optimise, did you mean optimize? ...
//
// The sentences are Respike's own: the parser's English is not read, except for the name of an
// option before a colon.

#include "cli/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/arguments.h"

namespace respike::cli {
namespace {

/// The number of letters to add, drop, change or swap with a neighbour to get from one word to the
/// other (Damerau).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> least(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& best = least[i][j] = std::max(i, j);
      if (i == 0 || j == 0) continue;
      best = std::min(
          {least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, least[i - 2][j - 2] + 1);
    }
  return least[a.size()][b.size()];
}

/// ", did you mean X?", if one of the `known` words is close to `word`.
std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const auto far = [&](const std::string& other) { return distance(word, other); };
  const auto best = std::ranges::min_element(known, {}, far);
  if (best == known.end() || far(*best) > std::max<size_t>(1, word.size() / 3)) return "";
  return fmt::format(", did you mean {}?", *best);
}

std::vector<std::string> commands_of(const CLI::App& group) {
  std::vector<std::string> names;
  for (const CLI::App* command : group.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_group() != kHidden) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool has_command(const CLI::App& group, const std::string& name) {
  return !group
              .get_subcommands([&](const CLI::App* command) { return command->get_name() == name; })
              .empty();
}

/// ", did you mean respike GROUP WORD?", if another group has a command of that name.
std::string other_group(const CLI::App& app, const CLI::App& group, const std::string& word) {
  if (&group != &app && has_command(app, word))
    return fmt::format(", did you mean respike {}?", word);
  for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; }))
    if (other != &group && has_command(*other, word))
      return fmt::format(", did you mean respike {} {}?", other->get_name(), word);
  return "";
}

std::string missing_command(const CLI::App& app, const CLI::App& group,
                            const std::vector<std::string>& extra) {
  const std::vector<std::string> commands = commands_of(group);
  const std::string known = fmt::format("the commands are {}", fmt::join(commands, ", "));
  if (extra.empty()) return "no command: " + known;
  const bool option = extra[0].starts_with('-');
  std::string meant = option ? "" : other_group(app, group, extra[0]);
  if (meant.empty()) meant = suggestion(extra[0], option ? options_of(group) : commands);
  return fmt::format("unknown {} {}{} {}", option ? "option" : "command", extra[0],
                     meant.empty() ? ":" : meant, known);
}

/// The message for words of a measured program before "--", or without "--".
std::string misplaced_words(std::string_view command, const CLI::App& group,
                            const std::vector<std::string>& extra) {
  if (command == "measure")
    return fmt::format(
        "the program stands behind --: respike measure -- {}",
        extra.empty() ? "PROGRAM [ARGS...]" : fmt::format("{}", fmt::join(extra, " ")));
  if (extra.empty()) return "";
  if (command == "exec")
    return fmt::format("the command stands behind --: respike exec {} -- {}",
                       group.get_option("NAME")->as<std::string>(), fmt::join(extra, " "));
  if (command == "check")
    return fmt::format("the program's arguments stand behind --: respike check {} -- {}",
                       group.get_option("NAME")->as<std::string>(), fmt::join(extra, " "));
  if (group.get_option("AFTER")->count() == 0) return "";
  return fmt::format("the programs' arguments stand behind --: respike compare {} {} -- {}",
                     group.get_option("BEFORE")->as<std::string>(),
                     group.get_option("AFTER")->as<std::string>(), fmt::join(extra, " "));
}

/// The message for an output that belongs to the command of the same name for images; empty when
/// there is none.
std::string misplaced_output(const CLI::App& app, const CLI::App& group,
                             const std::vector<std::string>& extra) {
  const bool output = std::ranges::any_of(
      extra, [](const auto& w) { return w == "-o" || w.starts_with("--output"); });
  const CLI::Option* name = group.get_option_no_throw("NAME");
  const auto images =
      app.get_subcommands([](const CLI::App* c) { return c->get_name() == "image"; });
  if (!output || group.get_parent() != &app || name == nullptr || images.empty() ||
      !has_command(*images[0], group.get_name()))
    return "";
  return fmt::format("not expected: {0}; of an image: respike image {1} {2} {0}",
                     fmt::join(extra, " "), group.get_name(), name->as<std::string>());
}

std::string missing_output(const std::vector<std::string>& extra) {
  const bool named = extra.size() == 1 && !extra[0].starts_with('-');
  return named ? fmt::format("give the output with -o: -o {}", extra[0])
               : std::string("give the output with -o FILE");
}

// ---- the parser's errors, identified by the state of the options and not by their English ----

bool is_given(const CLI::Option* option) {
  return option->count() != 0;
}

/// The option with which the error begins ("--layout: ..."), of the command or of an enclosing
/// command.
const CLI::Option* option_of(const CLI::App* group, const CLI::ParseError& error) {
  const std::string_view text = error.what();
  const std::string name(text.substr(0, text.find(':')));
  for (; group != nullptr; group = group->get_parent())
    if (const CLI::Option* option = group->get_option_no_throw(name)) return option;
  return nullptr;
}

/// For an option that has too few values or too many.
std::string wrong_number(const CLI::App& group, const CLI::ParseError& error) {
  const CLI::Option* option = option_of(&group, error);
  if (option == nullptr) return "a value is missing, or is one too many";
  if (int(option->count()) > option->get_items_expected_max())
    return fmt::format("{} is given more than once", option->get_name());
  return option->get_lnames().empty() || option->get_lnames()[0] != "output"
             ? fmt::format("{} needs a value", option->get_name())
             : missing_output({});
}

std::string missing_argument(const CLI::App& group) {
  for (const CLI::Option* option : group.get_options())
    if (option->get_required() && !is_given(option))
      return fmt::format("{} is missing", option->get_name());
  return "an argument is missing";
}

/// For options that require or exclude each other.
std::string conflict(const CLI::App& group) {
  for (const CLI::Option* option : group.get_options()) {
    if (!is_given(option)) continue;
    for (const CLI::Option* other : option->get_needs())
      if (!is_given(other))
        return fmt::format("{} needs {}", option->get_name(), other->get_name());
    for (const CLI::Option* other : option->get_excludes())
      if (is_given(other))
        return fmt::format("{} and {} exclude each other", option->get_name(), other->get_name());
  }
  return "options exclude each other";
}

/// For values that the parser itself cannot read: "--json=maybe".
std::string unreadable_value(const CLI::App& group) {
  for (const CLI::App* app = &group; app != nullptr; app = app->get_parent())
    for (const CLI::Option* option : app->get_options())
      if (is_given(option) && option->get_items_expected_max() == 0)
        for (const std::string& value : option->results())
          if (value != "true") return fmt::format("{} takes no value", option->get_name());
  return "a value cannot be understood";
}

/// `group`: the command that the words name so far.
std::string problem_of(const CLI::App& app, const CLI::App* group, const CLI::ParseError& error) {
  const std::vector<std::string> extra = app.remaining(true);
  if (group->get_require_subcommand_min() != 0) return missing_command(app, *group, extra);
  const bool too_many = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool too_few = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::string name = group->get_name();
  // An unknown option that is close to a known option is mistyped, even if something else is
  // missing.
  const auto option =
      std::ranges::find_if(extra, [](const auto& w) { return w.starts_with("--"); });
  const std::string flag = option == extra.end() ? "" : option->substr(0, option->find('='));
  const std::string meant = flag.empty() ? "" : suggestion(flag, options_of(*group));
  if ((too_many || too_few) && !meant.empty())
    return fmt::format("unknown option {}{}", flag, meant);
  if (const std::string text = misplaced_output(app, *group, extra); too_many && !text.empty())
    return text;
  if (too_many && !extra.empty() && extra[0].starts_with('-') && extra[0].size() > 1)
    return fmt::format("unknown option {}", extra[0].substr(0, extra[0].find('=')));
  if ((too_many || too_few) &&
      (name == "measure" || name == "compare" || name == "check" || name == "exec"))
    if (const std::string text = misplaced_words(name, *group, extra); !text.empty()) return text;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return wrong_number(*group, error);
  const CLI::Option* output = group->get_option_no_throw("--output");
  if (too_few && output != nullptr && output->get_required() && !is_given(output))
    return missing_output(extra);
  if (too_many && !extra.empty()) return fmt::format("not expected: {}", fmt::join(extra, " "));
  if (too_few) return missing_argument(*group);
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr ||
      dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return conflict(*group);
  // The commands throw these themselves, and so do the validators of arguments.cc.
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return error.what();
  return unreadable_value(*group);
}

}  // namespace

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* group = &app;
  std::string command;
  while (!group->get_subcommands().empty()) {
    group = group->get_subcommands().back();
    command += (command.empty() ? "" : " ") + group->get_name();
  }
  return (command.empty() ? "" : command + ": ") + problem_of(app, group, error);
}

}  // namespace respike::cli
