#pragma once
// Printing functions that the subcommands share.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/number_text.h"
#include "optimizer/image/image.h"
#include "optimizer/machine/listing.h"
#include "optimizer/profile/matching/match.h"
#include "optimizer/report/summary.h"

namespace CLI {
class App;
}

namespace respike::cli {

using Json = nlohmann::ordered_json;

/// The text with control characters and bytes that are not UTF-8 written as \n, \t or \x1b: they
/// would spoil a line of a terminal or a log.
std::string printable(std::string_view text);
/// A name of code, demangled on terminals, or as add_demangle_option() says. Example:
/// `_ZN3foo3barEi` becomes `foo::bar(int)`.
std::string shown_name(std::string_view name);
void add_demangle_option(CLI::App& command);
/// Prints "respike: TEXT" as one line on stderr. Ignores errors of stderr.
void complain(std::string_view text);
void print_warnings(const Diagnostics& diagnostics);
/// JSON as text; replaces bytes of names that are not UTF-8, since JSON must be UTF-8.
std::string text_of(const Json& json);
/// The bytes of a text, to be written to a file; valid as long as the text.
std::span<const uint8_t> bytes_of(std::string_view text);
Json notes_to_json(const std::vector<ProcedureNote>& notes);
/// How much of a profile of another build fits.
Json match_to_json(const MatchResult& match);
/// The Listing of the image's machine; throws Error when there is none.
const Listing& require_listing(const Image& image, Syntax syntax);

}  // namespace respike::cli
