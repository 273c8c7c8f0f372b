// Rows into forms.
//
// A row stands for up to twelve forms: one for each of its spaces and each of its mandatory
// prefixes. Tokens of a row narrow the sets of a Candidate. Where candidates of an opcode overlap,
// the narrowest comes first: `endbr64` is one value of a no-op's ModRM. The expansion takes less
// than a millisecond, once per process; the compiler would take far longer in each build.
//
// Example: "VE 38/18 66 w0", "=Vx,Wd" becomes one candidate of VEX opcode 18 of map 0F38 and one of
// EVEX, each for prefix 66 and W 0, any vector length, any ModRM.

#include "optimizer/machine/x86_64/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

#include "optimizer/base/error.h"
#include "optimizer/machine/x86_64/rows_general.h"
#include "optimizer/machine/x86_64/rows_vector.h"

namespace respike::x86_64 {
namespace {

constexpr std::string_view kRegisterNames[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                               "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                               "r12", "r13", "r14", "r15"};
constexpr std::string_view kFlagLetters = "cpazsod";  // in the order of the bits of Flag
constexpr std::string_view kMapNames[] = {"", "0f", "38", "3a", "m5", "m6"};

/// A word of a row that sets a member.
struct Property {
  std::string_view word;
  bool Form::*member;
};
constexpr Property kTokens[] = {
    {"lock", &Form::lockable},  {"rep", &Form::repeats},   {"d64", &Form::default64},
    {"f64", &Form::fixed64},    {"mk", &Form::needs_mask}, {"vsib", &Form::vector_index},
    {"select", &Form::selects}, {"ne", &Form::distinct},
};
constexpr Property kEffectWords[] = {
    {"<cc", &Form::condition}, {"kf", &Form::keeps_flags}, {"push", &Form::push},
    {"pop", &Form::pop},       {"leave", &Form::leave},    {"zero", &Form::zeroes},
    {"x87", &Form::x87},       {"any", &Form::any},        {"sees", &Form::sees},
};

struct FlowWord {
  std::string_view word;
  Flow flow;
};
constexpr FlowWord kFlowWords[] = {
    {"branch", Flow::branch}, {"jump", Flow::jump}, {"call", Flow::call},
    {"ret", Flow::ret},       {"stop", Flow::stop}, {"system", Flow::system},
};

/// Tokens that variants() reads.
constexpr std::string_view kVariantTokens[] = {"np",  "66",  "nf",  "f3", "f2",
                                               "fp2", "fps", "fp4", "mmx"};

/// One of the forms that differ in mandatory prefix.
struct Variant {
  uint8_t prefixes = 0xf;
  uint8_t element = 0;
  int w = -1;  // of EVEX; -1: any
  bool mmx = false;
};

class Expansion {
 public:
  explicit Expansion(Forms& result) : result_(result) {}

  void add(const Row& row);
  /// Call once, after all rows.
  void fill_cells();

 private:
  struct Listed {
    unsigned table;
    uint8_t opcode;
    bool modrm;
    Candidate candidate;
  };

  void add_form(Space space, const Variant& variant);
  void read_code();
  void read_opcodes(std::string_view text);
  void read_token(Form& form, Candidate& candidate, std::string_view token);
  void read_operands(Form& form, bool mmx);
  OperandForm read_operand(const Form& form, std::string_view text) const;
  void read_named(OperandForm& operand, std::string_view name) const;
  void read_effects(Form& form) const;
  uint8_t read_flags(std::string_view letters) const;
  std::vector<Variant> variants() const;
  bool has(std::string_view token) const { return std::ranges::count(tokens_, token) != 0; }
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(fmt::format("row {} {}: {}", row_->name, row_->code, what));
  }

  Forms& result_;
  const Row* row_ = nullptr;
  std::string_view spaces_;
  unsigned map_ = 0;
  std::vector<uint8_t> opcodes_;
  std::vector<std::string_view> tokens_;
  bool modrm_ = false;
  std::vector<Listed> listed_;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<uint8_t> hexadecimal(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || value > 0xff) return {};
  return static_cast<uint8_t>(value);
}

uint32_t digits(std::string_view text) {
  uint32_t set = 0;
  for (const char digit : text) set |= 1u << (digit - '0');
  return set;
}

void narrow(Candidate& candidate, unsigned at, unsigned bits, uint32_t set) {
  const uint32_t field = ((1u << bits) - 1) << at;
  candidate.allowed &= ~field | set << at;
}

void Expansion::read_opcodes(std::string_view text) {
  opcodes_.clear();
  for (const std::string_view item : split(text, ',')) {
    const size_t dash = item.find('-');
    const auto first = hexadecimal(item.substr(0, dash));
    const auto last = dash == item.npos ? first : hexadecimal(item.substr(dash + 1));
    if (!first || !last) fail("bad opcode");
    for (unsigned opcode = *first; opcode <= *last; ++opcode)
      opcodes_.push_back(static_cast<uint8_t>(opcode));
  }
}

void Expansion::read_code() {
  tokens_ = split(row_->code, ' ');
  spaces_ = "L";
  if (tokens_.front().find_first_not_of("LVE") == tokens_.front().npos) {
    spaces_ = tokens_.front();
    tokens_.erase(tokens_.begin());
  }
  const std::string_view place = tokens_.front();
  tokens_.erase(tokens_.begin());
  const size_t slash = place.find('/');
  const std::string_view map = slash == place.npos ? "" : place.substr(0, slash);
  const auto* found = std::ranges::find(kMapNames, map);
  if (found == std::end(kMapNames)) fail("no such map");
  map_ = static_cast<unsigned>(found - std::begin(kMapNames));
  read_opcodes(slash == place.npos ? place : place.substr(slash + 1));
}

std::vector<Variant> Expansion::variants() const {
  const Variant ps{1, 0, 0}, pd{2, 0, 1}, ss{4, 4, 0}, sd{8, 8, 1};
  if (has("fp2")) return {ps, pd};
  if (has("fps")) return {ss, sd};
  if (has("fp4")) return {ps, pd, ss, sd};
  Variant plain;
  if (has("np")) plain.prefixes = 1;
  if (has("66")) plain.prefixes = 2;
  if (has("nf")) plain.prefixes = 3;
  if (has("f3")) plain.prefixes = 4;
  if (has("f2")) plain.prefixes = 8;
  return {plain};
}

void Expansion::read_token(Form& form, Candidate& candidate, std::string_view token) {
  const bool evex = form.space == Space::evex;
  const auto* property = std::ranges::find(kTokens, token, &Property::word);
  if (property != std::end(kTokens)) {
    form.*property->member = true;
  } else if (token.front() == '/') {
    narrow(candidate, select::kReg, 8, digits(token.substr(1)));
    modrm_ = true;
  } else if (token == "mem" || token == "reg") {
    narrow(candidate, select::kMemory, 2, token == "mem" ? 1 : 2);
    modrm_ = true;
  } else if (token.starts_with("rm")) {
    narrow(candidate, select::kRm, 8, digits(token.substr(2)));
  } else if (token == "b0" || token == "b1") {
    narrow(candidate, select::kRm, 8, digits(token.substr(1)));
  } else if (token == "w0" || token == "w1") {
    narrow(candidate, select::kW, 2, digits(token.substr(1)));
  } else if (token == "ew0" || token == "ew1") {
    if (evex) narrow(candidate, select::kW, 2, digits(token.substr(2)));
  } else if (token.starts_with("l")) {
    if (form.space != Space::legacy) narrow(candidate, select::kLength, 4, digits(token.substr(1)));
  } else if (token == "er" || token == "sae") {
    form.rounds = evex;
  } else if (token == "nk") {
    form.masked = false;
  } else if (token == "n1" || token == "n2" || token == "n4" || token == "n8") {
    form.compression = static_cast<uint8_t>(token[1] - '0');
  } else if (std::ranges::count(kVariantTokens, token) == 0) {
    fail("no such token");
  }
}

/// Whether a method is a field of ModRM, or a register next to ModRM.
bool is_modrm(char method) {
  return std::string_view("EGBRMVHWUPQNKJTSCD").find(method) != std::string_view::npos;
}

uint8_t access_of(char mark) {
  switch (mark) {
    case '=':
      return kWrite;
    case '+':
      return kRead | kWrite;
    case '?':
      return kWrite | kMayKeep;
    case '~':
      return kRead | kWrite | kMayKeep;
    case '!':
      return kNoAccess;
    default:
      return kRead;
  }
}

/// Bytes of an immediate of the type, for 16-, 32- and 64-bit operands.
void add_immediate(Form& form, char type) {
  constexpr uint8_t kByV[] = {2, 4, 8}, kByZ[] = {2, 4, 4};
  for (unsigned size = 0; size < 3; ++size)
    form.immediate[size] += type == 'v'   ? kByV[size]
                            : type == 'z' ? kByZ[size]
                            : type == 'w' ? 2
                                          : 1;
}

/// A register that the row names, or memory at the register.
void Expansion::read_named(OperandForm& operand, std::string_view name) const {
  operand.method = 'r';
  if (name == "xmm0" || name == "ah") {
    operand.method = name == "ah" ? 'a' : 'x';
    return;
  }
  if (name.front() == '@') {
    operand.method = '@';
    name.remove_prefix(1);
  }
  const auto* found = std::ranges::find(kRegisterNames, name);
  if (found == std::end(kRegisterNames)) fail("no such register");
  operand.number = static_cast<uint8_t>(found - std::begin(kRegisterNames));
}

OperandForm Expansion::read_operand(const Form& form, std::string_view text) const {
  OperandForm operand;
  operand.access = access_of(text.front());
  if (text.find_first_of("=+?~!") == 0) text.remove_prefix(1);
  const size_t colon = text.find(':');
  if (colon != text.npos) {
    read_named(operand, text.substr(0, colon));
    text.remove_prefix(colon);
  } else {
    operand.method = text.front();
  }
  operand.type = text[1];
  const size_t star = text.find('*');
  if (star != text.npos && form.space == Space::evex)
    operand.broadcast = star + 1 < text.size() ? static_cast<uint8_t>(text[star + 1] - '0') : 1;
  if (operand.type == 'p') {
    operand.type = form.element == 0 ? 'x' : form.element == 4 ? 'd' : 'q';
    if (form.element != 0) operand.broadcast = 0;
  }
  return operand;
}

/// The same operand of an MMX encoding.
void make_mmx(OperandForm& operand) {
  if (operand.type == 'x' || operand.type == 'o') operand.type = 'q';
  if (operand.method == 'V') operand.method = 'P';
  if (operand.method == 'W') operand.method = 'Q';
}

void Expansion::read_operands(Form& form, bool mmx) {
  bool dropped = false;
  for (const std::string_view text : split(row_->operands, ',')) {
    OperandForm operand = read_operand(form, text);
    if (mmx) make_mmx(operand);
    if (operand.method == 'H' && form.space == Space::legacy) {
      dropped = true;
      continue;
    }
    modrm_ |= is_modrm(operand.method);
    form.uses_vvvv |= std::string_view("HBJ").find(operand.method) != std::string_view::npos;
    form.memory_offset |= operand.method == 'O';
    form.register_only |= operand.method == 'C' || operand.method == 'D';
    if (std::string_view("IAL").find(operand.method) != std::string_view::npos)
      add_immediate(form, operand.type);
    form.operands[form.operand_count++] = operand;
  }
  if (dropped) form.operands[0].access |= kRead;
}

uint8_t Expansion::read_flags(std::string_view letters) const {
  uint8_t set = 0;
  for (const char letter : letters) {
    const size_t bit = kFlagLetters.find(letter);
    if (bit == kFlagLetters.npos) fail("no such flag");
    set |= static_cast<uint8_t>(1u << bit);
  }
  return set;
}

void Expansion::read_effects(Form& form) const {
  for (const std::string_view word : split(row_->effects, ' ')) {
    const auto* property = std::ranges::find(kEffectWords, word, &Property::word);
    const auto* flow = std::ranges::find(kFlowWords, word, &FlowWord::word);
    if (property != std::end(kEffectWords))
      form.*property->member = true;
    else if (flow != std::end(kFlowWords))
      form.flow = flow->flow;
    else if (word.front() == '<')
      form.reads |= read_flags(word.substr(1));
    else if (word.front() == '>')
      form.writes |= read_flags(word.substr(1));
    else if (word.front() == '?')
      form.undefined |= read_flags(word.substr(1));
    else
      fail("no such effect");
  }
}

void Expansion::add_form(Space space, const Variant& variant) {
  Form form;
  form.name = row_->name;
  form.space = space;
  form.element = variant.element;
  form.masked = space == Space::evex;
  Candidate candidate;
  narrow(candidate, select::kPrefix, 4, variant.prefixes);
  if (space == Space::vex) narrow(candidate, select::kLength, 4, 3);
  if (space == Space::evex) narrow(candidate, select::kLength, 4, 7);
  if (space == Space::evex && variant.w >= 0) narrow(candidate, select::kW, 2, 1u << variant.w);
  modrm_ = false;
  for (const std::string_view token : tokens_) read_token(form, candidate, token);
  read_operands(form, variant.mmx);
  read_effects(form);
  candidate.form = static_cast<uint16_t>(result_.forms.size());
  result_.forms.push_back(form);
  const unsigned table = kMaps * static_cast<unsigned>(space) + map_;
  for (const uint8_t opcode : opcodes_) listed_.push_back({table, opcode, modrm_, candidate});
}

void Expansion::add(const Row& row) {
  row_ = &row;
  read_code();
  for (const char letter : spaces_) {
    const Space space = letter == 'L' ? Space::legacy : letter == 'V' ? Space::vex : Space::evex;
    for (const Variant& variant : variants()) add_form(space, variant);
    if (space == Space::legacy && has("mmx")) add_form(space, {.prefixes = 1, .mmx = true});
  }
}

void Expansion::fill_cells() {
  std::ranges::stable_sort(listed_, {}, [](const Listed& entry) {
    return std::tuple(entry.table, entry.opcode, std::popcount(entry.candidate.allowed));
  });
  for (const auto& [table, opcode, modrm, candidate] : listed_) {
    Cell& cell = result_.cells[table][opcode];
    const auto index = static_cast<uint16_t>(result_.candidates.size());
    if (cell.end == 0) cell.first = index;
    cell.end = static_cast<uint16_t>(index + 1);
    cell.modrm |= modrm;
    result_.candidates.push_back(candidate);
  }
}

Forms make_forms() {
  Forms result;
  result.forms.emplace_back();
  Expansion expansion(result);
  for (const Row& row : kGeneralRows) expansion.add(row);
  for (const Row& row : kX87Rows) expansion.add(row);
  for (const Row& row : kVectorRows) expansion.add(row);
  for (const Row& row : kMaskRows) expansion.add(row);
  expansion.fill_cells();
  return result;
}

}  // namespace

const Forms& forms() {
  static const Forms table = make_forms();
  return table;
}

}  // namespace respike::x86_64
