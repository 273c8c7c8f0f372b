// opening.exe LIBRARY FUNCTION ARGUMENT TIMES: opens a library, calls a function of it and frees the library, several times.
#include <stdlib.h>
#include "names.h"

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int number = atoi(argv[3]);
  for (int i = atoi(argv[4]); i > 0; --i) {
    void* library = LoadLibraryA(argv[1]);
    if (library == 0) {
      printf("%s is not loaded: %u\n", argv[1], GetLastError());
      return 1;
    }
    void* function = GetProcAddress(library, argv[2]);
    if (function == 0) return 3;
    int result = number != 0 ? ((int (*)(int))function)(number) : ((int (*)(const char*))function)(argv[3]);
    printf("%s: %d\n", argv[2], result);
    FreeLibrary(library);
    printf("still there: %d\n", GetModuleHandleA(argv[1]) != 0);
  }
  return 0;
}
