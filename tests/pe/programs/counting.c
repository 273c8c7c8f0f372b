// counting.dll: exports by name and by number, a variable, thread-local variables, DllMain.
#include <pthread.h>
#include "names.h"

static const char* const kReasons[] = {"process detach", "process attach", "thread attach", "thread detach"};
__thread int calls = 100;
static __thread long history[20];
__thread char text[8] = "start";
int shared_value = 42;
int (*hook)(int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int count_up(int by) {
  calls += by;
  history[calls % 20] += by;
  shared_value += by;
  return hook ? hook(calls) : calls;
}

long history_of(int i) {
  return history[i % 20];
}

const char* text_of(char c) {
  text[calls % 5] = c;
  return text;
}

int without_name(int a, int b) {
  switch (a % 9) {
    case 0: return b + 1;
    case 1: return b * 3;
    case 2: return b - 7;
    case 3: return b ^ 0x55;
    case 4: return b << 2;
    case 5: return -b;
    case 6: return b / 3;
    default: return a;
  }
}

int (*table[])(int) = {count_up, 0};

void on_thread(void* library, int reason, void* reserved) {
  (void)library;
  (void)reserved;
  pthread_mutex_lock(&lock);
  printf("counting.dll: thread data: %s\n", kReasons[reason]);
  pthread_mutex_unlock(&lock);
}

int DllMain(void* library, int reason, void* reserved) {
  char name[300];
  GetModuleFileNameA(library, name, sizeof name);
  const char* last = strrchr(name, '/') + 1;
  pthread_mutex_lock(&lock);
  printf("%s: %s%s, calls %d\n", last, kReasons[reason], reserved ? " by the process" : "", calls);
  pthread_mutex_unlock(&lock);
  fflush(stdout);
  return 1;
}
