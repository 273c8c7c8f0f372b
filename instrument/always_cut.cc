// Which procedures do not return exactly once.
//
// Problem: counts are exact because each call returns once. fork() returns in two processes that
// count into one file, setjmp() returns again, longjmp() and the unwinder leave through another
// procedure's return.
//
// Such procedures are known by name: by their own name, or by the name of the import that a
// linker's stub jumps to. A procedure that calls fork() also returns in both processes, so this
// property is passed on to callers along the call graph. Calls through the linkage table are found
// by the names that dynamic relocations bind to its slots.
//
// Example: main calls run(), and run() calls fork() through `call *slot(%rip)`. The slot is bound
// to the name "fork", so calls of run() and of main() are cut.
//
// Limit: names decide. A procedure of another name that returns twice makes counts inexact.

#include "instrument/always_cut.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "optimizer/image/image.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

std::string_view without_underscores(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  return name;
}

/// Whether a procedure of this name returns in two processes.
bool forks(std::string_view name) {
  constexpr std::string_view kNames[] = {"fork",       "vfork",   "Fork",  "libc_fork",
                                         "libc_vfork", "forkpty", "daemon"};
  return std::find(std::begin(kNames), std::end(kNames), without_underscores(name)) !=
         std::end(kNames);
}

/// The names that the dynamic linker binds to slots, by address of the slot.
std::unordered_map<uint64_t, std::string_view> bound_names(const Image& image,
                                                           const CodeFacts& facts) {
  std::unordered_map<uint64_t, std::string_view> names(facts.imports().begin(),
                                                       facts.imports().end());
  for (const DynamicRelocationTable& table : image.dynamic_relocations)
    for (const Relocation& relocation : table.relocations)
      if (relocation.symbol != 0 && relocation.symbol < image.dynamic_symbols.size())
        names.emplace(relocation.address, image.dynamic_symbols[relocation.symbol].name);
  return names;
}

/// The import that the procedure, as a linker's stub, leads to; empty: it is no stub, or the import
/// has no name.
std::string_view stub_name(const CodeFacts& facts, ProcedureId id,
                           const std::unordered_map<uint64_t, std::string_view>& names) {
  if (!facts.is_import_stub(id)) return {};
  const auto name = names.find(*facts.linkage_slot(id, 0));
  return name == names.end() ? std::string_view() : name->second;
}

/// The blocks of a procedure that end in calls of procedures with such names.
std::vector<BlockId> calls_of_forks(const Program& program, const CodeFacts& facts, ProcedureId id,
                                    const std::unordered_map<uint64_t, std::string_view>& names) {
  std::vector<BlockId> result;
  for (BlockId b = 0; b < program[id].blocks.size(); ++b) {
    const auto slot = facts.linkage_slot(id, b);
    if (!slot) continue;
    const auto name = names.find(*slot);
    if (name != names.end() && forks(name->second)) result.push_back(b);
  }
  return result;
}

}  // namespace

bool comes_back_otherwise(std::string_view name) {
  name = name.substr(0, name.find('.', 1));  // drops suffixes like .constprop.0
  constexpr std::string_view kNames[] = {"clone",
                                         "fork",
                                         "getcontext",
                                         "longjmp",
                                         "setcontext",
                                         "setjmp",
                                         "siglongjmp",
                                         "sigsetjmp",
                                         "swapcontext",
                                         "vfork",
                                         "Fork",
                                         "libc_fork",
                                         "libc_longjmp",
                                         "libc_siglongjmp",
                                         "libc_vfork",
                                         "clone_internal",
                                         "longjmp_chk",
                                         "Unwind_ForcedUnwind",
                                         "Unwind_RaiseException",
                                         "Unwind_Resume",
                                         "Unwind_Resume_or_Rethrow",
                                         "uw_install_context"};
  return std::find(std::begin(kNames), std::end(kNames), without_underscores(name)) !=
         std::end(kNames);
}

std::vector<bool> find_always_cut(const Program& program, const CodeFacts& facts) {
  const auto names = bound_names(*program.image, facts);
  std::vector<bool> result;
  std::vector<ProcedureId> twice;
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const Procedure& procedure = program[id];
    const bool by_name = procedure.movable() && procedure.returns && !names.empty() &&
                         !calls_of_forks(program, facts, id, names).empty();
    const std::string_view import = stub_name(facts, id, names);
    result.push_back(by_name || comes_back_otherwise(procedure.name) ||
                     comes_back_otherwise(import));
    if (by_name || forks(procedure.name) || forks(import)) twice.push_back(id);
  }
  const CallGraph& calls = facts.calls();
  while (!twice.empty()) {
    const ProcedureId id = twice.back();
    twice.pop_back();
    for (const uint32_t call : calls.callers_of(id)) {
      const ProcedureId caller = calls.calls()[call].caller;
      if (result[caller] || !program[caller].returns) continue;
      result[caller] = true;
      twice.push_back(caller);
    }
  }
  return result;
}

std::vector<std::pair<ProcedureId, BlockId>> find_forks(const Program& program,
                                                        const CodeFacts& facts) {
  std::vector<std::pair<ProcedureId, BlockId>> result;
  std::vector<bool> known(program.procedures.size());
  std::vector<ProcedureId> twice;  // procedures that return in two processes
  const auto returns_twice = [&](ProcedureId id) {
    if (!known[id]) twice.push_back(id);
    known[id] = true;
  };
  const auto take = [&](ProcedureId id, BlockId block) {
    const BasicBlock& last = program[id].blocks[block];
    const bool call = is_call(program.machine->facts(last.instructions.back()).flow);
    if (!call || last.edge(Edge::Kind::fall_through) == nullptr) return returns_twice(id);
    if (program[id].movable()) result.emplace_back(id, block);
  };
  const auto names = bound_names(*program.image, facts);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    if (program[id].movable())
      for (const BlockId block : calls_of_forks(program, facts, id, names)) take(id, block);
    if (forks(program[id].name) || forks(stub_name(facts, id, names))) returns_twice(id);
  }
  while (!twice.empty()) {
    const ProcedureId id = twice.back();
    twice.pop_back();
    for (const uint32_t number : facts.calls().callers_of(id)) {
      const Call& call = facts.calls().calls()[number];
      take(call.caller, call.block);
    }
  }
  return result;
}

}  // namespace respike
