/* What OCaml's runtime does: it looks up return addresses in a table, and takes code between two labels for OCaml's:
   only that can be marshalled, or overflow the stack. */
#include <stdio.h>

extern const char camlT__code_begin[], camlT__code_end[];
extern const struct {
  long count;
  struct {
    const void* address;
    short size, live;
    int padding;
  } frames[3];
} camlT__frametable;
extern const void* caml_last_return;
long camlT__leaf(long), camlT__other(long), camlT__twice(long);

static int frame_of(const void* address) {
  for (int i = 0; i < camlT__frametable.count; i++)
    if (camlT__frametable.frames[i].address == address) return i;
  return -1;
}

__attribute__((noinline)) long found_here(void) {
  return 1000 + frame_of(__builtin_return_address(0));
}

static const char* place(long (*closure)(long)) {
  const char* code = (const char*)closure;
  return code >= camlT__code_begin && code < camlT__code_end ? "OCaml's" : "abstract";
}

__attribute__((noinline)) static long work(const unsigned char* code, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) switch (code[i] % 5) {
      case 0: sum += camlT__leaf(i); break;
      case 1: sum ^= camlT__other(-i); break;
      case 2: sum = sum * 3 + 1; break;
      case 3: sum += camlT__other(i); break;
      default: sum -= i;
    }
  return sum;
}

int main(void) {
  unsigned char code[1000];
  for (int i = 0; i < 1000; i++) code[i] = (unsigned char)(i * 7 + i / 13);
  printf("%ld\n", work(code, 1000));
  long (*volatile closures[])(long) = {camlT__leaf, camlT__other, camlT__twice};
  for (int i = 0; i < 3; i++) printf("%s %ld\n", place(closures[i]), closures[i](21));
  printf("frame %d\n", frame_of(caml_last_return));
  return 0;
}
