// respike profile annotate: counts beside source lines, as text or as one HTML file.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "applications/file_checks.h"
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/messages.h"
#include "optimizer/debug/debug_file.h"
#include "optimizer/profile/matching/carried_profile.h"
#include "views/source_counts.h"
#include "views/source_text.h"

namespace respike::cli {
namespace {

struct AnnotateArguments {
  std::string profile, image, debug_file, output;
  std::vector<std::string> procedures;
  uint64_t top = 10;
  bool html = false;
};

/// A shown part of a file: lines around lines that ran.
struct ShownLine {
  uint32_t number = 0;
  std::string text;
  const SourceLine* counts = nullptr;
};

constexpr uint32_t kContext = 3;  // lines around lines that ran

/// The lines with code, and with `source` the lines around those that ran.
std::vector<ShownLine> shown_lines(const SourceFile& file,
                                   const std::optional<std::vector<std::string>>& source) {
  std::vector<ShownLine> shown;
  const auto show = [&](uint32_t number) {
    if (number == 0 || (!shown.empty() && number <= shown.back().number)) return;
    ShownLine line{number, {}, nullptr};
    if (source && number <= source->size()) line.text = (*source)[number - 1];
    if (const auto counts = file.lines.find(number); counts != file.lines.end())
      line.counts = &counts->second;
    shown.push_back(std::move(line));
  };
  for (const auto& [number, counts] : file.lines) {
    if (number == 0 || (counts.count == 0 && source)) continue;
    const uint32_t before = source ? std::min(number - 1, kContext) : 0;
    const uint32_t behind = source ? kContext : 0;
    const auto last = source ? static_cast<uint32_t>(source->size()) : number;
    const uint64_t end = std::min(uint64_t{number} + behind, uint64_t{std::max(last, number)});
    for (uint64_t i = number - before; i <= end; ++i) show(static_cast<uint32_t>(i));
  }
  return shown;
}

std::string name_of_file(const SourceFile& file) {
  return file.path.empty() ? "code without lines" : printable(file.path);
}

double total_of(const std::vector<SourceFile>& files) {
  double total = 0;
  for (const SourceFile& file : files) total += static_cast<double>(file.instructions);
  return total;
}

std::string as_text(const std::vector<SourceFile>& files, uint64_t top) {
  const double total = total_of(files);
  std::string text;
  const auto out = std::back_inserter(text);
  for (uint64_t i = 0; i < files.size() && (top == 0 || i < top); ++i) {
    const SourceFile& file = files[i];
    fmt::format_to(out, "{}{}: {} instructions, {}\n", i == 0 ? "" : "\n", name_of_file(file),
                   grouped(file.instructions),
                   percent(static_cast<double>(file.instructions), total));
    if (file.path.empty()) continue;
    const auto source = read_source(file.path);
    if (!source) fmt::format_to(out, "(the file cannot be read: its lines by number)\n");
    fmt::format_to(out, "{:>16} {:>8} {:>6}\n", "count", "share", "line");
    uint32_t last = 0;
    for (const ShownLine& line : shown_lines(file, source)) {
      if (last != 0 && line.number != last + 1 && source) text += "        ...\n";
      last = line.number;
      const bool counted = line.counts != nullptr;
      fmt::format_to(out, "{:>16} {:>8} {:>6}  {}\n", counted ? grouped(line.counts->count) : "",
                     counted ? percent(static_cast<double>(line.counts->instructions), total) : "",
                     line.number, printable(line.text));
    }
  }
  if (top != 0 && files.size() > top)
    fmt::format_to(out, "\n{} of {} files; --top 0 shows all\n", grouped(top),
                   grouped(files.size()));
  return text;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

constexpr const char* kStyle = R"(
body { font-family: sans-serif; margin: 1.5em; color: #222; background: #fff; }
table { border-collapse: collapse; font-family: monospace; font-size: 90%; }
td, th { padding: 0 0.6em; text-align: right; white-space: pre; }
td:last-child, th:last-child { text-align: left; }
tr.never td { color: #888; }
tr.gap td { color: #888; text-align: left; }
h2 { font-size: 110%; margin: 1.6em 0 0.4em; }
)";

/// The background of a line: white for 0, red for the hottest line.
std::string heat(double share, double hottest) {
  const double part = hottest == 0 ? 0 : std::sqrt(share / hottest);
  return fmt::format("background:rgba(230,80,40,{:.2f})", 0.6 * part);
}

std::string as_html(const std::vector<SourceFile>& files, const std::string& image, uint64_t top) {
  const double total = total_of(files);
  double hottest = 0;
  for (const SourceFile& file : files)
    for (const auto& [number, counts] : file.lines)
      hottest = std::max(hottest, static_cast<double>(counts.instructions));
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}: counts by "
      "source line</title><style>{1}</style></head>\n<body><h1>{0}: counts by source line</h1>\n"
      "<p>count: of the block that ran most often, of those with code of the line. share: of all "
      "executed instructions.</p>\n",
      escaped(printable(image)), kStyle);
  const auto out = std::back_inserter(text);
  const size_t count = top == 0 ? files.size() : std::min<size_t>(files.size(), top);
  text += "<ul>\n";
  for (size_t i = 0; i < count; ++i)
    fmt::format_to(out, "<li><a href=\"#file{}\">{}</a>: {}</li>\n", i,
                   escaped(name_of_file(files[i])),
                   percent(static_cast<double>(files[i].instructions), total));
  text += "</ul>\n";
  if (count < files.size())
    fmt::format_to(out, "<p>{} of {} files; --top 0 shows all.</p>\n", grouped(count),
                   grouped(files.size()));
  for (size_t i = 0; i < count; ++i) {
    const SourceFile& file = files[i];
    fmt::format_to(out, "<h2 id=\"file{}\">{}</h2>\n", i, escaped(name_of_file(file)));
    if (file.path.empty()) continue;
    const auto source = read_source(file.path);
    if (!source) text += "<p>The file cannot be read: its lines by number.</p>\n";
    text += "<table><tr><th>count</th><th>share</th><th>line</th><th>source</th></tr>\n";
    uint32_t last = 0;
    for (const ShownLine& line : shown_lines(file, source)) {
      if (last != 0 && line.number != last + 1 && source)
        text += "<tr class=\"gap\"><td colspan=\"4\">…</td></tr>\n";
      last = line.number;
      const bool counted = line.counts != nullptr;
      const double instructions = counted ? static_cast<double>(line.counts->instructions) : 0;
      fmt::format_to(out, "<tr{} style=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                     counted && line.counts->count == 0 ? " class=\"never\"" : "",
                     heat(instructions, hottest), counted ? grouped(line.counts->count) : "",
                     counted ? percent(instructions, total) : "", line.number,
                     escaped(printable(line.text)));
    }
    text += "</table>\n";
  }
  return text + "</body></html>\n";
}

void run_annotate(AnnotateArguments& arguments) {
  if (arguments.image.empty()) arguments.image = read_profile(arguments.profile).image_path;
  if (!arguments.output.empty())
    refuse_overwriting(arguments.output,
                       {arguments.profile, arguments.image, arguments.debug_file});
  Diagnostics diagnostics;
  const Image image = read_image(std::filesystem::path(arguments.image));
  require_machine(image);
  const FittedProfile fitted = read_fitting_profile(arguments.profile, image, diagnostics);
  std::optional<Image> debug;
  if (!arguments.debug_file.empty()) {
    debug = read_image(std::filesystem::path(arguments.debug_file));
    require_debug_file(image, *debug);
  }
  const auto files = counts_by_source(image, fitted.profile, arguments.procedures,
                                      arguments.profile, debug ? &*debug : nullptr);
  const std::string text = arguments.html ? as_html(files, arguments.image, arguments.top)
                                          : as_text(files, arguments.top);
  if (arguments.output.empty()) {
    fmt::print("{}", text);
  } else {
    const std::vector<OutputFile> outputs = {{arguments.output, bytes_of(text), {}}};
    write_files(outputs);
  }
  print_warnings(diagnostics);
}

}  // namespace

void add_annotate_command(CLI::App& profile) {
  CLI::App* annotate = profile.add_subcommand("annotate", "Counts beside source lines");
  auto arguments = std::make_shared<AnnotateArguments>();
  annotate->callback([arguments] { run_annotate(*arguments); });
  annotate->add_option("PROFILE", arguments->profile, "profile")->required();
  annotate->add_option("IMAGE", arguments->image, "image with line tables (-g)")
      ->default_str("the image that the profile names");
  annotate
      ->add_option("--debug-file", arguments->debug_file,
                   "the debug information of IMAGE, which is in this file")
      ->check(name_of("FILE"));
  annotate
      ->add_option("--procedure", arguments->procedures, "only code of this procedure (repeatable)")
      ->allow_extra_args(false);
  annotate->add_option("--top", arguments->top, "how many files to show; 0: all")
      ->check(whole_number())
      ->capture_default_str();
  annotate->add_flag("--html", arguments->html, "write HTML");
  annotate->add_option("-o,--output", arguments->output, "file to write")
      ->check(name_of_output())
      ->default_str("standard output");
}

}  // namespace respike::cli
