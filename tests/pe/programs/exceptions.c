/* The callees of exceptions.s: work that raises exceptions from below frames with saved registers, filters, and code
   that runs finally. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct record {
  unsigned code, flags, next, address, count, parameters[15];
};
struct pointers {
  unsigned record, context;
};

void RaiseException(unsigned long code, unsigned long flags, unsigned long count, const unsigned long* parameters);
long catches(long what);
long cleans_up(long what);
long nested(long what);
long touches(long* where, long what);
long goes_on(long* where);
long handles_itself(long what);

static long trace;
static volatile long* volatile nowhere = (volatile long*)16;

/* Kept registers must come back with their values. */
__attribute__((noinline)) long deep(long n, long what) {
  long a = n * 3, b = n ^ 0x55, c = n + what;
  if (n > 0) {
    const long below = deep(n - 1, what);
    return below + a * 2 + b - c;
  }
  if (what == 1) return *nowhere;
  if (what == 2) RaiseException(0xe0000001, 0, 0, NULL);
  if (what == 3) {
    const unsigned long parameters[2] = {17, 4};
    RaiseException(0xe0000002, 0, 2, parameters);
  }
  if (what == 4) RaiseException(0xe0000003, 0, 0, NULL);
  return a + b + c;
}

long work(long what) {
  trace = trace * 3 + what;
  return deep(what + 4, what);
}

/* Everything but 0xe0000003. */
int wants_most(const struct pointers* pointers, unsigned long frame) {
  const struct record* record = (const struct record*)(unsigned long)pointers->record;
  printf("  filter: code %#x, %u parameters, frame %s\n", record->code, record->code == 0xc0000005 ? 2 : record->count,
         frame % 16 == 0 ? "is there" : "is odd");
  if (record->code == 0xe0000002) printf("  parameters %u %u\n", record->parameters[0], record->parameters[1]);
  return record->code != 0xe0000003;
}

/* Makes the memory that was missing. */
int repairs(const struct pointers* pointers, unsigned long frame) {
  const struct record* record = (const struct record*)(unsigned long)pointers->record;
  void* page = (void*)(unsigned long)(record->parameters[1] & ~0x1fffu);
  (void)frame;
  printf("  filter repairs %#x\n", record->parameters[1] & ~0xfffu);
  if (mmap(page, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page) return 0;
  *(long*)(unsigned long)record->parameters[1] = 1234;
  return -1;
}

void at_the_end(int abnormal, unsigned long frame) {
  trace += 7;
  printf("  finally, %s, local %ld\n", abnormal ? "abnormally" : "as usual", ((long*)frame)[3]);
}

long caught(unsigned long code, long kept) {
  printf("  caught %#lx, kept %ld\n", code & 0xffffffff, kept);
  return -1;
}

int main(int argc, char** argv) {
  long data[8] = {5, 6, 7, 8, 9, 10, 11, 12};
  (void)argv;
  for (long what = 0; what < 4; ++what) {
    printf("catches %ld\n", what);
    printf("= %ld\n", catches(what));
    printf("cleans up %ld\n", what);
    printf("= %ld\n", nested(what));
  }
  printf("nested 4\n= %ld\n", nested(4));
  for (long what = 0; what < 6; ++what) printf("touches %ld = %ld\n", what, touches(what == 3 ? NULL : data, what));
  printf("goes on = %ld\n", goes_on((long*)0x18000040));
  for (long what = 0; what < 3; ++what) printf("handles itself = %ld\n", handles_itself(what));
  printf("trace %ld\n", trace);
  fflush(stdout);
  if (argc > 2) catches(4); /* no handler takes it */
  return (int)(trace & 63);
}
