#pragma once
// What the subcommands print alike.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "optimizer/base/diagnostics.h"
#include "optimizer/image/image.h"
#include "optimizer/machine/listing.h"
#include "optimizer/pipeline.h"

namespace respike::cli {

using Json = nlohmann::ordered_json;

/// The text with what would spoil a line of a terminal or a log (control characters, bytes that are
/// no UTF-8) written as \n, \t or \x1b.
std::string printable(std::string_view text);
/// Prints "respike: TEXT" as one line on stderr. That stderr cannot be written changes nothing.
void complain(std::string_view text);
void print_warnings(const Diagnostics& diagnostics);
/// Names need not be UTF-8; JSON must be.
std::string text_of(const Json& json);
/// For files; valid while the text is.
std::span<const uint8_t> bytes_of(std::string_view text);
/// "12.34%"; of nothing, 0.
std::string percent(double part, double whole);
/// 1234567 as 1,234,567.
std::string grouped(uint64_t number);
/// Throws Error when a file to be written is one of the others, which are read or written, too.
/// Empty names are no files.
void refuse_overwriting(const std::string& written, const std::vector<std::string>& others);
Json notes_to_json(const std::vector<ProcedureNote>& notes);
/// Throws Error when the image is for a machine that cannot be rewritten. Asked before anything
/// else, so that an image for another machine is not told how to be linked.
void require_machine(const Image& image);
/// How code of the image is listed; throws the same Error when it cannot even be listed.
const Listing& require_listing(const Image& image);

}  // namespace respike::cli
