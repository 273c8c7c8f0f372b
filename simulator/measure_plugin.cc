// A QEMU plugin that drives a machine model with what a program executes.
//
//     qemu-alpha -plugin .../respike-measure.so,out=FILE,model=alpha21164 program
//
// Each process writes a file of its own, FILE.PID.N (measurement_file.h); run.cc starts programs
// and reads the files.
//
// Idea. A piece of the model is a translation block of QEMU: straight code whose last instruction
// alone may change the flow of control. The model reads a block when QEMU translates the block;
// each time the block begins, one call tells the model. This is not exact where a fault leaves a
// block in its middle. So the plugin counts instructions apart, as the counting plugin does: by an
// inline add before each instruction. At the next block, the count also shows whether the previous
// block was completed. Fetch and issue of a block that a fault left stay counted as a whole.
//
// Threads. Each thread has a processor of its own; threads share only the code. Once there is a
// second thread, QEMU makes all translations anew, and calls that know the thread count
// instructions. A forked child goes on with its parent's caches, and counts from 0.
//
// Limits. Those of the counting plugin. No instruction transfers control to a signal handler; the
// model neither counts this transfer nor learns from it.

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/machine_models.h"
#include "simulator/measurement_file.h"
#include "simulator/process_file.h"
#include "simulator/qemu_plugin.h"

namespace {

using namespace respike::simulator;

constexpr const char* kName = "respike-measure";

struct Thread {
  Events* events = nullptr;
  std::unique_ptr<Processor> processor;
  uint64_t end = 0;  // instructions counted when the present block is completed
};

/// A piece and its code. Other code may come to stand at the same address.
struct KnownPiece {
  std::vector<uint8_t> code;
  std::unique_ptr<Piece> piece;
};

std::string g_path;  // absolute, without process number
std::unique_ptr<MachineModel> g_model;
MeasurementFile* g_file;
std::array<Thread, MeasurementFile::kThreads> g_threads;
std::unordered_map<uint64_t, std::vector<KnownPiece>> g_pieces;  // by address
std::atomic<bool> g_several_threads = false;
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;  // guards g_pieces and the file's header

// --- Processes

/// `threads`: how many of them have a slot.
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
  pthread_mutex_unlock(&g_lock);
}

// --- What QEMU calls

void start_thread(unsigned vcpu) {
  if (vcpu >= MeasurementFile::kThreads)
    fail(kName, "more than %u threads", MeasurementFile::kThreads);
  pthread_mutex_lock(&g_lock);
  Thread& thread = g_threads[vcpu];
  thread.events = &g_file->events[vcpu];
  reserve_room(kName, thread.events, sizeof(Events));
  thread.processor = g_model->make_processor(*thread.events);
  thread.end = thread.events->instructions;
  if (g_file->threads <= vcpu) g_file->threads = vcpu + 1;
  pthread_mutex_unlock(&g_lock);
}

void on_new_thread(qemu_plugin_id_t, unsigned vcpu) {
  if (vcpu > 0) g_several_threads = true;
  start_thread(vcpu);
}

void on_block(unsigned vcpu, void* data) {
  Thread& thread = g_threads[vcpu];
  Piece& piece = *static_cast<Piece*>(data);
  const uint64_t begun = thread.events->instructions;
  thread.processor->begin(piece, begun == thread.end);
  thread.end = begun + piece.instructions;
}

void on_instruction(unsigned vcpu, void*) {
  ++g_threads[vcpu].events->instructions;
}

Piece& piece_of(uint64_t address, const std::vector<uint8_t>& code) {
  std::vector<KnownPiece>& known = g_pieces[address];
  for (KnownPiece& k : known)
    if (k.code == code) return *k.piece;
  known.push_back({code, g_model->read(address, address + code.size(), code)});
  return *known.back().piece;
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* block) {
  static std::vector<uint8_t> code;
  pthread_mutex_lock(&g_lock);
  code.clear();
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
    qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    const auto* bytes = static_cast<const uint8_t*>(qemu_plugin_insn_data(instruction));
    code.insert(code.end(), bytes, bytes + qemu_plugin_insn_size(instruction));
    if (g_several_threads)
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, QEMU_PLUGIN_CB_NO_REGS,
                                             nullptr);
    else
      qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                                                 &g_file->events[0].instructions, 1);
  }
  if (!code.empty())
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_PLUGIN_CB_NO_REGS,
                                         &piece_of(qemu_plugin_tb_vaddr(block), code));
  pthread_mutex_unlock(&g_lock);
}

}  // namespace

int qemu_plugin_version = 1;

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  const ModelInfo* model = nullptr;
  for (int i = 0; i < argc; i++) {
    if (strncmp(argv[i], "out=", 4) == 0) g_path = argv[i] + 4;
    if (strncmp(argv[i], "model=", 6) == 0) model = find_model(argv[i] + 6);
  }
  if (g_path.empty() || !model || !model->make || argc != 2 || info->system_emulation)
    fail(kName, "needs out=FILE, model=NAME and an emulator of programs");
  g_path = absolute_path(g_path);
  g_model = model->make();
  map_new_file(0);
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  qemu_plugin_register_vcpu_init_cb(id, on_new_thread);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  return 0;
}
