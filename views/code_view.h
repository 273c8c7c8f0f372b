#pragma once
// The code of an image as blocks with counts and lines of text, for listings and flow graphs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/replay/rewritten.h"

namespace respike {

/// The start of a block that an instruction refers to.
struct CodeTarget {
  uint64_t procedure = 0;  // address in the original image
  BlockId block = kNone;   // block of the view that holds the instruction; kNone: of another
                           // procedure
};

struct CodeLine {
  uint64_t address = 0;  // in the image; kAdded: the lifter added the instruction
  std::string text;      // as objdump prints it
  std::string target;    // what the instruction refers to: "memcpy", "main:3"; empty: nothing
  std::optional<CodeTarget> place;  // the same, if the target is the start of a block
  std::string taken_out;            // why the hot part lacks the instruction; empty: the hot part
                                    // has it
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
  std::optional<SplitProcedure::Part> part;  // of a procedure that hot-cold optimization changed
  std::vector<BlockId> originals;            // of an output: blocks of the original that it runs
  std::vector<CodeEdge> edges;
  std::vector<CodeLine> lines;
};

/// The number of instructions that a block executed, at most 2^64 - 1.
uint64_t executed_instructions(const CodeBlock& block);

struct CodeView {
  ProcedureId procedure = kNone;
  std::string name;
  uint64_t address = 0, size = 0;
  std::string left_alone;  // "opaque: ..." or "pinned: ..."; empty: the procedure can move
  std::string taken_out;   // what hot-cold optimization took out of the hot part; empty: nothing
  std::vector<CodeBlock> blocks;
};

/// A procedure of a lifted program, with the program's counts. Parts of instructions
/// (InstructionFacts::prefix) and pseudo-instructions have no lines.
CodeView view_code(const Program& program, ProcedureId procedure);

/// The procedure in an output, with the blocks of the original that each block runs. `procedure` is
/// its number in the original. Throws Error when nothing leads to the procedure.
CodeView view_rewritten_code(const RewrittenProgram& rewritten, ProcedureId procedure);

/// Marks in the view of an original procedure what became of its blocks and instructions.
void mark_changes(CodeView& view, const RewrittenProgram& rewritten);

/// "memcpy", "main:3", "return of main:3", "0x120000000".
std::string location_text(const Program& program, const CodeLocation& location);

}  // namespace respike
