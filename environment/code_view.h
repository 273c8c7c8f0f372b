#pragma once
// The code of an image as blocks with counts and lines of text, for listings and flow graphs.

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

struct CodeLine {
  uint64_t address = 0;  // in the image; kAdded: the lifter added the instruction
  std::string text;      // as objdump prints it
  std::string target;    // what the instruction refers to: "memcpy", "main:3"; empty: nothing
  static constexpr uint64_t kAdded = ~uint64_t{0};
};

struct CodeEdge {
  BlockId to = kNone;
  Edge::Kind kind{};
  uint64_t count = 0;
};

struct CodeBlock {
  uint64_t address = 0;
  uint64_t count = 0;
  std::vector<CodeEdge> edges;
  std::vector<CodeLine> lines;
};

struct CodeView {
  ProcedureId procedure = kNone;
  std::string name;
  uint64_t address = 0, size = 0;
  std::string left_alone;  // "opaque: ..." or "pinned: ..."; empty: the procedure can move
  std::vector<CodeBlock> blocks;
};

/// A procedure of a lifted program, with the counts that the program has. Parts of instructions
/// (InstructionFacts::prefix) and pseudo-instructions have no lines.
CodeView view_code(const Program& program, ProcedureId procedure);

/// "memcpy", "main:3", "return of main:3", "0x120000000".
std::string location_text(const Program& program, const CodeLocation& location);

}  // namespace respike
