#pragma once
// The registers of a stopped process on x86-64 (ptrace(2), PTRACE_GETREGS).

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace respike {

/// Names and values, the address of the instruction first; empty: they cannot be read.
inline std::vector<std::pair<std::string, uint64_t>> registers_of(pid_t process) {
  struct user_regs_struct r {};
  if (ptrace(PTRACE_GETREGS, process, nullptr, &r) != 0) return {};
  return {{"rip", r.rip}, {"rsp", r.rsp}, {"rbp", r.rbp}, {"rax", r.rax}, {"rbx", r.rbx},
          {"rcx", r.rcx}, {"rdx", r.rdx}, {"rsi", r.rsi}, {"rdi", r.rdi}, {"r8", r.r8},
          {"r9", r.r9},   {"r10", r.r10}, {"r11", r.r11}, {"r12", r.r12}, {"r13", r.r13},
          {"r14", r.r14}, {"r15", r.r15}, {"eflags", r.eflags}};
}

}  // namespace respike
