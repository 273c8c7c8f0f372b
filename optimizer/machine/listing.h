#pragma once
// Code as a disassembler lists it: all that Respike needs from a machine to show its code. Every
// Machine has a Listing (machines.cc); a machine whose code Respike only reads has only a Listing.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/base/machine_id.h"

namespace respike {

struct Machine;

/// One line of objdump's output.
struct ListedLine {
  uint64_t address = 0;
  std::string code;  // the encoding of the decoded instructions, as objdump shows bytes or words
  std::string text;
  std::optional<uint64_t> target;  // of a direct branch or call
};

class Listing {
 public:
  virtual ~Listing() = default;

  /// Bytes of a unit of code. Bytes after the last whole unit are left out.
  virtual unsigned unit() const = 0;
  /// Appends the lines of the whole units of `code`, which is at `address`, that start before the
  /// offset `end`. Returns the offset after them.
  virtual size_t list(std::span<const uint8_t> code, size_t end, uint64_t address,
                      std::vector<ListedLine>& lines) const = 0;

  void list(std::span<const uint8_t> code, uint64_t address, std::vector<ListedLine>& lines) const {
    list(code, code.size(), address, lines);
  }
};

/// Code of a machine whose groups are words with one instruction each: a line for each group.
class PlainListing final : public Listing {
 public:
  explicit PlainListing(const Machine& machine) : machine_(machine) {}
  unsigned unit() const override;
  using Listing::list;
  size_t list(std::span<const uint8_t> code, size_t end, uint64_t address,
              std::vector<ListedLine>& lines) const override;

 private:
  const Machine& machine_;
};

enum class Syntax : uint8_t {
  gnu,     // of the GNU assembler
  manual,  // of the processor manufacturer's manuals
};

/// nullptr when Respike does not know the machine's code, or not in this syntax.
const Listing* find_listing(MachineId id, Syntax syntax = Syntax::gnu);

}  // namespace respike
