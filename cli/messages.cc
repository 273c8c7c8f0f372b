// Messages quote names, which may hold any bytes. Bytes that are not text are made visible here,
// once for all messages, not at each use of a name.

#include "cli/messages.h"

#include <llvm/Demangle/Demangle.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "applications/file_checks.h"
#include "optimizer/base/error.h"

namespace respike::cli {
namespace {

/// The size in bytes of the first character of the text; 0 when the text begins with a control
/// character or with bytes that are not UTF-8.
size_t printing_character(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const size_t size = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (size == 0 || text.size() < size) return 0;
  uint32_t code = first & (0x7fu >> size);
  for (size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(at) & 0x3fu);
  }
  const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};  // below 0xa0: control characters
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[size] || code > 0x10ffff || surrogate ? 0 : size;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t size = printing_character(text);
    if (size != 0)
      result += text.substr(0, size);
    else if (text[0] == '\n' || text[0] == '\t')
      result += text[0] == '\n' ? "\\n" : "\\t";
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<size_t>(1, size));
  }
  return result;
}

namespace {
std::optional<bool> wants_demangled;  // nullopt: depends on the output
}  // namespace

std::string shown_name(std::string_view name) {
  const bool demangle = wants_demangled.value_or(isatty(STDOUT_FILENO) != 0);
  return printable(demangle ? llvm::demangle(std::string(name)) : name);
}

void add_demangle_option(CLI::App& command) {
  command.add_flag_callback(
      "--demangle", [] { wants_demangled = true; },
      "print names of C++ and Rust as in the source (on terminals by itself)");
  command.add_flag_callback(
      "--no-demangle", [] { wants_demangled = false; }, "print names as symbol tables have them");
}

void complain(std::string_view text) {
  const std::string line = fmt::format("respike: {}\n", printable(text));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_warnings(const Diagnostics& diagnostics) {
  for (const std::string& warning : diagnostics.warnings()) complain("warning: " + warning);
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Json notes_to_json(const std::vector<ProcedureNote>& notes) {
  Json list = Json::array();
  for (const ProcedureNote& note : notes)
    list.push_back({{"name", note.name}, {"reason", note.reason}});
  return list;
}

Json match_to_json(const MatchResult& match) {
  return {{"procedures", match.procedures_before},
          {"matched_procedures", match.procedures_matched},
          {"executed_procedures", match.entered_before},
          {"matched_executed_procedures", match.entered_matched},
          {"matched_share", match.matched_share()},
          {"confidence", match.confidence}};
}

const Listing& require_listing(const Image& image, Syntax syntax) {
  const Listing* listing = find_listing(image.machine, syntax);
  if (listing != nullptr) return *listing;
  require_machine(image);
  throw Error("the code of its machine is listed in one syntax only", image.path);
}

}  // namespace respike::cli
