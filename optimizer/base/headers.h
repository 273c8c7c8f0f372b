#pragma once
// The headers that take longest to compile, precompiled for all libraries: a file then compiles in
// two thirds to three quarters of the time. A file still includes what it uses; scripts/nightly.sh
// builds without this header.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
