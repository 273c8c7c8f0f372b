#pragma once
// The processor time that a command may take.

#include <cstdint>

namespace respike::cli {

/// From now on the command may take 10 minutes of processor time, and 20 seconds for each MB of its
/// inputs (`bytes`): many times as much as real images need. Then it ends with one sentence and
/// status 1, and leaves no file. This also ends work on a damaged or hostile file that no check has
/// foreseen. RESPIKE_TIME_LIMIT gives another number of seconds; 0: no limit.
void limit_time(uint64_t bytes);

}  // namespace respike::cli
