// Derives from the rows of the instruction set the handler of each instruction, and the meaning of
// comparisons.
//
// The names of comparisons say everything: cmp4.lt.or.andcm compares 32 bits for less than and
// combines as or.andcm. A table of 88 opcodes would only repeat the names.

#include <array>
#include <string_view>

#include "emulators/ia64/handlers.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::emulator::ia64 {

namespace {

using respike::ia64::kEncodings;
using respike::ia64::kOpCount;
using respike::ia64::Op;

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

CompareKind parse_compare(std::string_view name, std::string_view syntax) {
  using K = CompareKind;
  K kind = {};
  if (take(name, "cmp4."))
    kind.what = K::What::cmp4;
  else if (take(name, "cmp."))
    kind.what = K::What::cmp;
  else if (take(name, "tbit."))
    kind.what = K::What::tbit;
  else if (take(name, "tnat."))
    kind.what = K::What::tnat;
  else if (take(name, "tf."))
    kind.what = K::What::tf;
  else
    return kind;
  constexpr std::pair<std::string_view, K::Relation> kRelations[] = {
      {"eq", K::Relation::eq}, {"ne", K::Relation::ne}, {"ltu", K::Relation::ltu},
      {"lt", K::Relation::lt}, {"le", K::Relation::le}, {"gt", K::Relation::gt},
      {"ge", K::Relation::ge}, {"nz", K::Relation::nz}, {"z", K::Relation::z}};
  for (const auto& [text, relation] : kRelations) {
    if (!take(name, text)) continue;
    kind.relation = relation;
    break;
  }
  if (name == ".unc") kind.type = K::Type::unc;
  if (name == ".and") kind.type = K::Type::and_;
  if (name == ".or") kind.type = K::Type::or_;
  if (name == ".or.andcm") kind.type = K::Type::or_andcm;
  kind.immediate = syntax.find("=$i") != std::string_view::npos;
  kind.zero = syntax.find("=r0") != std::string_view::npos;
  return kind;
}

bool is_system(Op op) {
  switch (op) {
    case Op::mov_i_to_ar:
    case Op::mov_i_to_ar_imm8:
    case Op::mov_i_from_ar:
    case Op::mov_m_to_ar:
    case Op::mov_m_to_ar_imm8:
    case Op::mov_m_from_ar:
    case Op::mov_to_br:
    case Op::mov_to_br_sptk:
    case Op::mov_to_br_dptk:
    case Op::mov_from_br:
    case Op::mov_to_pr:
    case Op::mov_to_pr_rot:
    case Op::mov_from_pr:
    case Op::mov_ip:
    case Op::alloc:
    case Op::flushrs:
    case Op::loadrs:
    case Op::fc:
    case Op::fc_i:
    case Op::sync_i:
    case Op::srlz_i:
    case Op::srlz_d:
    case Op::mf:
    case Op::mf_a:
    case Op::fwb:
    case Op::sum:
    case Op::rum:
    case Op::mov_to_psr_um:
    case Op::mov_from_psr_um:
    case Op::mov_from_cpuid:
    case Op::mov_to_dahr:
    case Op::mov_from_dahr:
      return true;
    default:
      return false;
  }
}

bool is_branch(Op op, std::string_view name) {
  if (name.starts_with("br") && !name.starts_with("brp") && !name.starts_with("break")) return true;
  if (respike::ia64::is_check(op)) return true;
  switch (op) {
    case Op::cover:
    case Op::clrrrb:
    case Op::clrrrb_pr:
      return true;
    default:
      return false;
  }
}

bool is_memory(std::string_view name) {
  for (std::string_view prefix : {"ld", "st", "cmpxchg", "cmp8xchg16", "xchg", "fetchadd", "lfetch",
                                  "setf", "getf", "probe", "invala"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

Family classify(size_t index) {
  const Op op = static_cast<Op>(index);
  const auto& encoding = kEncodings[index];
  const std::string_view name = encoding.name;
  if (name.empty()) return Family::none;
  if (name.starts_with("nop") || name.starts_with("hint") || name.starts_with("brp"))
    return Family::nop;
  if (parse_compare(name, encoding.syntax).what != CompareKind::What::not_compare)
    return Family::compare;
  if (is_system(op)) return Family::system;
  if (is_branch(op, name)) return Family::branch;
  if (op == Op::movl) return Family::integer;
  switch (encoding.type()) {
    case 'A':
    case 'I':
      return Family::integer;
    case 'F':
      return Family::floating;
    case 'M':
      return is_memory(name) ? Family::memory : Family::none;
    default:
      return Family::none;
  }
}

struct Tables {
  std::array<Family, kOpCount> families;
  std::array<CompareKind, kOpCount> compares;
  Tables() {
    for (size_t i = 0; i < kOpCount; ++i) {
      families[i] = classify(i);
      compares[i] = parse_compare(kEncodings[i].name, kEncodings[i].syntax);
    }
  }
};

const Tables& tables() {
  static const Tables result;
  return result;
}

}  // namespace

Family family_of(Op op) {
  return tables().families[static_cast<size_t>(op)];
}
CompareKind compare_kind(Op op) {
  return tables().compares[static_cast<size_t>(op)];
}

}  // namespace respike::emulator::ia64
