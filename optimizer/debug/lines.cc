// The rows of each table go where their instructions are now, and are encoded again.
//
// A table's header, with its names of files, is kept byte for byte. Each piece of moved code keeps
// its rows. Where a piece begins in the middle of a row, it repeats the row, but not as the start
// of a statement: debuggers would count a breakpoint there twice. Rows of removed instructions go
// to the next instruction of their block. A sequence ends where the code of its unit is
// interrupted.
//
// A breakpoint at a line stops at each row of the line, but gdb skips rows that follow another row
// of the same line where one of these has a discriminator. A block that begins with such a row gets
// the row not as a statement, and where a block follows a row of its own line, a sequence ends
// between the two.
//
// LLVM's reader of line tables is not used: it keeps 16 bits of columns and of numbers of files,
// and LLVM has no writer for tables that are already linked.
//
// Example: the rows (0x1040, line 7), (0x1048, line 8), and a block [0x1044, 0x1050) that moves to
// 0x5000. The sequence of the block is (0x5000, line 7, no statement), (0x5004, line 8), end at
// 0x500c.

#include "optimizer/debug/lines.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/base/parallel.h"

namespace respike::debug {
namespace {

namespace dwarf = llvm::dwarf;

struct Row {
  enum Flags : uint8_t {
    kStatement = 1,
    kBasicBlock = 2,
    kPrologueEnd = 4,
    kEpilogueBegin = 8,
    kHidden = 16,  // from gdb, see Decoder::add_row(); no flag of the format
  };
  uint64_t address = 0;
  uint32_t file = 1;
  uint32_t line = 1;
  uint32_t column = 0;
  uint32_t discriminator = 0;
  uint32_t isa = 0;
  uint8_t flags = 0;

  bool same_place(const Row& other) const {
    return same_line(other) && column == other.column && discriminator == other.discriminator &&
           isa == other.isa;
  }
  bool same_line(const Row& other) const { return file == other.file && line == other.line; }
};

/// Consecutive rows of ascending addresses; the code ends at `end`.
struct Sequence {
  std::vector<Row> rows;
  uint64_t end = 0;
};

/// Tables of all versions know the operations up to fixed_advance_pc.
constexpr unsigned kLeastOpcodeBase = dwarf::DW_LNS_fixed_advance_pc + 1;

struct Header {
  uint64_t program = 0;  // offset in the table
  bool is64 = false;     // 64-bit DWARF
  uint8_t instruction_bytes = 1;
  bool default_statement = true;
  int8_t line_base = 0;
  uint8_t line_range = 1;
  uint8_t opcode_base = 1;
  std::vector<uint8_t> operands;  // of standard opcodes
};

Header read_header(std::span<const uint8_t> table) {
  ByteReader reader(table, ".debug_line");
  Header header;
  header.is64 = reader.read<uint32_t>() == dwarf::DW_LENGTH_DWARF64;
  if (header.is64) reader.skip(8);
  const auto version = reader.read<uint16_t>();
  if (version < 2 || version > 5)
    throw Error(fmt::format("a line table has the version {}, which is not known", version));
  if (version == 5) {
    const auto address_size = reader.read<uint8_t>();
    const auto selector_size = reader.read<uint8_t>();
    if (address_size != 8 || selector_size != 0)
      throw Error("a line table has addresses of a size that is not known");
  }
  const uint64_t length = header.is64 ? reader.read<uint64_t>() : reader.read<uint32_t>();
  if (length > reader.remaining()) throw Error("a line table's header is longer than the table");
  header.program = reader.position() + length;
  header.instruction_bytes = reader.read<uint8_t>();
  if (version >= 4 && reader.read<uint8_t>() > 1)
    throw Error("a line table counts several operations of an instruction");
  header.default_statement = reader.read<uint8_t>() != 0;
  header.line_base = static_cast<int8_t>(reader.read<uint8_t>());
  header.line_range = reader.read<uint8_t>();
  header.opcode_base = reader.read<uint8_t>();
  if (header.instruction_bytes == 0 || header.line_range == 0 ||
      header.opcode_base < kLeastOpcodeBase)
    throw Error("a line table's header has a number that none may have");
  for (unsigned i = 1; i < header.opcode_base; ++i)
    header.operands.push_back(reader.read<uint8_t>());
  if (reader.position() > header.program) throw Error("a line table's header is cut off");
  return header;
}

/// Runs the program of a table.
class Decoder {
 public:
  Decoder(std::span<const uint8_t> table, const Header& header)
      : header_(header), reader_(table, ".debug_line") {
    reader_.seek(header.program);
    reset();
  }

