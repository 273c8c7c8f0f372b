#pragma once
// Manual pages, one for each command, in the macros of man(7).

#include <string>

#include "cli/description.h"

namespace respike::cli {

/// The name of a command's page, without the section: "respike-image-optimize".
std::string page_name(const CommandDescription& command);
/// The page of a command. `root`: all commands, which the page of `respike` lists.
std::string manual_page(const CommandDescription& command, const CommandDescription& root);

}  // namespace respike::cli
