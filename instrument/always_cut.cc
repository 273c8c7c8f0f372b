#include "instrument/always_cut.h"

#include <algorithm>
#include <iterator>

namespace respike {

bool comes_back_otherwise(std::string_view name) {
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
                                         "Unwind_Resume_or_Rethrow"};
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace respike
