// Writes manual pages as roff source with the macros of man(7), one page for each command, from the
// description of the command (description.h).
//
// In roff a line that begins with "." or "'" is a request, "\" begins an escape, and "-" is a
// hyphen that may be set as another character. roff_text() escapes all three, so that texts of
// commands appear literally and options can be copied from the page.
//
// Example: the option --image with the value FILE has the heading "\fB\-\-image\fR \fIFILE\fR".

#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "respike_version.h"

namespace respike::cli {
namespace {

/// Escapes text for roff: hyphens and backslashes stay literal, and no line starts with a control
/// character.
std::string roff_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n'))
      result += fmt::format("\\&{}", c);
    else
      result += c;
  }
  return result;
}

/// "\fB\-\-image\fR \fIFILE\fR".
std::string heading(const ArgumentDescription& argument) {
  if (argument.flags.empty()) return "\\fI" + roff_text(argument.name) + "\\fR";
  std::vector<std::string> flags;
  for (const std::string& flag : argument.flags) flags.push_back("\\fB" + roff_text(flag) + "\\fR");
  std::string text = fmt::format("{}", fmt::join(flags, ", "));
  if (!argument.value.empty()) text += " \\fI" + roff_text(argument.value) + "\\fR";
  return text;
}

std::string item(const ArgumentDescription& argument) {
  std::string text = argument.text;
  if (!argument.standard.empty()) text += fmt::format(" (default {})", argument.standard);
  return fmt::format(".TP\n{}\n{}\n", heading(argument), roff_text(text));
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

std::string command_list(const CommandDescription& command) {
  std::string text;
  for (const CommandDescription& each : command.commands)
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff_text(page_name(each)),
                        roff_text(sentence(each.summary)));
  return text;
}

}  // namespace

std::string page_name(const CommandDescription& command) {
  return fmt::format("{}", fmt::join(command.words, "-"));
}

std::string manual_page(const CommandDescription& command, const CommandDescription& root) {
  const std::string name = page_name(command);
  std::string text =
      fmt::format(".TH {} 1 \"\" \"Respike {}\" \"Respike\"\n", upper(name), kVersion);
  std::string summary = command.summary;
  if (!summary.empty() && summary.back() == '.') summary.pop_back();
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff_text(name), roff_text(summary));
  text += fmt::format(".SH SYNOPSIS\n.nf\n{}\n.fi\n", roff_text(command.usage()));
  text += fmt::format(".SH DESCRIPTION\n{}\n", roff_text(sentence(command.summary)));
  for (const std::string& note : command.notes) text += ".PP\n" + roff_text(note) + "\n";
  if (!command.positionals.empty()) {
    text += ".SH ARGUMENTS\n";
    for (const ArgumentDescription& each : command.positionals) text += item(each);
  }
  text += ".SH OPTIONS\n";
  for (const ArgumentDescription& each : command.options) text += item(each);
  if (!command.commands.empty()) text += ".SH COMMANDS\n" + command_list(command);
  if (&command == &root)
    text +=
        ".SH ENVIRONMENT\n.TP\n\\fBRESPIKE_DB\\fR\nthe database, where \\fB\\-\\-db\\fR does not "
        "name another one\n.TP\n\\fBRESPIKE_TIME_LIMIT\\fR\nthe seconds of processor time that a "
        "command "
        "may take that runs no program (default 600, and 20 for each MB of its inputs); 0: "
        "any\n.SH "
        "EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nthe work could not be done: one "
        "sentence says why\n.TP\n2\nwrong usage\n.PP\nCommands that run programs end as the "
        "programs do, and with 125 when they could not run them.\n"
        ".SH SEE ALSO\n\\fBrespike\\-database\\fR(5), \\fBrespike\\-profile\\fR(5)\n";
  else
    text += ".SH SEE ALSO\n\\fBrespike\\fR(1)\n";
  return text;
}

}  // namespace respike::cli
