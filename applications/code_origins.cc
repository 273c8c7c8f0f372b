// Follows the rewriting of an image (optimizer/replay/rewritten.h), which proves for each piece of the
// version's code which block of the original it runs, wherever the piece stands: in place of its
// procedure, in an added segment, in the hot part of a split procedure. Code that corresponds to no
// block of the original, such as stubs between far pieces, has the version's own name for it.
//
// Example: `sum` is at 0x1000 in the original; in the version its loop is at 0x9000 and its rare
// error path at 0x20040. in_original(0x1000), in_optimized(0x9000) and in_optimized(0x20040) are
// "sum".

#include "applications/code_origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "optimizer/base/error.h"
#include "optimizer/replay/rewritten.h"

namespace respike {
namespace {

/// The names of a program's procedures; those that share a name are distinguished by address.
std::vector<std::string> names_of(const Program& program) {
  std::map<std::string_view, int> times;
  for (const Procedure& procedure : program.procedures) ++times[procedure.name];
  std::vector<std::string> names;
  for (const Procedure& procedure : program.procedures)
    names.push_back(times[procedure.name] == 1
                        ? procedure.name
                        : fmt::format("{}@{:x}", procedure.name, procedure.address));
  return names;
}

}  // namespace

CodeOrigins::CodeOrigins(const std::filesystem::path& original,
                         const std::filesystem::path& optimized, Diagnostics& diagnostics)
    : before_(read_image(original)), after_(read_image(optimized)) {
  const Image before = read_image(original), after = read_image(optimized);
  try {
    Diagnostics known;  // registering has reported opaque procedures
    const RewrittenProgram both = follow_rewriting(before, after, nullptr, known);
    const std::vector<std::string> names = names_of(both.before), added = names_of(both.after);
    for (const CodeRange& range : both.before.ranges)
      pieces_before_.push_back({range.start, range.end, names[range.procedure]});
    for (const CodePiece& piece : both.pieces)
      if (piece.procedure != kNone || piece.after_procedure != kNone)
        pieces_after_.push_back(
            {piece.address, piece.address + piece.size,
             piece.procedure != kNone ? names[piece.procedure] : added[piece.after_procedure]});
  } catch (const Error& error) {
    pieces_before_.clear();
    pieces_after_.clear();
    diagnostics.warn(fmt::format("procedures of {} are compared by their symbols: {}",
                                 original.string(), error.what()));
  }
}

std::string CodeOrigins::name(const measure::SymbolNames& symbols, const Pieces& pieces,
                              uint64_t offset) {
  if (const auto address = symbols.address_of(offset)) {
    auto after = std::ranges::upper_bound(pieces, *address, {}, &Piece::start);
    if (after != pieces.begin() && *address < (--after)->end) return after->name;
  }
  return symbols.at(offset);
}

}  // namespace respike
