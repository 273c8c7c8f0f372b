// Reading the text form of the IR (text.cc shows it, README.md has the grammar).
//
// One pass, line by line. The first word of a line gives its kind; a line in a block whose first
// word is unknown, or an address and a colon, is an instruction. Programs come from people, tests
// and fuzzers, so every number is checked for its range and every index for being the next index;
// no number alone causes an allocation. The parser does not check whether the program keeps the
// invariants; find_violation() does: tests need programs that break invariants.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "optimizer/base/error.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/ir/text/text_names.h"
#include "optimizer/ir/text/text_words.h"

namespace respike {

using text::bytes;
using text::fail;
using text::named;
using text::number;
using text::trim;
using text::Words;

namespace {

/// The references of the procedure being read: instructions and `reference` lines name them in any
/// order, with or without an index.
class ReferenceList {
 public:
  /// Returns the index that stands for `reference`.
  uint32_t add(std::optional<uint32_t> index, const Reference& reference) {
    if (!index) {
      if (next_ == kNone) fail("there are too many references");
      index = next_;
    }
    entries_.emplace_back(*index, reference);
    next_ = std::max(next_, *index == kNone ? kNone : *index + 1);
    return *index;
  }

  /// Moves the references out, in the order of their indices.
  std::vector<Reference> take() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Reference> result;
    for (const auto& [index, reference] : entries_) {
      if (index == result.size()) {
        result.push_back(reference);
      } else if (index > result.size()) {
        fail(fmt::format("reference {} is missing", result.size()));
      } else if (!(result[index] == reference)) {
        fail(fmt::format("reference {} is given twice, differently", index));
      }
    }
    entries_.clear();
    next_ = 0;
    return result;
  }

 private:
  std::vector<std::pair<uint32_t, Reference>> entries_;
  uint32_t next_ = 0;
};

class Parser {
 public:
  explicit Parser(const Machine& machine) {
    program_.machine = &machine;
    program_.map = CodeMap(machine.codec.groups);
  }

  Program parse(std::string_view text);

 private:
  void line(std::string_view text);
  bool header_line(std::string_view first, Words& words);
  bool procedure_line(std::string_view first, Words& words);
  void cie(Words& words);
  void state(Words& words);
  void cfi_rule(std::string_view word, CfiState& state);
  void lsda(Words& words);
  void range(Words& words);
  void code_pointer(Words& words);
  CodeLocation place(std::string_view text);
  void procedure(Words& words);
  void call_site(Words& words);
  void block(Words& words);
  void edge(Words& words);
  void instruction(std::string_view text);
  void reference_suffix(std::string_view suffix, Instruction& instruction);
  uint32_t origin_of(uint64_t address) const;
  void expect_index(Words& words, size_t next) const;
  void finish_block();
  void finish_procedure();

