/* Opens the plugin library with dlopen, twice, and calls it through dlsym; asks dladdr for names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int Callback(int value, void* context);

static int add(int value, void* context) {
  return value + *(int*)context;
}

int main(void) {
  int total = 0;
  for (int round = 0; round < 2; round++) {
    void* library = dlopen("libplugin.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts("cannot open the plugin"), 1;
    int (*sum)(const int*, int) = (int (*)(const int*, int))dlsym(library, "plugin_sum");
    int (*for_each)(int, Callback*, void*) =
        (int (*)(int, Callback*, void*))dlsym(library, "plugin_for_each");
    int (*classify)(int) = (int (*)(int))dlsym(library, "plugin_classify");
    Callback* const* callbacks = (Callback* const*)dlsym(library, "plugin_callbacks");
    const int* counter = (const int*)dlsym(library, "plugin_counter");
    if (!sum || !for_each || !classify || !callbacks || !counter)
      return puts("a symbol is missing"), 2;
    int values[] = {round, 5, 9}, context = 4;
    printf("sum %d counter %d\n", sum(values, 3), *counter);
    for (int i = 0; i < 9; i++) total = total * 5 % 10007 + classify(i);
    printf("for each %d %d total %d\n", for_each(20, add, &context), for_each(20, callbacks[1], 0),
           total);
    Dl_info info;
    if (dladdr((void*)classify, &info) && info.dli_sname)
      printf("dladdr says %s\n", info.dli_sname);
    printf("no such symbol: %s\n", dlsym(library, "plugin_absent") ? "found" : "absent");
    dlclose(library);
    puts("closed");
  }
  return total % 50;
}
