/* Works like OCaml's runtime: it looks up return addresses in tables, and takes code between the lowest and the highest
   label of all units for OCaml's: only that can be marshalled, or overflow the stack. */
#include <stdio.h>

typedef struct {
  long count;
  struct {
    const void* address;
    short size, live;
    int padding;
  } frames[];
} Table;
extern const Table camlT__frametable, camlU__frametable;
extern const struct {
  const char *start, *end;
} caml_code_segments[];
extern const void *caml_last_return, *caml_last_raise;
long camlT__leaf(long), camlT__other(long), camlT__twice(long), camlU__guarded(long), camlU__apply(void*, long);
extern void* camlU__closure[];

static int frame_in(const Table* table, const void* address) {
  for (int i = 0; i < table->count; i++)
    if (table->frames[i].address == address) return i;
  return -1;
}

/* 0, ... in the table of T; 100, ... in that of U; -1: the collector would crash. */
static int frame_of(const void* address) {
  const int found = frame_in(&camlT__frametable, address), other = frame_in(&camlU__frametable, address);
  return found >= 0 ? found : other >= 0 ? 100 + other : -1;
}

__attribute__((noinline)) long found_here(void) {
  return 1000 + frame_of(__builtin_return_address(0));
}

static int is_ocaml(const void* code) {
  const char *start = caml_code_segments[0].start, *end = caml_code_segments[0].end;
  for (int i = 0; caml_code_segments[i].start != NULL; i++) {
    if (caml_code_segments[i].start < start) start = caml_code_segments[i].start;
    if (caml_code_segments[i].end > end) end = caml_code_segments[i].end;
  }
  unsigned hash = 0; /* reads all that a closure that is marshalled would be checked by */
  for (const char* byte = start; byte < end; byte++) hash = hash * 31 + (unsigned char)*byte;
  return hash != 0 && (const char*)code >= start && (const char*)code < end;
}

__attribute__((noinline)) static long work(const unsigned char* code, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) switch (code[i] % 5) {
      case 0: sum += camlT__leaf(i); break;
      case 1: sum ^= camlT__other(-i); break;
      case 2: sum = sum * 3 + camlU__guarded(i); break;
      case 3: sum += camlT__other(i); break;
      default: sum -= camlU__apply(camlU__closure, i);
    }
  return sum;
}

int main(void) {
  unsigned char code[1000];
  for (int i = 0; i < 1000; i++) code[i] = (unsigned char)(i * 7 + i / 13);
  printf("%ld\n", work(code, 1000));
  long (*volatile closures[])(long) = {camlT__leaf, camlT__other, camlT__twice, camlU__guarded};
  for (int i = 0; i < 4; i++) printf("%s %ld\n", is_ocaml((void*)closures[i]) ? "OCaml's" : "abstract", closures[i](21));
  printf("%d%d%d\n", is_ocaml((void*)work), is_ocaml((void*)found_here), is_ocaml((void*)main));
  printf("frames %d %d\n", frame_of(caml_last_return), frame_of(caml_last_raise));
#ifdef STORED
  long camlU__keep(void), jump_beyond(long);
  camlU__keep();
  for (long i = 0; i < 3; i++) printf("%ld\n", jump_beyond(i));
#endif
  return 0;
}