  Program program_;
  Procedure* procedure_ = nullptr;  // being read
  BasicBlock* block_ = nullptr;     // being read
  std::vector<Instruction> instructions_;
  std::vector<Edge> edges_;
  ReferenceList references_;
  uint64_t next_address_ = 0;  // of an instruction without one
  bool has_header_ = false;
};

Program Parser::parse(std::string_view text) {
  size_t line_number = 0;
  try {
    while (!text.empty()) {
      ++line_number;
      const size_t end = text.find('\n');
      line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    finish_procedure();
    if (!has_header_) fail("the line 'program MACHINE' is missing");
  } catch (const Error& error) {
    throw Error(fmt::format("line {}: {}", line_number, error.what()));
  }
  return std::move(program_);
}

void Parser::line(std::string_view raw) {
  const std::string_view text = trim(text::without_comment(raw));
  if (text.empty()) return;
  Words words(text);
  const std::string_view first = words.next();
  if (!has_header_) {
    if (first != "program" || words.next() != program_.machine->name)
      fail(fmt::format("the line 'program {}' is missing", program_.machine->name));
    has_header_ = true;
  } else if (!header_line(first, words) && !procedure_line(first, words)) {
    if (block_ == nullptr) fail(fmt::format("'{}' is not known here", first));
    instruction(text);
    return;
  }
  words.expect_end();
}

bool Parser::header_line(std::string_view first, Words& words) {
  if (first == "origin_base") {
    if (!program_.procedures.empty()) fail("origin_base comes before procedures");
    program_.origin_base = words.next_number<uint64_t>();
  } else if (first == "gp") {
    program_.gp_values.push_back(words.next_number<uint64_t>());
  } else if (first == "cie") {
    cie(words);
  } else if (first == "state") {
    state(words);
  } else if (first == "lsda") {
    lsda(words);
  } else if (first == "range") {
    range(words);
  } else if (first == "code_pointer") {
    code_pointer(words);
  } else if (first == "procedure") {
    procedure(words);
  } else {
    return false;
  }
  return true;
}

bool Parser::procedure_line(std::string_view first, Words& words) {
  if (procedure_ == nullptr) return false;
  if (first == "symbols") {
    while (!words.at_end()) procedure_->symbols.push_back(words.next_number<uint32_t>());
  } else if (first == "jump_table") {
    JumpTable table{.address = words.next_number<uint64_t>()};
    words.take_number("entries", table.entries);
    words.take_number("jump", table.jump);
    procedure_->jump_tables.push_back(table);
  } else if (first == "call_site") {
    call_site(words);
  } else if (first == "reference") {
    const auto index = words.next_number<uint32_t>();
    const auto kind = named<ReferenceKind>(kReferenceKindNames, words.next());
    references_.add(index, {kind, place(words.next())});
  } else if (first == "block") {
    block(words);
  } else if (first == "->") {
    edge(words);
  } else {
    return false;
  }
  return true;
}

void Parser::expect_index(Words& words, size_t next) const {
  if (words.next_number<uint32_t>() != next) fail(fmt::format("number {} is expected here", next));
}

void Parser::cie(Words& words) {
  expect_index(words, program_.unwind.cies.size());
  Cie cie;
  words.take_string("augmentation", cie.augmentation);
  words.take_number("version", cie.version);
  words.take_number("code_alignment", cie.code_alignment);
  words.take_number("data_alignment", cie.data_alignment);
  words.take_number("return_register", cie.return_register);
  words.take_number("address_encoding", cie.address_encoding);
  words.take_number("lsda_encoding", cie.lsda_encoding);
  words.take_number("personality_encoding", cie.personality_encoding);
  words.take_number("personality", cie.personality);
  cie.signal_frame = words.take("signal_frame");
  words.take_bytes("initial_instructions", cie.initial_instructions);
  words.take_number("initial_state", cie.initial_state);
  program_.unwind.cies.push_back(std::move(cie));
}

void Parser::state(Words& words) {
  expect_index(words, program_.unwind.states.size());
  CfiState state;
  words.take_number("cie", state.cie);
  std::string_view cfa;
  if (words.take_value("cfa", cfa)) {
    const size_t sign = std::min(cfa.find_first_of("+-"), cfa.size());
    state.cfa_register = number<uint64_t>(cfa.substr(0, sign));
    state.cfa_offset = number<int64_t>(cfa.substr(sign));
  }
  state.cfa_is_expression = words.take("cfa_is_expression");
  state.opaque = words.take("opaque");
  words.take_bytes("cfa_expression", state.cfa_expression);
  words.take_number("args_size", state.args_size);
  while (!words.at_end()) cfi_rule(words.next(), state);
  program_.unwind.states.push_back(std::move(state));
}

/// REGISTER=KIND:VALUE[:EXPRESSION]
void Parser::cfi_rule(std::string_view word, CfiState& state) {
  const size_t equals = word.find('=');
  const size_t colon = word.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals)
    fail(fmt::format("'{}' is not REGISTER=RULE:VALUE", word));
  const size_t second = std::min(word.find(':', colon + 1), word.size());
  CfiRule rule;
  rule.kind = named<CfiRule::Kind>(kCfiRuleNames, word.substr(equals + 1, colon - equals - 1));
  rule.value = number<int64_t>(word.substr(colon + 1, second - colon - 1));
  if (second < word.size()) rule.expression = bytes(word.substr(second + 1));
  const auto reg = number<uint32_t>(word.substr(0, equals));
  if (!state.rules.empty() && state.rules.back().first >= reg) fail("rules are sorted by register");
  state.rules.emplace_back(reg, std::move(rule));
}

void Parser::lsda(Words& words) {
  expect_index(words, program_.unwind.lsdas.size());
  Lsda lsda;
  words.take_number("type_encoding", lsda.type_encoding);
  words.take_bytes("actions", lsda.actions);
  uint64_t type = 0;
  while (words.take_number("type", type)) lsda.types.push_back(type);
  words.take_bytes("specifications", lsda.specifications);
  program_.unwind.lsdas.push_back(std::move(lsda));
}

template <typename T>
std::pair<T, T> bounds(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) fail(fmt::format("'{}' is not FIRST..END", text));
  return {number<T>(text.substr(0, dots)), number<T>(text.substr(dots + 2))};
}

