// A QEMU plugin that counts what layouts change: executed instructions, control transfers, misses
// of an instruction cache and of an instruction TLB. Ten times as fast as valgrind's tools.
//
//     qemu-x86_64 -plugin .../respike-fetch.so,out=FILE program
//
// Idea. QEMU executes translation blocks, straight code without a jump inside. If a block does not
// start at the end of the block before, control was transferred there: by a call, a return or
// another jump, as the last instruction of the block before shows. Blocks that QEMU cut for other
// reasons follow each other. Each block's lines go through the caches.
//
// Example: `jne` at the end of block A, to B. If B does not follow A and `jne` jumps, B starts
// elsewhere: one taken jump. If `jne` falls through, the next block starts at A's end.
//
// The cache has 32 KB, 8 ways and lines of 64 bytes, the least recently used line goes, nothing is
// prefetched: what `valgrind --tool=cachegrind --I1=32768,8,64` counts. The TLB has 64 entries for
// pages of 4 KB, any page in any entry.
//
// FILE gets one JSON object at exit. Other processes of the program are not counted.
//
// Limits. One thread. A string instruction with a repeat prefix begins anew each time. A block that
// a fault or signal leaves counts as a whole. Only x86-64: the opcodes of calls and returns.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <string>

#include "measure/plugins/qemu_plugin.h"

namespace {

enum Transfer : uint8_t { kJump, kCall, kReturn };

/// A translation block.
struct Block {
  uint64_t start, end;
  uint64_t last;  // address of the last instruction
  uint32_t instructions;
  Transfer transfer;  // the effect of the last instruction, if it leaves the block
  bool always;        // the last instruction is an indirect jump, which may also lead to the next
};

template <unsigned kSets, unsigned kWays>
class Cache {
 public:
  /// Whether a line was missing. A set holds its lines by their last use, the latest first.
  bool misses(uint64_t line) {
    auto& set = sets_[line % kSets];
    if (set[0] == line) return false;
    const auto last = set.end() - 1;
    const auto found = std::find(set.begin(), last, line);
    const bool missing = *found != line;
    std::copy_backward(set.begin(), found, found + 1);
    set[0] = line;
    return missing;
  }

 private:
  std::array<std::array<uint64_t, kWays>, kSets> sets_{};
};

constexpr unsigned kLine = 64, kPage = 4096;

std::string g_out;
int g_process;
std::deque<Block> g_blocks;
const Block* g_before = nullptr;
Cache<64, 8> g_cache;
Cache<1, 64> g_tlb;
uint64_t g_line = 0, g_page = 0;  // the latest
uint64_t g_instructions = 0, g_transfers[3] = {}, g_misses = 0, g_page_misses = 0;

void execute(unsigned, void* data) {
  const Block& block = *static_cast<const Block*>(data);
  g_instructions += block.instructions;
  if (g_before != nullptr && block.start != g_before->last &&
      (block.start != g_before->end || g_before->always))
    ++g_transfers[g_before->transfer];
  g_before = &block;
  for (uint64_t line = block.start / kLine; line <= (block.end - 1) / kLine; ++line) {
    if (line == g_line) continue;
    g_line = line;
    g_misses += g_cache.misses(line);
    const uint64_t page = line / (kPage / kLine);
    if (page == g_page) continue;
    g_page = page;
    g_page_misses += g_tlb.misses(page);
  }
}

void set_transfer(Block& block, const uint8_t* code, size_t size) {
  size_t at = 0;
  while (at + 1 < size && (code[at] == 0x66 || code[at] == 0x67 || code[at] == 0x3e ||
                           code[at] == 0xf2 || code[at] == 0xf3 || (code[at] & 0xf0) == 0x40))
    ++at;
  const unsigned operation = code[at] == 0xff && at + 1 < size ? code[at + 1] >> 3 & 7 : 0;
  if (code[at] == 0xe8 || operation == 2) block.transfer = kCall;
  if (code[at] == 0xc3 || code[at] == 0xc2) block.transfer = kReturn;
  block.always = operation == 4;
}

void translate(qemu_plugin_id_t, qemu_plugin_tb* block) {
  const size_t count = qemu_plugin_tb_n_insns(block);
  if (count == 0) return;
  const qemu_plugin_insn* last = qemu_plugin_tb_get_insn(block, count - 1);
  const uint64_t address = qemu_plugin_insn_vaddr(last);
  const size_t size = qemu_plugin_insn_size(last);
  const auto* code = static_cast<const uint8_t*>(qemu_plugin_insn_data(last));
  g_blocks.push_back({qemu_plugin_tb_vaddr(block), address + size, address,
                      static_cast<uint32_t>(count), kJump, false});
  set_transfer(g_blocks.back(), code, size);
  qemu_plugin_register_vcpu_tb_exec_cb(block, execute, QEMU_PLUGIN_CB_NO_REGS, &g_blocks.back());
}

void finish(qemu_plugin_id_t, void*) {
  if (getpid() != g_process) return;
  FILE* file = fopen(g_out.c_str(), "w");
  if (file == nullptr) return;
  fprintf(file,
          "{\"instructions\": %" PRIu64 ", \"jumps\": %" PRIu64 ", \"calls\": %" PRIu64
          ", \"returns\": %" PRIu64 ", \"misses\": %" PRIu64 ", \"page_misses\": %" PRIu64 "}\n",
          g_instructions, g_transfers[kJump], g_transfers[kCall], g_transfers[kReturn], g_misses,
          g_page_misses);
  fclose(file);
}

}  // namespace

int qemu_plugin_version = 1;

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  constexpr const char* kOption = "out=";
  if (strcmp(info->target_name, "x86_64") != 0) return 1;
  for (int i = 0; i < argc; ++i)
    if (strncmp(argv[i], kOption, strlen(kOption)) == 0) g_out = argv[i] + strlen(kOption);
  if (g_out.empty()) return 1;
  g_process = getpid();
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, finish, nullptr);
  return 0;
}
