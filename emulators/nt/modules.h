// The images of a process: the program and its libraries.
#pragma once

#include "loader.h"

enum { kMostNeeded = 64 };

struct module {
  struct module* next;  // in the order of loading
  struct image image;
  char* path;        // as the program sees it, absolute
  const char* name;  // last part of the path
  bool is_system;    // a library of NT, implemented by this loader: it has no image
  bool is_initialized;
  unsigned references;  // 0: the module is unloaded when it is no longer needed
  bool stays;           // the program needs it from the start
  struct module* needs[kMostNeeded];
  unsigned need_count;
};

/// The reason of a call of a library's entry.
enum reason { kProcessDetach = 0, kProcessAttach = 1, kThreadAttach = 2, kThreadDetach = 3 };

/// All modules.
const struct module* modules(void);
/// The module that holds an address; NULL: none.
struct module* module_at(const void* address);
/// The module of a name, with or without folder and ".dll"; NULL: none is loaded.
struct module* module_named(const char* name);
/// The program.
struct module* program_module(void);

/// Libraries are placed from this address on, regardless of their bases.
void set_library_base(uint64_t base);

/// Sets the folder for notes on libraries that the program opens.
void note_in(const char* folder);

struct module* load_program(const char* path, uint64_t base);
/// Notifies the libraries that the process has begun (libraries that others need come first), and
/// the program's thread data; and later that the process ends.
void initialize_modules(void);
/// Notifies all libraries of a thread.
void notify_modules(enum reason reason);

/// Loads a library and the libraries that it needs, or counts one more reference; NULL: the library
/// is not found, or refuses to be loaded.
struct module* load_library(const char* name);
void unload_library(struct module* module);

/// The address of an export; NULL: there is none.
void* export_named(struct module* module, const char* name);
void* export_numbered(struct module* module, uint32_t number);
