#pragma once
// Printing that the subcommands share.

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
#include "optimizer/pipeline.h"

namespace respike::cli {

using Json = nlohmann::ordered_json;

/// The text with control characters and bytes that are no UTF-8, which would spoil a line of a
/// terminal or a log, written as \n, \t or \x1b.
std::string printable(std::string_view text);
/// Prints "respike: TEXT" as one line on stderr. Ignores errors of stderr.
void complain(std::string_view text);
void print_warnings(const Diagnostics& diagnostics);
/// JSON as text; replaces bytes of names that are no UTF-8, which JSON must be.
std::string text_of(const Json& json);
/// The bytes of a text, to be written to a file; valid as long as the text.
std::span<const uint8_t> bytes_of(std::string_view text);
/// Throws Error when the file `written` is one of `others`, which the command reads or writes, too.
/// Empty names are no files.
void refuse_overwriting(const std::string& written, const std::vector<std::string>& others);
Json notes_to_json(const std::vector<ProcedureNote>& notes);
/// Throws Error when the image is for a machine that cannot be rewritten. Called before other
/// checks, so that nobody gets advice on how to link an image for such a machine.
void require_machine(const Image& image);
/// The Listing of the image's machine; throws Error when there is none.
const Listing& require_listing(const Image& image, Syntax syntax);

}  // namespace respike::cli
