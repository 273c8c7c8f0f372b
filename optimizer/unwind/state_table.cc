// A hash table with open addressing over the states in UnwindTables::states.
//
// Example: each of ten thousand procedures starts in the state "the CFA is the stack pointer,
// nothing is saved"; the table stores the state once and returns the same index each time.
// Comparing states costs more than hashing them, so hashes are kept and compared first.

#include "optimizer/unwind/state_table.h"

#include "optimizer/base/error.h"

namespace respike {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

uint64_t mix_bytes(uint64_t hash, const std::vector<uint8_t>& bytes) {
  hash = mix(hash, bytes.size());
  for (const uint8_t byte : bytes) hash = mix(hash, byte);
  return hash;
}

uint64_t hash_of(const CfiState& state) {
  uint64_t hash = mix(state.cie, state.cfa_is_expression);
  hash = mix(hash, state.cfa_register);
  hash = mix(hash, static_cast<uint64_t>(state.cfa_offset));
  hash = mix(hash, state.args_size);
  if (state.cfa_is_expression) hash = mix_bytes(hash, state.cfa_expression);
  for (const auto& [register_number, rule] : state.rules) {
    hash = mix(hash, uint64_t{register_number} << 8 | static_cast<uint8_t>(rule.kind));
    hash = mix(hash, static_cast<uint64_t>(rule.value));
    if (!rule.expression.empty()) hash = mix_bytes(hash, rule.expression);
  }
  return hash;
}

}  // namespace

size_t expression_bytes(const CfiState& state) {
  size_t bytes = state.cfa_expression.size();
  for (const auto& [register_number, rule] : state.rules) bytes += rule.expression.size();
  return bytes;
}

StateTable::StateTable(std::vector<CfiState>& states, uint64_t budget)
    : states_(states), slots_(1024, 0), budget_(budget) {}

uint32_t StateTable::index_of(const CfiState& state) {
  const uint64_t hash = hash_of(state);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {  // a slot holds an index + 1
    const uint32_t index = slots_[slot] - 1;
    if (hashes_[index] == hash && states_[index] == state) return index;
  }
  const size_t bytes = expression_bytes(state);
  if (bytes > kMaxExpressionBytes) throw Error("expressions in unwind tables are too long");
  const uint64_t cost = 2 + state.rules.size() + bytes / 32;
  if (cost > budget_) throw Error("unwind tables have too many different states");
  budget_ -= cost;
  const uint32_t index = static_cast<uint32_t>(states_.size());
  states_.push_back(state);
  hashes_.push_back(hash);
  slots_[slot] = index + 1;
  if (states_.size() * 2 > slots_.size()) grow();
  return index;
}

void StateTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t index = 0; index < hashes_.size(); ++index) {
    size_t slot = hashes_[index] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = index + 1;
  }
}

}  // namespace respike