void Parser::range(Words& words) {
  CodeRange range;
  std::tie(range.start, range.end) = bounds<uint64_t>(words.next());
  words.take_number("procedure", range.procedure);
  std::string_view blocks;
  if (words.take_value("blocks", blocks))
    std::tie(range.first_block, range.end_block) = bounds<uint32_t>(blocks);
  program_.ranges.push_back(range);
}

void Parser::code_pointer(Words& words) {
  CodePointer pointer{};
  pointer.address = words.next_number<uint64_t>();
  pointer.kind = named<ReferenceKind>(kReferenceKindNames, words.next());
  pointer.target = place(words.next());
  words.take_number("base", pointer.base);
  program_.code_pointers.push_back(pointer);
}

/// PROCEDURE#BLOCK, PROCEDURE#BLOCK@return, or an address.
CodeLocation Parser::place(std::string_view text) {
  constexpr std::string_view kReturn = "@return";
  CodeLocation location;
  if (text.size() > kReturn.size() && text.substr(text.size() - kReturn.size()) == kReturn) {
    location.where = CodeLocation::Where::return_point;
    text.remove_suffix(kReturn.size());
  }
  if (text == "unresolved") return location;
  if (text == "enclosure.start" || text == "enclosure.end") {
    location.where = text.ends_with("start") ? CodeLocation::Where::enclosure_start
                                             : CodeLocation::Where::enclosure_end;
    return location;
  }
  const size_t hash = text.find('#');
  if (hash != std::string_view::npos) {
    location.procedure = number<uint32_t>(text.substr(0, hash));
    location.block = number<uint32_t>(text.substr(hash + 1));
    return location;
  }
  if (location.where == CodeLocation::Where::return_point) fail("an address has no return point");
  location.where = CodeLocation::Where::address;
  location.address = number<uint64_t>(text);
  return location;
}

void Parser::procedure(Words& words) {
  finish_procedure();
  expect_index(words, program_.procedures.size());
  procedure_ = &program_.procedures.emplace_back();
  procedure_->name = words.quoted();
  words.take_number("address", procedure_->address);
  words.take_number("size", procedure_->size);
  uint64_t gp = 0;
  if (words.take_number("gp", gp)) procedure_->gp = gp;
  if (words.take("pinned")) procedure_->state = Procedure::State::pinned;
  if (words.take("opaque")) procedure_->state = Procedure::State::opaque;
  procedure_->returns = !words.take("noreturn");
  procedure_->nonstandard = words.take("nonstandard");
  procedure_->enclosed = words.take("enclosed");
  words.take_string("reason", procedure_->reason);
  next_address_ = procedure_->address;
}

void Parser::call_site(Words& words) {
  expect_index(words, procedure_->call_sites.size());
  CallSite site;
  words.take_number("lsda", site.lsda);
  words.take_number("landing_pad", site.landing_pad);
  words.take_number("action", site.action);
  site.terminate = words.take("terminate");
  procedure_->call_sites.push_back(site);
}

uint32_t Parser::origin_of(uint64_t address) const {
  const uint64_t origin = address - program_.origin_base;
  if (address < program_.origin_base || origin >= kNone)
    fail(fmt::format("address {:#x} is too far from origin_base", address));
  return static_cast<uint32_t>(origin);
}

void Parser::block(Words& words) {
  finish_block();
  expect_index(words, procedure_->blocks.size());
  block_ = &procedure_->blocks.emplace_back();
  uint64_t address = 0;
  if (words.take_number("at", address)) {
    block_->origin = origin_of(address);
    next_address_ = address;
  }
  uint32_t size = 0;
  if (words.take_number("size", size)) {
    if (size > BasicBlock::kLargest) fail("the block is too large");
    block_->origin_size = size;
  }
  words.take_number("cfi", block_->cfi_state);
  words.take_number("call_site", block_->call_site);
  words.take_number("count", block_->count);
  for (const BlockFlagName& flag : kBlockFlagNames)
    if (words.take(flag.name)) block_->flags |= flag.flag;
  uint32_t other = 0;
  if (words.take_number("flags", other)) block_->flags |= other;
}

