/* Runs asm/all_registers.S, in which every register holds a value, and prints the registers.
 */
#include <stdint.h>
#include <stdio.h>

typedef void Run(const uint64_t seeds[64], uint64_t results[64]);
Run all_loops, all_gotos, all_switch, all_calls, all_pointers, all_floats, all_roundings,
    all_untouchable;

static const struct {
  const char* name;
  Run* run;
} runs[] = {
    {"loops", all_loops},         {"gotos", all_gotos},
    {"switch", all_switch},       {"calls", all_calls},
    {"pointers", all_pointers},   {"floats", all_floats},
    {"roundings", all_roundings}, {"untouchable", all_untouchable},
};

int main(void) {
  uint64_t random = 0x9e3779b97f4a7c15u;
  for (unsigned i = 0; i < sizeof runs / sizeof *runs; i++) {
    for (int round = 0; round < 3; round++) {
      union {
        uint64_t integer;
        double number;
      } seeds[64];
      uint64_t results[64];
      for (int k = 0; k < 64; k++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (k < 32)
          seeds[k].integer = random;
        else
          seeds[k].number = (double)(int64_t)random / 3e15;
      }
      seeds[32 + 30].number = 0.5;
      runs[i].run(&seeds[0].integer, results);
      uint64_t checksum = 0;
      for (int k = 0; k < 63; k++)
        if (k != 30 && k != 31) checksum = (checksum ^ results[k]) * 1099511628211u;
      printf("%s %016lx\n", runs[i].name, (unsigned long)checksum);
    }
  }
  return 0;
}