  void run() {
    while (!reader_.at_end()) step();
    if (!current_.rows.empty()) throw Error("a line table's last sequence has no end");
  }

  std::vector<Sequence> sequences;
  std::vector<uint8_t> defined_files;  // the operations that define files, in order

 private:
  void reset() {
    row_ = {};
    if (header_.default_statement) row_.flags = Row::kStatement;
    current_ = {};
  }

  void add_row() {
    const bool goes_on = !current_.rows.empty() && current_.rows.back().line == row_.line;
    discriminates_ = row_.discriminator != 0 || (goes_on && discriminates_);
    if (goes_on && discriminates_ && current_.rows.back().file == row_.file)
      row_.flags |= Row::kHidden;
    current_.rows.push_back(row_);
    row_.discriminator = 0;
    row_.flags &= Row::kStatement;
  }

  void end_sequence() {
    current_.end = row_.address;
    const auto by_address = [](const Row& a, const Row& b) { return a.address < b.address; };
    if (!std::ranges::is_sorted(current_.rows, by_address))
      std::ranges::stable_sort(current_.rows, by_address);
    if (!current_.rows.empty() && current_.rows.front().address < current_.end)
      sequences.push_back(std::move(current_));
    reset();
  }

  void advance(uint64_t count) { row_.address += count * header_.instruction_bytes; }

  void step() {
    const auto opcode = reader_.read<uint8_t>();
    if (opcode >= header_.opcode_base) {
      const unsigned adjusted = opcode - header_.opcode_base;
      advance(adjusted / header_.line_range);
      row_.line += static_cast<uint32_t>(header_.line_base +
                                         static_cast<int>(adjusted % header_.line_range));
      add_row();
    } else if (opcode == 0) {
      extended();
    } else {
      standard(opcode);
    }
  }

  void standard(uint8_t opcode) {
    switch (opcode) {
      case dwarf::DW_LNS_copy:
        return add_row();
      case dwarf::DW_LNS_advance_pc:
        return advance(reader_.uleb128());
      case dwarf::DW_LNS_advance_line:
        row_.line += static_cast<uint32_t>(reader_.sleb128());
        return;
      case dwarf::DW_LNS_set_file:
        row_.file = static_cast<uint32_t>(reader_.uleb128());
        return;
      case dwarf::DW_LNS_set_column:
        row_.column = static_cast<uint32_t>(reader_.uleb128());
        return;
      case dwarf::DW_LNS_negate_stmt:
        row_.flags ^= Row::kStatement;
        return;
      case dwarf::DW_LNS_set_basic_block:
        row_.flags |= Row::kBasicBlock;
        return;
      case dwarf::DW_LNS_const_add_pc:
        return advance((255u - header_.opcode_base) / header_.line_range);
      case dwarf::DW_LNS_fixed_advance_pc:
        row_.address += reader_.read<uint16_t>();
        return;
      case dwarf::DW_LNS_set_prologue_end:
        row_.flags |= Row::kPrologueEnd;
        return;
      case dwarf::DW_LNS_set_epilogue_begin:
        row_.flags |= Row::kEpilogueBegin;
        return;
      case dwarf::DW_LNS_set_isa:
        row_.isa = static_cast<uint32_t>(reader_.uleb128());
        return;
      default:  // the header says how many operands to skip
        for (unsigned i = 0; i < header_.operands[opcode - 1u]; ++i) reader_.uleb128();
    }
  }

  void extended() {
    const size_t start = reader_.position() - 1;
    const uint64_t length = reader_.uleb128();
    if (length == 0) return;
    const auto bytes = reader_.take(length);
    ByteReader operands(bytes, ".debug_line");
    switch (operands.read<uint8_t>()) {
      case dwarf::DW_LNE_end_sequence:
        return end_sequence();
      case dwarf::DW_LNE_set_address:
        row_.address = operands.read<uint64_t>();
        return;
      case dwarf::DW_LNE_set_discriminator:
        row_.discriminator = static_cast<uint32_t>(operands.uleb128());
        return;
      case dwarf::DW_LNE_define_file: {
        const size_t size = reader_.position() - start;
        reader_.seek(start);
        const auto operation = reader_.take(size);
        defined_files.insert(defined_files.end(), operation.begin(), operation.end());
        return;
      }
      default:  // of a vendor
        return;
    }
  }

