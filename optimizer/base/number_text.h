#pragma once
// Numbers as people read them.

#include <cstdint>
#include <string>

namespace respike {

/// "12.34%"; 0% of nothing.
std::string percent(double part, double whole);
/// 1234567 as 1,234,567.
std::string grouped(uint64_t number);

}  // namespace respike