void Parser::edge(Words& words) {
  if (block_ == nullptr) fail("an edge belongs to a block");
  Edge edge{.target = words.next_number<uint32_t>()};
  edge.kind = named<Edge::Kind>(kEdgeKindNames, words.next());
  words.take_number("count", edge.count);
  edges_.push_back(edge);
}

/// R,R,R,R: the register fields, where the text alone would be read as other registers. Only
/// registers of the text may occur, so that a wrong number cannot make an instruction that no
/// machine has.
void override_registers(std::string_view fields, Instruction& instruction) {
  const Instruction read = instruction;
  for (uint8_t& reg : instruction.registers) {
    const size_t end = std::min(fields.find(','), fields.size());
    reg = number<uint8_t>(fields.substr(0, end));
    if (std::find(std::begin(read.registers), std::end(read.registers), reg) ==
        std::end(read.registers))
      fail(fmt::format("register field {} does not occur in the instruction", reg));
    fields.remove_prefix(std::min(end + 1, fields.size()));
  }
  if (!fields.empty()) fail("an instruction has four register fields");
}

/// [ADDRESS: | -:] TEXT [registers=R,R,R,R] [!KIND[!INDEX](PLACE)]. An instruction without an
/// address follows the instruction before it.
void Parser::instruction(std::string_view text) {
  bool synthesized = false;
  uint64_t address = next_address_;
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view label = text.substr(0, colon);
    synthesized = label == "-";
    const auto [end, error] = std::from_chars(label.data(), label.data() + colon, address, 16);
    const bool is_address = error == std::errc() && end == label.data() + colon;
    if (synthesized || is_address) text = trim(text.substr(colon + 1));
    if (!is_address) address = synthesized ? 0 : next_address_;
  }
  const size_t mark = text.find(" !");
  std::string_view body = trim(text.substr(0, mark));
  constexpr std::string_view kRegisters = " registers=";
  const size_t registers = body.find(kRegisters);
  const std::string_view fields =
      registers == std::string_view::npos ? "" : body.substr(registers + kRegisters.size());
  body = trim(body.substr(0, registers));
  Instruction result;
  if (body.starts_with(".cfi_state ")) {
    result.opcode = kCfiState;
    result.immediate = number<int32_t>(trim(body.substr(10)));
  } else if (body.starts_with(".invalid ")) {
    result.immediate = static_cast<int32_t>(number<uint32_t>(trim(body.substr(8))));
  } else {
    result = program_.machine->text.parse(body, address);
    if (registers != std::string_view::npos) override_registers(fields, result);
  }
  if (mark != std::string_view::npos) reference_suffix(text.substr(mark + 2), result);
  result.origin = synthesized ? kNone : origin_of(address);
  if (!synthesized) next_address_ = result.is_pseudo() ? address : program_.map.next(address);
  instructions_.push_back(result);
}

void Parser::reference_suffix(std::string_view suffix, Instruction& instruction) {
  const size_t open = suffix.find('(');
  if (open == std::string_view::npos || suffix.back() != ')')
    fail("a reference is !KIND(PLACE) or !KIND!INDEX(PLACE)");
  const std::string_view head = suffix.substr(0, open);
  const size_t mark = head.find('!');
  std::optional<uint32_t> index;
  if (mark != std::string_view::npos) index = number<uint32_t>(head.substr(mark + 1));
  const auto kind = named<ReferenceKind>(kReferenceKindNames, head.substr(0, mark));
  const CodeLocation target = place(suffix.substr(open + 1, suffix.size() - open - 2));
  instruction.flags |= Instruction::kHasReference;
  instruction.immediate = static_cast<int32_t>(references_.add(index, {kind, target}));
}

void Parser::finish_block() {
  if (block_ == nullptr) return;
  block_->instructions.assign(*program_.arena, instructions_);
  block_->successors.assign(*program_.arena, edges_);
  instructions_.clear();
  edges_.clear();
  block_ = nullptr;
}

void Parser::finish_procedure() {
  if (procedure_ == nullptr) return;
  finish_block();
  procedure_->references = references_.take();
  procedure_ = nullptr;
}

}  // namespace

Program parse_program(std::string_view text, const Machine& machine) {
  return Parser(machine).parse(text);
}

}  // namespace respike
