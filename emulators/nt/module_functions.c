// The functions of NT's kernel32.dll for modules.
//
// Example: GetModuleFileNameA(NULL, text, 260) gives the absolute path of the program. When another
// version of the program runs, the result is the path of the original (substitutes.c).
//
// Source: the published descriptions of these functions (Win32 SDK). Paths are those of this
// system. Limits: handles are addresses of images; error numbers are few.

#define _GNU_SOURCE
#include "module_functions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "modules.h"
#include "thread_data.h"

enum { kNotFound = 126, kNoProcedure = 127, kNoHandle = 6, kTooSmall = 122 };

static __thread uint32_t last_error;
static char* command_line;

void set_command_line(int count, char** arguments) {
  size_t size = 1;
  for (int i = 0; i < count; ++i) size += strlen(arguments[i]) + 3;
  char* to = command_line = malloc(size);
  if (to == NULL) fail("there is no memory left");
  for (int i = 0; i < count; ++i) {
    const char* quote = strchr(arguments[i], ' ') != NULL || arguments[i][0] == 0 ? "\"" : "";
    to = stpcpy(stpcpy(stpcpy(stpcpy(to, i == 0 ? "" : " "), quote), arguments[i]), quote);
  }
}

static void* not_found(uint32_t error) {
  last_error = error;
  return NULL;
}

static struct module* module_of(void* handle) {
  return handle == NULL ? program_module() : module_at(handle);
}

static void* get_module_handle(const char* name) {
  const struct module* module = name == NULL ? program_module() : module_named(name);
  return module == NULL ? not_found(kNotFound) : module->image.memory;
}

static uint32_t get_module_file_name(void* handle, char* text, uint32_t size) {
  const struct module* module = module_of(handle);
  if (module == NULL) return not_found(kNoHandle), 0;
  const size_t length = strlen(module->path);
  if (size == 0) return 0;
  if (length < size) return strcpy(text, module->path), (uint32_t)length;
  memcpy(text, module->path, size - 1);  // truncated
  text[size - 1] = 0;
  last_error = kTooSmall;
  return size;
}

static void* load_library_a(const char* name) {
  const struct module* module = load_library(name);
  return module == NULL ? not_found(kNotFound) : module->image.memory;
}

static int free_library(void* handle) {
  struct module* module = module_at(handle);
  if (module == NULL) return not_found(kNoHandle) != NULL;
  unload_library(module);
  return 1;
}

static void* get_proc_address(void* handle, const char* name) {
  struct module* module = module_of(handle);
  if (module == NULL) return not_found(kNoHandle);
  const uintptr_t number = (uintptr_t)name;
  void* address =
      number < 0x10000 ? export_numbered(module, (uint32_t)number) : export_named(module, name);
  return address == NULL ? not_found(kNoProcedure) : address;
}

static uint32_t get_last_error(void) {
  return last_error;
}

static void set_last_error(uint32_t error) {
  last_error = error;
}

static const char* get_command_line(void) {
  return command_line;
}

static void exit_process(uint32_t status) {
  exit((int)status);
}

static int disable_thread_calls(void* handle) {
  return module_at(handle) != NULL;
}

void* module_function(const char* name) {
  static const struct {
    const char* name;
    void* function;
  } kFunctions[] = {
      {"GetModuleHandleA", get_module_handle}, {"GetModuleFileNameA", get_module_file_name},
      {"LoadLibraryA", load_library_a},        {"FreeLibrary", free_library},
      {"GetProcAddress", get_proc_address},    {"GetLastError", get_last_error},
      {"SetLastError", set_last_error},        {"GetCommandLineA", get_command_line},
      {"ExitProcess", exit_process},           {"DisableThreadLibraryCalls", disable_thread_calls},
  };
  for (size_t i = 0; i < sizeof kFunctions / sizeof *kFunctions; ++i)
    if (strcmp(kFunctions[i].name, name) == 0) return kFunctions[i].function;
  return strcmp(name, "pthread_create") == 0 ? thread_creator() : NULL;
}
