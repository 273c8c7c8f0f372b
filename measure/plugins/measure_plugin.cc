// A QEMU plugin that drives a machine model with the code that a program executes.
//
//     qemu-alpha -plugin .../respike-measure.so,out=FILE,model=alpha21164 program
//
// Each process writes a file of its own, FILE.PID.N (measurement_file.h); run.cc starts programs
// and reads the files. With `all=FILE` instead of `out=FILE` the events are in a second file, by
// the place of the code (places_file.h), and the first file has 0: the run is the sum of both. The
// two options have the same length, since a program can see them: they are in its environment,
// which takes space on its stack.
//
// Idea. A piece of the model is a translation block of QEMU: straight code in which only the last
// instruction may change the flow of control. The model reads a block when QEMU translates the
// block; each time the block begins, one call notifies the model. This is not exact if a fault
// leaves a block in its middle. So the plugin counts instructions separately, like the counting
// plugin: by an inline add before each instruction. At the next block, the count also shows whether
// the previous block was completed. If a fault leaves a block, fetch and issue of the whole block
// stay counted.
//
// Threads. Each thread has a processor of its own; threads share only the code. Once there is a
// second thread, QEMU makes all translations again, and calls that know the thread count
// instructions. A forked child continues with its parent's caches, and counts from 0.
//
// Limits. Those of the counting plugin. The transfer of control to a signal handler is not caused
// by an instruction; the model neither counts this transfer nor learns from it.

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "measure/plugins/mapped_files.h"
#include "measure/plugins/measurement_file.h"
#include "measure/plugins/places_file.h"
#include "measure/plugins/process_file.h"
#include "measure/plugins/qemu_plugin.h"
#include "models/machine_models.h"

namespace {

using namespace respike::measure;

constexpr const char* kName = "respike-measure";

struct Thread {
  Events* events = nullptr;  // events of the present block
  std::unique_ptr<Processor> processor;
  uint64_t end = 0;           // instructions in `events` when the present block is completed
  std::vector<Events*> rows;  // with places: by KnownPiece::number; null: not executed yet
};

/// A piece and its code. The address may get other code later.
struct KnownPiece {
  std::vector<uint8_t> code;
  std::unique_ptr<Piece> piece;
  uint32_t number = 0;
  std::string image;    // with places: the file of the code; empty: none
  uint64_t offset = 0;  // offset in that file
};

std::string g_path;  // absolute, without process number
std::unique_ptr<MachineModel> g_model;
MeasurementFile* g_file;
std::array<Thread, MeasurementFile::kThreads> g_threads;
std::unordered_map<uint64_t, std::deque<KnownPiece>> g_pieces;  // by address
uint32_t g_number_of_pieces = 0;
std::unique_ptr<PlaceRows> g_rows;  // null: without places
MappedFiles g_mapped;
std::atomic<bool> g_mappings_changed = true;
bool g_is_alpha;
std::atomic<bool> g_several_threads = false;
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;  // guards everything but atomics and data of a
                                                     // single thread

// --- Processes

/// `threads`: the number of threads that have a slot.
void map_new_file(uint32_t threads) {
  g_file = static_cast<MeasurementFile*>(
      map_process_file(kName, g_path, sizeof(MeasurementFile), g_file));
  reserve_room(kName, g_file, offsetof(MeasurementFile, events) + threads * sizeof(Events));
  g_file->threads = threads;
  memcpy(g_file->magic, MeasurementFile::kMagic, sizeof g_file->magic);
  g_file->process = uint32_t(getpid());
}

void before_fork() {
  pthread_mutex_lock(&g_lock);
}
void after_fork_in_parent() {
  pthread_mutex_unlock(&g_lock);
}

void after_fork_in_child() {
  const uint32_t threads = g_file->threads;
  for (uint32_t i = 0; i < threads; i++)
    if (g_threads[i].events) g_threads[i].end -= g_threads[i].events->instructions;
  map_new_file(threads);
  if (g_rows) g_rows->start_child();
  pthread_mutex_unlock(&g_lock);
}

// --- Functions that QEMU calls

void start_thread(unsigned vcpu) {
  if (vcpu >= MeasurementFile::kThreads)
    fail(kName, "more than %u threads", MeasurementFile::kThreads);
  pthread_mutex_lock(&g_lock);
  Thread& thread = g_threads[vcpu];
  thread.events = &g_file->events[vcpu];
  reserve_room(kName, thread.events, sizeof(Events));
  thread.processor = g_model->make_processor();
  thread.end = thread.events->instructions;
  if (g_file->threads <= vcpu) g_file->threads = vcpu + 1;
  pthread_mutex_unlock(&g_lock);
}

void on_new_thread(qemu_plugin_id_t, unsigned vcpu) {
  if (vcpu > 0) g_several_threads = true;
  start_thread(vcpu);
}

/// The thread's row of a piece. Called under the lock.
Events& add_row(unsigned vcpu, const KnownPiece& known) {
  std::vector<Events*>& rows = g_threads[vcpu].rows;
  if (rows.size() <= known.number) rows.resize(g_number_of_pieces);
  if (!rows[known.number]) rows[known.number] = &g_rows->row(vcpu, known.image, known.offset);
  return *rows[known.number];
}

Events& row_of(unsigned vcpu, const KnownPiece& known) {
  const std::vector<Events*>& rows = g_threads[vcpu].rows;
  if (known.number < rows.size() && rows[known.number]) return *rows[known.number];
  pthread_mutex_lock(&g_lock);
  Events& row = add_row(vcpu, known);
  pthread_mutex_unlock(&g_lock);
  return row;
}

void on_block(unsigned vcpu, void* data) {
  Thread& thread = g_threads[vcpu];
  Piece& piece = *static_cast<Piece*>(data);
  const uint64_t begun = thread.events->instructions;
  thread.processor->begin(piece, *thread.events, begun == thread.end);
  thread.end = begun + piece.instructions;
}

/// With places: the same, but each piece has a row of the thread.
void on_block_in_place(unsigned vcpu, void* data) {
  Thread& thread = g_threads[vcpu];
  const KnownPiece& known = *static_cast<const KnownPiece*>(data);
  const bool completed = thread.events->instructions == thread.end;
  thread.events = &row_of(vcpu, known);
  thread.end = thread.events->instructions + known.piece->instructions;
  thread.processor->begin(*known.piece, *thread.events, completed);
}

/// `data`: how many instructions count here.
void on_instructions(unsigned vcpu, void* data) {
  g_threads[vcpu].events->instructions += reinterpret_cast<uintptr_t>(data);
}

/// Counts the instructions of a block when they begin.
void add_counting(qemu_plugin_tb* block, size_t instructions, const Piece& piece, Events& events) {
  const std::vector<uint8_t>& counted_at = piece.counted_at;
  for (size_t i = 0; i < instructions; i++) {
    const uint64_t count = i < counted_at.size() ? counted_at[i] : 1;
    if (count == 0) continue;
    qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    if (g_several_threads)
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instructions, QEMU_PLUGIN_CB_NO_REGS,
                                             reinterpret_cast<void*>(count));
    else
      qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                                                 &events.instructions, count);
  }
}

