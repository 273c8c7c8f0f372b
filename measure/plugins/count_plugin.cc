// A QEMU plugin that counts how often each instruction of a program begins, exactly.
//
//     qemu-alpha -plugin .../respike-count.so,out=FILE program
//
// Each process writes a file of its own, FILE.PID.N, where N is 0. A process that executes another
// program, or that gets a recycled process number, takes the next free N. tests/e2e/oracle.py
// starts programs and reads the files.
//
// Idea. Before the program starts, the plugin maps the file with its counters into the emulator.
// The kernel keeps the file, however the process ends: exit, a deadly signal or exec. QEMU has no
// hook for a deadly signal or exec. Each instruction gets a callback that adds to its counter
// atomically. Inline adds would take three quarters of the time, but are not atomic, and QEMU does
// not always drop them when a second thread is made (see qemu_plugin.h). A forked child maps a new
// file over the old one, at the same place, where the child's translations expect the counters; the
// new file starts with the parent's places, all counts 0. Every instruction has a counter, not
// every block, since an instruction that faults leaves its block in the middle.
//
// A place says where code came from: the file that the host has mapped at the instruction's bytes,
// and the offset in that file, both found when the instruction is translated. Places do not depend
// on load addresses, and stay right when a library is unmapped and another library is mapped at the
// same address. When the program changes its mappings, QEMU drops the translations there, and this
// plugin reads /proc/self/maps again before the next translation.
//
// Example: `ldq` at address 0x120000460 of ./hello, mapped from offset 0x460, is the place
// (0x120000460, offset 0x460, image 1); its counter says how often it began.
//
// Format, in the byte order of the host:
//
// - Header, padded to 4096 bytes
// - names of images, 64 KB: absolute paths, each ended by a 0 byte, from image 1 on; image 0 is
//   memory without a file
// - places: room for `capacity` places, of which the first `used` are valid
// - counts: `capacity` numbers of 64 bits; count i belongs to place i
//
// The file has holes where nothing was written. It may be read while the program runs.
//
// Limits. An instruction that begins twice counts twice: a faulting instruction that the signal
// handler repeats, a system call that a signal interrupted. Threads that still run when another
// thread ends the program are not counted to their last instruction. A process that cannot make its
// file (the folder is gone, or files may not be 150 MB long, holes included) ends with status 125.
// A full disk is a bus error.

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "measure/plugins/mapped_files.h"
#include "measure/plugins/process_file.h"
#include "measure/plugins/qemu_plugin.h"

namespace {

using respike::measure::absolute_path;
using respike::measure::fail;
using respike::measure::map_process_file;
using respike::measure::MappedFile;
using respike::measure::MappedFiles;
using respike::measure::may_change_mappings;

constexpr const char* kName = "respike-count";
constexpr uint64_t kCapacity = 4 << 20;  // 16 MB of executed Alpha code
constexpr uint64_t kNamesSize = 64 << 10;
constexpr uint64_t kTableSize = 2 * kCapacity;

struct Header {
  char magic[8];
  uint64_t capacity;
  uint64_t used;
  uint64_t start_nanoseconds;  // of the monotonic clock; orders the files
  uint32_t process;
  uint32_t parent;  // the counted process that forked this one, else 0
  uint32_t images;  // names written
  uint32_t names_size;
};

struct Place {
  uint64_t address;  // address at which the program runs it
  uint64_t offset;   // offset in the file; 0 for memory without a file
  uint32_t image;
  uint32_t word;  // the first four bytes: replaced code at the same place has its own counts

  bool operator==(const Place&) const = default;
};
static_assert(sizeof(Place) == 24);

struct File {
  Header header;
  char padding[4096 - sizeof(Header)];
  char names[kNamesSize];
  Place places[kCapacity];
  uint64_t counts[kCapacity];
};

std::string g_path;  // absolute, without process number
File* g_file;
uint32_t* g_table;  // hash table of place numbers + 1; 0 is free
std::vector<std::string> g_images = {""};
MappedFiles g_mapped;
std::vector<uint32_t> g_images_of_mapped;  // for each of g_mapped.all()
std::atomic<bool> g_mappings_changed = true;
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;  // does not guard g_mappings_changed and counts
bool g_is_alpha;

// --- The file

/// Makes this process's file and maps it: at `where` unless that is null.
File* map_new_file(File* where) {
  return static_cast<File*>(map_process_file(kName, g_path, sizeof(File), where));
}

void fill_header(Header& header, uint32_t parent) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  memcpy(header.magic, "RSPKCNT1", 8);
  header.capacity = kCapacity;
  header.start_nanoseconds = uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
  header.process = uint32_t(getpid());
  header.parent = parent;
}