  const Header& header_;
  ByteReader reader_;
  Row row_;
  Sequence current_;
  bool discriminates_ = false;  // some row of the line so far has a discriminator
};

/// Writes a program.
class Encoder {
 public:
  Encoder(const Header& header, ByteWriter& out) : header_(header), out_(out) {}

  bool in_sequence() const { return in_sequence_; }
  /// The last row of the sequence.
  const Row& last() const { return row_; }

  /// Whether gdb would not let a breakpoint stop at `row` if it were next.
  bool would_hide(const Row& row) const {
    return in_sequence_ && row.same_line(row_) && (discriminates_ || row.discriminator != 0);
  }

  /// Whether the last row's address has several rows, so that gdb could take another of them for
  /// the row of the code that follows.
  bool is_crowded() const { return is_crowded_; }

  void write(const Row& row) {
    if (!in_sequence_) start(row.address);
    is_crowded_ = has_row_ && row.address == row_.address && (is_crowded_ || !row.same_line(row_));
    has_row_ = true;
    discriminates_ = row.discriminator != 0 || (row.line == row_.line && discriminates_);
    if (row.file != row_.file) operation(dwarf::DW_LNS_set_file, row.file);
    if (row.column != row_.column) operation(dwarf::DW_LNS_set_column, row.column);
    if (row.isa != row_.isa && knows(dwarf::DW_LNS_set_isa))
      operation(dwarf::DW_LNS_set_isa, row.isa);
    if (((row.flags ^ row_.flags) & Row::kStatement) != 0)
      out_.write<uint8_t>(dwarf::DW_LNS_negate_stmt);
    if ((row.flags & Row::kBasicBlock) != 0) out_.write<uint8_t>(dwarf::DW_LNS_set_basic_block);
    if ((row.flags & Row::kPrologueEnd) != 0 && knows(dwarf::DW_LNS_set_prologue_end))
      out_.write<uint8_t>(dwarf::DW_LNS_set_prologue_end);
    if ((row.flags & Row::kEpilogueBegin) != 0 && knows(dwarf::DW_LNS_set_epilogue_begin))
      out_.write<uint8_t>(dwarf::DW_LNS_set_epilogue_begin);
    if (row.discriminator != 0) write_discriminator(row.discriminator);
    advance_to(row);
    row_ = row;
  }

  void end(uint64_t address) {
    if (!in_sequence_) return;
    const uint64_t distance = distance_to(address);
    if (distance != 0) operation(dwarf::DW_LNS_advance_pc, distance);
    for (const uint8_t byte : {0, 1, int{dwarf::DW_LNE_end_sequence}}) out_.write<uint8_t>(byte);
    in_sequence_ = false;
  }

 private:
  bool knows(unsigned opcode) const { return opcode < header_.opcode_base; }

  void operation(uint8_t opcode, uint64_t operand) {
    out_.write(opcode);
    out_.uleb128(operand);
  }

  void start(uint64_t address) {
    row_ = {};
    row_.address = address;
    if (header_.default_statement) row_.flags = Row::kStatement;
    discriminates_ = has_row_ = is_crowded_ = false;
    out_.write<uint8_t>(0);
    out_.write<uint8_t>(9);
    out_.write<uint8_t>(dwarf::DW_LNE_set_address);
    out_.write<uint64_t>(address);
    in_sequence_ = true;
  }

  void write_discriminator(uint32_t discriminator) {
    ByteWriter operand;
    operand.uleb128(discriminator);
    out_.write<uint8_t>(0);
    out_.uleb128(operand.size() + 1);
    out_.write<uint8_t>(dwarf::DW_LNE_set_discriminator);
    out_.append(operand.bytes());
  }

  uint64_t distance_to(uint64_t address) const {
    const uint64_t bytes = address - row_.address;
    if (bytes % header_.instruction_bytes != 0)
      throw Error("a line table counts in larger steps than the code has");
    return bytes / header_.instruction_bytes;
  }

