#pragma once
// The part of QEMU's plugin interface that Respike uses, declared here because Debian ships no
// header for it. QEMU looks up qemu_plugin_version and qemu_plugin_install in the plugin; the other
// functions are symbols of the emulator itself, so that a plugin is linked without them. Version 1
// of the interface: QEMU 6.0 to 8.2. Only emulators that are dynamic executables take plugins
// (/usr/bin/qemu-alpha of qemu-user, not qemu-alpha-static).
//
// Behaviour of plugins under user-mode emulation, tested with QEMU 7.2:
//
// - A translation block is translated once and executed often. The translation callback sees the
//   block's instructions and attaches callbacks and adds to them. Translations never overlap: QEMU
//   holds its memory map lock during a translation, and takes the same lock around fork.
// - The callbacks and adds of an instruction happen before the instruction, each time it begins. So
//   an instruction that faults has been counted; the later instructions of the block have not.
// - An inline add is three host instructions without a lock. Two threads, or two processes that
//   share the counter, lose adds.
// - QEMU drops all translations and makes new ones, once: when a second thread is made or memory is
//   mapped shared, whichever comes first. A program that maps shared memory before it makes its
//   threads keeps the translations that the callback meant for a single thread.
// - A forked child keeps the plugin with its memory, its translations and its callbacks.
// - At exit and exit_group QEMU calls the exit callbacks; not at a deadly signal, and not at exec.

#include <stddef.h>
#include <stdint.h>

extern "C" {

using qemu_plugin_id_t = uint64_t;

/// A translation block and an instruction of it; both live as long as the translation callback.
struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct qemu_info_t {
  const char* target_name;  // the emulated processor: "alpha", "x86_64"
  struct {
    int min;
    int cur;
  } version;              // versions of the interface that the emulator supports
  bool system_emulation;  // a whole machine; else a program
  union {
    struct {
      int smp_vcpus;
      int max_vcpus;
    } system;
  };
};

/// How a callback uses the registers. QEMU 7.2 ignores the flag: registers are out of reach.
enum qemu_plugin_cb_flags {
  QEMU_PLUGIN_CB_NO_REGS,
  QEMU_PLUGIN_CB_R_REGS,
  QEMU_PLUGIN_CB_RW_REGS,
};

enum qemu_plugin_mem_rw {
  QEMU_PLUGIN_MEM_R = 1,
  QEMU_PLUGIN_MEM_W,
  QEMU_PLUGIN_MEM_RW,
};

enum qemu_plugin_op {
  QEMU_PLUGIN_INLINE_ADD_U64,
};

/// Size, direction and byte order of an access to memory, for the qemu_plugin_mem_ functions.
using qemu_plugin_meminfo_t = uint32_t;

using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t id, void* data);
using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void* data);
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb* block);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu, qemu_plugin_meminfo_t info,
                                           uint64_t address, void* data);
using qemu_plugin_vcpu_syscall_ret_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu,
                                                   int64_t number, int64_t result);

// Functions that the plugin defines. `argv` has the text after the plugin's name on the command
// line, split at commas. A result other than 0 ends the emulator.
#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                           char** argv);

// Events of the whole program. A vcpu is a thread of the program; the first thread has number 0.
// The callback for a new thread runs in the thread that makes it.
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t callback);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t callback);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           qemu_plugin_vcpu_tb_trans_cb_t callback);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id,
                                              qemu_plugin_vcpu_syscall_ret_cb_t callback);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t callback,
                                    void* data);

// Looking at a block and its instructions. The host address is the address of the instruction's
// bytes in the memory of the emulator.
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb* block);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* block, size_t index);
const void* qemu_plugin_insn_data(const qemu_plugin_insn* instruction);
size_t qemu_plugin_insn_size(const qemu_plugin_insn* instruction);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn* instruction);
void* qemu_plugin_insn_haddr(const qemu_plugin_insn* instruction);

// Attaching to a block, an instruction, or the accesses to memory that an instruction makes.
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* block,
                                          qemu_plugin_vcpu_udata_cb_t callback,
                                          qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* block, qemu_plugin_op op,
                                              void* counter, uint64_t amount);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* instruction,
                                            qemu_plugin_vcpu_udata_cb_t callback,
                                            qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn* instruction, qemu_plugin_op op,
                                                void* counter, uint64_t amount);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn* instruction,
                                      qemu_plugin_vcpu_mem_cb_t callback,
                                      qemu_plugin_cb_flags flags, qemu_plugin_mem_rw direction,
                                      void* data);

// Of an access to memory: the base-2 logarithm of its size in bytes, and its direction.
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);

/// Writes to the emulator's log (stderr, or the file that -D names).
void qemu_plugin_outs(const char* text);
}