void before_fork() {
  pthread_mutex_lock(&g_lock);
}
void after_fork_in_parent() {
  pthread_mutex_unlock(&g_lock);
}

void after_fork_in_child() {
  Header header = g_file->header;
  fill_header(header, header.process);
  std::vector<Place> places(g_file->places, g_file->places + header.used);
  std::string names(g_file->names, header.names_size);
  map_new_file(g_file);
  memcpy(g_file->places, places.data(), places.size() * sizeof(Place));
  memcpy(g_file->names, names.data(), names.size());
  g_file->header = header;
  pthread_mutex_unlock(&g_lock);
}

// --- The origin of code

uint32_t image_number(const std::string& path) {
  for (uint32_t i = 1; i < g_images.size(); i++)
    if (g_images[i] == path) return i;
  Header& header = g_file->header;
  if (header.names_size + path.size() + 1 > kNamesSize) fail(kName, "too many images");
  memcpy(g_file->names + header.names_size, path.c_str(), path.size() + 1);
  header.names_size += uint32_t(path.size() + 1);
  header.images++;
  g_images.push_back(path);
  return uint32_t(g_images.size() - 1);
}

void read_mappings() {
  g_mappings_changed = false;
  g_mapped.read(kName);
  g_images_of_mapped.clear();
  for (const MappedFile& file : g_mapped.all())
    g_images_of_mapped.push_back(image_number(file.path));
}

uint32_t counter_of(const Place& place) {
  uint64_t hash = (place.address ^ place.offset << 20 ^ uint64_t(place.image) << 50 ^
                   uint64_t(place.word) << 30) *
                  0x9e3779b97f4a7c15;
  for (uint64_t slot = hash >> 41;; slot = slot + 1) {
    uint32_t& entry = g_table[slot % kTableSize];
    if (entry != 0 && g_file->places[entry - 1] == place) return entry - 1;
    if (entry != 0) continue;
    uint64_t used = g_file->header.used;
    if (used == kCapacity)
      fail(kName, "more than %llu instructions", (unsigned long long)kCapacity);
    g_file->places[used] = place;
    __atomic_store_n(&g_file->header.used, used + 1, __ATOMIC_RELEASE);
    entry = uint32_t(used + 1);
    return uint32_t(used);
  }
}

// --- Functions that QEMU calls

void count_atomically(unsigned, void* counter) {
  __atomic_fetch_add(static_cast<uint64_t*>(counter), 1, __ATOMIC_RELAXED);
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  pthread_mutex_lock(&g_lock);
  if (g_mappings_changed) read_mappings();
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
    qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    uint64_t host = reinterpret_cast<uint64_t>(qemu_plugin_insn_haddr(instruction));
    Place place = {
        .address = qemu_plugin_insn_vaddr(instruction), .offset = 0, .image = 0, .word = 0};
    if (const MappedFile* file = g_mapped.find(host)) {
      place.image = g_images_of_mapped[size_t(file - g_mapped.all().data())];
      place.offset = host - file->start + file->offset;
    }
    memcpy(&place.word, qemu_plugin_insn_data(instruction),
           std::min(qemu_plugin_insn_size(instruction), sizeof place.word));
    uint64_t* counter = &g_file->counts[counter_of(place)];
    qemu_plugin_register_vcpu_insn_exec_cb(instruction, count_atomically, QEMU_PLUGIN_CB_NO_REGS,
                                           counter);
  }
  pthread_mutex_unlock(&g_lock);
}

void on_system_call_return(qemu_plugin_id_t, unsigned, int64_t number, int64_t) {
  if (may_change_mappings(g_is_alpha, number)) g_mappings_changed = true;
}

}  // namespace

int qemu_plugin_version = 1;

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  for (int i = 0; i < argc; i++)
    if (strncmp(argv[i], "out=", 4) == 0) g_path = argv[i] + 4;
  if (g_path.empty() || argc != 1 || info->system_emulation)
    fail(kName, "needs out=FILE and an emulator of programs");
  g_path = absolute_path(g_path);
  g_is_alpha = strcmp(info->target_name, "alpha") == 0;
  void* table = mmap(nullptr, kTableSize * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (table == MAP_FAILED) fail(kName, "%s", strerror(errno));
  g_table = static_cast<uint32_t*>(table);
  g_file = map_new_file(nullptr);
  fill_header(g_file->header, 0);
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_return);
  return 0;
}