  /// Moves to the row's line and address, and appends the row.
  void advance_to(const Row& row) {
    uint64_t distance = distance_to(row.address);
    int64_t lines = int64_t{row.line} - int64_t{row_.line};
    const int64_t base = header_.line_base, range = header_.line_range;
    if (lines < base || lines >= base + range) {
      out_.write<uint8_t>(dwarf::DW_LNS_advance_line);
      out_.sleb128(lines);
      lines = 0;
    }
    if (lines < base || lines >= base + range) {  // all opcodes of the table change the line
      if (distance != 0) operation(dwarf::DW_LNS_advance_pc, distance);
      out_.write<uint8_t>(dwarf::DW_LNS_copy);
      return;
    }
    const auto special = [&](uint64_t steps) {
      return static_cast<uint64_t>(lines - base) + steps * header_.line_range + header_.opcode_base;
    };
    const uint64_t all = (255u - header_.opcode_base) / header_.line_range;
    if (special(distance) > 255 && distance >= all && special(distance - all) <= 255) {
      out_.write<uint8_t>(dwarf::DW_LNS_const_add_pc);
      distance -= all;
    } else if (special(distance) > 255) {
      operation(dwarf::DW_LNS_advance_pc, distance);
      distance = 0;
    }
    if (special(distance) <= 255) return out_.write(static_cast<uint8_t>(special(distance)));
    if (lines != 0) {
      out_.write<uint8_t>(dwarf::DW_LNS_advance_line);
      out_.sleb128(lines);
    }
    out_.write<uint8_t>(dwarf::DW_LNS_copy);
  }

  const Header& header_;
  ByteWriter& out_;
  Row row_;
  bool in_sequence_ = false;
  bool has_row_ = false;  // row_ is a row of the sequence
  bool is_crowded_ = false;
  bool discriminates_ = false;
};

/// Rewrites one table.
class Mover {
 public:
  Mover(const AddressMap& map, const Header& header, Budget& budget, ByteWriter& out)
      : map_(map), budget_(budget), encoder_(header, out) {}

  void move(const std::vector<Sequence>& sequences) {
    std::vector<std::pair<MovedPart, const Sequence*>> parts;
    std::vector<MovedPart> found;
    for (const Sequence& sequence : sequences) {
      const uint64_t start = sequence.rows.front().address;
      if (!map_.is_code(start)) {  // of code that the linker left out
        for (const Row& row : sequence.rows) encoder_.write(row);
        encoder_.end(sequence.end);
        continue;
      }
      map_.find_parts(start, sequence.end, found);
      budget_.spend(found.size());
      for (const MovedPart& part : found) parts.emplace_back(part, &sequence);
    }
    std::ranges::stable_sort(parts, {}, [](const auto& each) { return each.first.new_start; });
    for (const auto& [part, sequence] : parts) move_part(part, *sequence);
    if (last_) encoder_.end(last_->new_end);
  }

 private:
  /// Whether only padding is between the last part and this part of the output.
  bool is_next(const MovedPart& part) const {
    if (last_->new_end == part.new_start) return true;
    if (last_->stays() || part.stays() || last_->piece + 1 != part.piece) return false;
    const MovedPiece& before = map_.pieces()[last_->piece];
    const MovedPiece& after = map_.pieces()[part.piece];
    return before.fragment == after.fragment && last_->new_end == before.new_end &&
           part.new_start == after.new_start;
  }

  void move_part(const MovedPart& part, const Sequence& sequence) {
    // The same code is in two sequences, as linkers that fold equal functions leave it.
    if (last_ && part.new_start < last_->new_end) return;
    if (last_ && !is_next(part)) encoder_.end(last_->new_end);
    const MovedPiece* piece = part.stays() ? nullptr : &map_.pieces()[part.piece];
    const uint64_t old = part.old_start;
    const uint64_t old_end =
        piece != nullptr && piece->resized() ? old + 1 : old + (part.new_end - part.new_start);
    const uint64_t from = piece != nullptr && old == piece->old_start ? piece->old_from : old;
    const bool bridge = piece != nullptr && piece->kind == MovedPiece::Kind::bridge;
    const std::vector<Row>& rows = sequence.rows;
    const auto behind = std::ranges::upper_bound(rows, old, {}, &Row::address);
    auto row = bridge ? behind : std::ranges::lower_bound(rows, from, {}, &Row::address);
    if (row == behind && row != rows.begin()) {
      Row covering = *std::prev(row);
      covering.address = part.new_start;
      covering.flags = 0;
      if (!encoder_.in_sequence() || encoder_.is_crowded() ||
          !covering.same_place(encoder_.last())) {
        write_line_for_gdb(rows, std::prev(row), part.new_start);
        encoder_.write(covering);
      }
    } else if (row != behind) {
      write_line_for_gdb(rows, row, part.new_start);
    }
    const bool goes_on = last_ && last_->new_end == part.new_start && last_old_end_ == old;
    for (bool first = !goes_on; row != behind; ++row, first = false)
      write_at(*row, part.new_start, first);
    if (!bridge)
      for (; row != rows.end() && row->address < old_end; ++row)
        write_at(*row, part.new_start + (row->address - old));
    last_ = part;
    last_old_end_ = old_end;
  }

