// user.exe: imports of all kinds, threads, LoadLibrary and its like.
#include <pthread.h>
#include "names.h"

int twice(int by);
int mixed(int n);
int forwarded(int by);
int without_name(int a, int b);
long history_of(int i);
const char* text_of(char c);
double late_sum(double a, int b, double c, long d);
int late_number(int n);
extern uint32_t __imp_hook, __imp_table;
__thread int own = 7;
typedef int (*counter)(int);

static int on_count(int calls) {
  return calls + own;
}

static void* work(void* argument) {
  const long n = (long)argument;
  for (long i = 0; i < n; ++i) own += twice(1);
  printf("thread: own %d, history %ld, text %s\n", own, history_of(5), text_of('z'));
  fflush(stdout);
  return (void*)(long)own;
}

static const char* last_part(const char* path) {
  return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static void by_name(const char* library, const char* function) {
  void* handle = LoadLibraryA(library);
  if (handle == 0) {
    printf("%s is not loaded: %u\n", library, GetLastError());
    return;
  }
  char name[300];
  GetModuleFileNameA(handle, name, sizeof name);
  int (*f)(int) = (int (*)(int))GetProcAddress(handle, function);
  printf("%s is %s\n", library, last_part(name));
  if (f) printf("%s: %d\n", function, f(11));
  else printf("no %s: %u\n", function, GetLastError());
  printf("same: %d\n", GetModuleHandleA(library) == handle);
  FreeLibrary(handle);
  printf("still there: %d\n", GetModuleHandleA(library) != 0);
}

int main(int argc, char** argv) {
  char name[300];
  printf("%d arguments\n", argc);
  printf("%u is the length of %s\n", GetModuleFileNameA(0, name, sizeof name) - (unsigned)strlen(name), last_part(name));
  printf("argv[0] is %s\n", last_part(argv[0]));
  printf("by GetModuleHandleA: %d\n", GetModuleHandleA(0) == GetModuleHandleA(last_part(name)));
  printf("%d %d %d %d\n", twice(3), mixed(30), forwarded(2), without_name(4, 5));
  IMPORTED(uint64_t, __imp_hook) = (uint64_t)on_count;
  printf("%d, by the table %d\n", twice(1), IMPORTED(counter, __imp_table)(1));
  pthread_t thread;
  void* result;
  for (long n = 1; n < 4; ++n) {
    pthread_create(&thread, 0, work, (void*)n);
    pthread_join(thread, &result);
    printf("thread %ld: %ld\n", n, (long)result);
  }
  printf("own %d, history %ld\n", own, history_of(9));
  fflush(stdout);
  if (argc > 1) {
    printf("%.3f %d\n", late_sum(1.5, 2, 0.25, 3), late_number(15));
    printf("%.3f\n", late_sum(2.5, 2, 0.25, 3));
  }
  by_name("late", "late_number");
  by_name("LATE.DLL", "nothing");
  by_name("absent.dll", "f");
  by_name("refusing.dll", "f");
  by_name("middle.dll", "twice");
  by_name("kernel32.dll", "GetNothing");
  printf("%s\n", GetProcAddress(GetModuleHandleA("middle"), "forwarded") == GetProcAddress(GetModuleHandleA("counting"), "count_up")
                     ? "forwarded" : "not forwarded");
  return argc;
}
