// A stack machine whose handlers end in jumps by labels: the smallest interpreter with threaded code.
// All of its hot code fits into any cache, so a layout gains by jumps and by the lines that code is
// fetched from.
//
// usage: stack_machine PROGRAM NUMBER
//
// A program is words: instructions, numbers, `name:` for a place, `.name` for its index. Variable 0
// holds the number at first; the result is variable 1. Example: `load 0 push 2 mul store 1 stop`.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostWords = 1000, kLongest = 32 };

static const char* const kNames[] = {"push", "load",  "store", "add",  "sub",  "mul",    "div",   "mod", "and",
                                     "xor",  "shift", "less",  "equal", "jump", "unless", "print", "stop"};

static int64_t run(const int64_t* code, int64_t number) {
  static const void* const labels[] = {&&push, &&load,  &&store, &&add,   &&sub,  &&mul,    &&div,   &&mod, &&and,
                                       &&xor,  &&shift, &&less,  &&equal, &&jump, &&unless, &&print, &&stop};
  int64_t stack[64], variables[8] = {number};
  int64_t* top = stack;  // after the last value
  const int64_t* at = code;
#define NEXT goto* labels[*at++]
  NEXT;
push:   *top++ = *at++; NEXT;
load:   *top++ = variables[*at++]; NEXT;
store:  variables[*at++] = *--top; NEXT;
add:    --top; top[-1] += top[0]; NEXT;
sub:    --top; top[-1] -= top[0]; NEXT;
mul:    --top; top[-1] = (int64_t)((uint64_t)top[-1] * (uint64_t)top[0]); NEXT;
div:    --top; if (top[0] == 0) goto zero; top[-1] /= top[0]; NEXT;
mod:    --top; if (top[0] == 0) goto zero; top[-1] %= top[0]; NEXT;
and:    --top; top[-1] &= top[0]; NEXT;
xor:    --top; top[-1] ^= top[0]; NEXT;
shift:  --top; top[-1] = (int64_t)((uint64_t)top[-1] >> (top[0] & 63)); NEXT;
less:   --top; top[-1] = top[-1] < top[0]; NEXT;
equal:  --top; top[-1] = top[-1] == top[0]; NEXT;
jump:   at = code + *at; NEXT;
unless: at = *--top ? at + 1 : code + *at; NEXT;
print:  printf("%lld\n", (long long)*--top); NEXT;
stop:   return variables[1];
zero:
  fprintf(stderr, "division by zero before word %ld\n", (long)(at - code));
  exit(1);
}

/// The words of a program, without its places.
static size_t assemble(FILE* file, int64_t* code) {
  static char words[kMostWords][kLongest], places[kMostWords][kLongest];
  static size_t indices[kMostWords];
  size_t count = 0, known = 0;
  char word[kLongest];
  while (count < kMostWords && known < kMostWords && fscanf(file, "%31s", word) == 1) {
    const size_t length = strlen(word);
    if (word[length - 1] == ':') {
      word[length - 1] = 0;
      indices[known] = count;
      strcpy(places[known++], word);
    } else {
      strcpy(words[count++], word);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    code[i] = strtoll(words[i], NULL, 10);
    for (size_t k = 0; k < sizeof kNames / sizeof *kNames; ++k)
      if (strcmp(words[i], kNames[k]) == 0) code[i] = (int64_t)k;
    for (size_t k = 0; k < known; ++k)
      if (words[i][0] == '.' && strcmp(words[i] + 1, places[k]) == 0) code[i] = (int64_t)indices[k];
  }
  return count;
}

int main(int argc, char** argv) {
  static int64_t code[kMostWords + 1];
  FILE* file = argc == 3 ? fopen(argv[1], "r") : NULL;
  if (file == NULL) return 2;
  code[assemble(file, code)] = sizeof kNames / sizeof *kNames - 1;  // stop
  printf("%lld\n", (long long)run(code, atoll(argv[2])));
  return 0;
}
