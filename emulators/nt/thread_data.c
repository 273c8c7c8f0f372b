// Thread-local data (directory 9) and the block of each thread.
//
// Code of compilers for NT finds its thread's data in four steps: the PALcode function rdteb gives
// the block of the thread (TEB); the word at 44 of the block leads to an array; the entry of the
// image's number in the array is the address of the thread's copy of the image's template; and the
// distance of the variable from the template's start is added, which the linker puts into the code
// as two halves (SECRELHI, SECRELLO).
//
//   ldah t0,_tls_index
//   call_pal rdteb
//   ldl  v0,44(v0)
//   ldl  t0,_tls_index(t0)
//   s4addl t0,v0,v0
//   ldl  v0,(v0)               the thread's copy of the template
//   ldah t1,hi(v0)
//   ldl  t1,lo(t1)             the variable
//
// The directory says where the template is, how many zeros follow, where the number is stored, and
// which functions of the image are notified of threads.
//
// Linux's PALcode has no rdteb: the processor reports the instruction, and the signal handler here
// does its work. Blocks, arrays and copies are below 2 GB, since code reads their addresses as
// words of 32 bits.
//
// Sources: Microsoft PE/COFF specification, section 6.7 (thread-local storage), and sections 5.2.1
// (SECRELLO, SECRELHI); Alpha Architecture Handbook, Windows NT PALcode (rdteb); Alpha assembler
// manual (rdteb). That the array is at 44 (0x2c) is public knowledge of NT's 32-bit blocks.
//
// Limit: 64 images with thread-local data at a time.

#define _GNU_SOURCE
#include "thread_data.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { kMostNumbers = 64, kArray = 0x2c, kArrayAt = 0x800, kBlockSize = 0x2000, kReadBlock = 0xab };
enum { kTemplate = 0, kTemplateEnd = 4, kNumberAt = 8, kFunctions = 12, kZeros = 16, kSize = 24 };

/// The block of a thread; code reads the words at kArray and from kArrayAt on.
struct block {
  struct block* next;
  uint8_t* memory;
};

static struct block* blocks;
static struct module* owners[kMostNumbers];
static __thread struct block* own;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_end;
static struct sigaction handled_before;  // how other unknown instructions are handled

static const uint8_t* directory_of(const struct module* module) {
  if (module->is_system || module->image.directory_size[kThreadData] < kSize) return NULL;
  return at(&module->image, module->image.directory[kThreadData], kSize);
}

/// The memory at an address from the directory.
static uint8_t* at_address(const struct module* module, uint32_t address, uint32_t size) {
  return at(&module->image, address - (uint32_t)(uintptr_t)module->image.memory, size);
}

static int number_of(const struct module* module) {
  for (int i = 0; i < kMostNumbers; ++i)
    if (owners[i] == module) return i;
  return -1;
}

/// Gives a thread its copy of an image's template.
static void add_copy(struct block* block, int number) {
  const uint8_t* directory = directory_of(owners[number]);
  const uint32_t start = load32(directory + kTemplate),
                 size = load32(directory + kTemplateEnd) - start,
                 zeros = load32(directory + kZeros);
  uint8_t* copy = map_low((uint64_t)size + zeros + 1);
  memcpy(copy, at_address(owners[number], start, size), size);
  store32(block->memory + kArrayAt + 4 * number, (uint32_t)(uintptr_t)copy);
}

static struct block* block_of_thread(void) {
  if (own != NULL) return own;
  struct block* block = calloc(1, sizeof *block);
  if (block == NULL) fail("there is no memory left");
  pthread_mutex_lock(&lock);
  block->memory = map_low(kBlockSize);
  store32(block->memory + kArray, (uint32_t)(uintptr_t)block->memory + kArrayAt);
  for (int i = 0; i < kMostNumbers; ++i)
    if (owners[i] != NULL) add_copy(block, i);
  block->next = blocks;
  blocks = block;
  pthread_mutex_unlock(&lock);
  return own = block;
}

void add_thread_data(struct module* module) {
  const uint8_t* directory = directory_of(module);
  if (directory == NULL) return;
  pthread_mutex_lock(&lock);
  const int number = number_of(NULL);
  if (number < 0) fail("too many images have thread-local data");
  owners[number] = module;
  store32(at_address(module, load32(directory + kNumberAt), 4), (uint32_t)number);
  for (struct block* each = blocks; each != NULL; each = each->next) add_copy(each, number);
  pthread_mutex_unlock(&lock);
}

void remove_thread_data(struct module* module) {
  pthread_mutex_lock(&lock);
  const int number = number_of(module);
  if (number >= 0) owners[number] = NULL;
  pthread_mutex_unlock(&lock);
}

void call_thread_data_functions(const struct module* module, enum reason reason) {
  const uint8_t* directory = directory_of(module);
  if (directory == NULL || load32(directory + kFunctions) == 0) return;
  for (uint32_t list = load32(directory + kFunctions);; list += 4) {
    const uint32_t address = load32(at_address(module, list, 4));
    if (address == 0) return;
    void (*function)(void*, int, void*) = (void*)at_address(module, address, 4);
    function(module->image.memory, reason, NULL);
  }
}

// ---- rdteb

/// Handles an unknown instruction: if it is rdteb, computes its result.
static void on_unknown_instruction(int signal_number, siginfo_t* info, void* context) {
  mcontext_t* machine = &((ucontext_t*)context)->uc_mcontext;
  uint32_t behind, here;
  memcpy(&behind, (void*)(machine->sc_pc - 4), sizeof behind);
  memcpy(&here, (void*)machine->sc_pc, sizeof here);
  if (behind != kReadBlock && here != kReadBlock) {
    if ((handled_before.sa_flags & SA_SIGINFO) != 0)
      handled_before.sa_sigaction(signal_number, info, context);
    else
      signal(signal_number, SIG_DFL);
    return;
  }
  if (behind != kReadBlock) machine->sc_pc += 4;
  machine->sc_regs[0] = (int64_t)(uintptr_t)block_of_thread()->memory;
}

// ---- threads

struct start {
  void* (*routine)(void*);
  void* argument;
};

static void end_thread(void* block) {
  (void)block;
  notify_modules(kThreadDetach);
}

static void* start_thread(void* argument) {
  const struct start start = *(struct start*)argument;
  free(argument);
  pthread_setspecific(at_end, block_of_thread());
  notify_modules(kThreadAttach);
  return start.routine(start.argument);
}

static int create_thread(pthread_t* thread, const pthread_attr_t* attributes,
                         void* (*routine)(void*), void* argument) {
  struct start* start = malloc(sizeof *start);
  if (start == NULL) return -1;
  *start = (struct start){routine, argument};
  return pthread_create(thread, attributes, start_thread, start);
}

void* thread_creator(void) {
  return create_thread;
}

void serve_thread_data(void) {
  struct sigaction action = {.sa_sigaction = on_unknown_instruction,
                             .sa_flags = SA_SIGINFO | SA_NODEFER};
  pthread_key_create(&at_end, end_thread);
  sigaction(SIGILL, &action, &handled_before);
}
