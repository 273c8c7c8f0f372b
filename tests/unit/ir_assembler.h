#pragma once
// Assembler cases of tests/ir: from the text of a case to a linked image, and from its comments to
// counts and an order of the code. tests/ir/README.md describes the comments.

#include <filesystem>
#include <string>

#include "optimizer/ir/program.h"

namespace respike {

/// Assembles and links the case `source` in `folder`; the path of the image, whose name is that of
/// the case. Throws Error with what the tools say. No path gets into the image.
std::filesystem::path link_assembler_case(const std::filesystem::path& source,
                                          const std::filesystem::path& folder);

/// Sets the counts that the lines `count:` of a case give; other counts stay. Throws Error for
/// lines that name no procedure, block or edge.
void set_given_counts(Program& program, const std::string& text);

/// The order that the lines `fragment:` of a case give. Procedures that these do not name follow in
/// the order of the input.
Layout given_layout(const Program& program, const std::string& text);

/// The program in text form. The instructions of x86-64, of which the text form has only names, are
/// written as a disassembler does. `program` is unchanged afterwards.
std::string print_lifted(Program& program);

}  // namespace respike