  /// gdb ignores rows with line 0, which Clang makes for code of no line: the code belongs to the
  /// previous row. Where a sequence would begin with line 0, that row comes first.
  void write_line_for_gdb(const std::vector<Row>& rows, std::vector<Row>::const_iterator first,
                          uint64_t address) {
    if (encoder_.in_sequence() || first->line != 0) return;
    const auto front = std::find_if(std::make_reverse_iterator(first), rows.rend(),
                                    [](const Row& row) { return row.line != 0; });
    if (front == rows.rend()) return;
    Row row = *front;
    row.address = address;
    row.flags = 0;
    encoder_.write(row);
  }

  void write_at(Row row, uint64_t address, bool is_first = false) {
    row.address = address;
    const bool was_hidden = (row.flags & Row::kHidden) != 0, is_hidden = encoder_.would_hide(row);
    if (was_hidden && !is_hidden) row.flags &= ~Row::kStatement;
    if (is_first && !was_hidden && is_hidden && (row.flags & Row::kStatement) != 0)
      encoder_.end(address);
    encoder_.write(row);
  }

  const AddressMap& map_;
  Budget& budget_;
  Encoder encoder_;
  std::optional<MovedPart> last_;
  uint64_t last_old_end_ = 0;
};

std::vector<uint8_t> move_table(std::span<const uint8_t> table, const AddressMap& map,
                                Budget& budget) {
  const Header header = read_header(table);
  Decoder decoder(table, header);
  decoder.run();
  ByteWriter out;
  out.append(table.first(header.program));
  out.append(decoder.defined_files);
  Mover(map, header, budget, out).move(decoder.sequences);
  if (header.is64)
    out.patch<uint64_t>(4, out.size() - 12);
  else
    out.patch<uint32_t>(0, static_cast<uint32_t>(out.size() - 4));
  return std::move(out.bytes());
}

/// The tables of a section, one after the other.
std::vector<std::pair<uint64_t, uint64_t>> find_tables(std::span<const uint8_t> section) {
  std::vector<std::pair<uint64_t, uint64_t>> tables;  // offset and end
  ByteReader reader(section, ".debug_line");
  while (!reader.at_end()) {
    const uint64_t start = reader.position();
    uint64_t length = reader.read<uint32_t>();
    if (length == dwarf::DW_LENGTH_DWARF64) length = reader.read<uint64_t>();
    reader.skip(length);
    tables.emplace_back(start, reader.position());
  }
  return tables;
}

}  // namespace

LineTables::LineTables(std::span<const uint8_t> section, const AddressMap& map, Budget& budget) {
  const auto tables = find_tables(section);
  std::vector<std::vector<uint8_t>> moved(tables.size());
  parallel_for(tables.size(), [&](size_t i) {
    const auto [start, end] = tables[i];
    moved[i] = move_table(section.subspan(start, end - start), map, budget);
  });
  for (size_t i = 0; i < tables.size(); ++i) {
    offsets_.emplace_back(tables[i].first, contents_.size());
    contents_.insert(contents_.end(), moved[i].begin(), moved[i].end());
    moved[i] = {};
  }
}

uint64_t LineTables::offset(uint64_t old_offset) const {
  const auto table =
      std::ranges::lower_bound(offsets_, old_offset, {}, &std::pair<uint64_t, uint64_t>::first);
  if (table == offsets_.end() || table->first != old_offset)
    throw Error(fmt::format("no line table starts at {:#x}", old_offset));
  return table->second;
}

}  // namespace respike::debug