KnownPiece& piece_of(qemu_plugin_tb* block, const std::vector<uint8_t>& code) {
  const uint64_t address = qemu_plugin_tb_vaddr(block);
  const MappedFile* file = nullptr;
  uint64_t offset = 0;
  if (g_rows) {
    if (g_mappings_changed.exchange(false)) g_mapped.read(kName);
    const auto host =
        reinterpret_cast<uint64_t>(qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(block, 0)));
    file = g_mapped.find(host);
    if (file) offset = host - file->start + file->offset;
  }
  std::deque<KnownPiece>& known = g_pieces[address];
  for (KnownPiece& k : known)
    if (k.code == code && k.offset == offset && k.image == (file ? file->path : "")) return k;
  known.push_back({.code = code,
                   .piece = g_model->read(address, address + code.size(), code),
                   .number = g_number_of_pieces++,
                   .image = file ? file->path : "",
                   .offset = offset});
  return known.back();
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  static std::vector<uint8_t> code;
  pthread_mutex_lock(&g_lock);
  code.clear();
  const size_t instructions = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < instructions; i++) {
    qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    const auto* bytes = static_cast<const uint8_t*>(qemu_plugin_insn_data(instruction));
    code.insert(code.end(), bytes, bytes + qemu_plugin_insn_size(instruction));
  }
  if (code.empty()) return void(pthread_mutex_unlock(&g_lock));
  KnownPiece& known = piece_of(block, code);
  Events* first_thread = &g_file->events[0];
  if (g_rows && !g_several_threads) first_thread = &add_row(0, known);
  add_counting(block, instructions, *known.piece, *first_thread);
  if (g_rows)
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block_in_place, QEMU_PLUGIN_CB_NO_REGS, &known);
  else
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         known.piece.get());
  pthread_mutex_unlock(&g_lock);
}

void on_system_call_return(qemu_plugin_id_t, unsigned, int64_t number, int64_t) {
  if (may_change_mappings(g_is_alpha, number)) g_mappings_changed = true;
}

}  // namespace

int qemu_plugin_version = 1;

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  const ModelInfo* model = nullptr;
  bool places = false;
  for (int i = 0; i < argc; i++) {
    if (strncmp(argv[i], "out=", 4) == 0) g_path = argv[i] + 4;
    if (strncmp(argv[i], "model=", 6) == 0) model = find_model(argv[i] + 6);
    if (strncmp(argv[i], "all=", 4) == 0) {
      g_path = argv[i] + 4;
      places = true;
    }
  }
  if (g_path.empty() || !model || !model->make || argc != 2 || info->system_emulation)
    fail(kName, "needs out=FILE or all=FILE, model=NAME and an emulator of programs");
  g_path = absolute_path(g_path);
  g_is_alpha = strcmp(info->target_name, "alpha") == 0;
  g_model = model->make();
  map_new_file(0);
  if (places) g_rows = std::make_unique<PlaceRows>(kName, g_path);
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  qemu_plugin_register_vcpu_init_cb(id, on_new_thread);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  if (places) qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_return);
  return 0;
}
