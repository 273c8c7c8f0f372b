// Opens a library that was compiled from a program and calls its main.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  (void)argc;
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 99;
  }
  int (*program)(int, char**) = (int (*)(int, char**))dlsym(library, "main");
  if (program == NULL) return 98;
  char* arguments[] = {argv[0], NULL};
  return program(1, arguments);
}
