// The images of a process: the program and its libraries.
#pragma once

#include "loader.h"

enum { kMostNeeded = 64 };

struct module {
  struct module* next;  // in the order of loading
  struct image image;
  char* path;        // as the program sees it, absolute
  const char* name;  // its last part
  bool is_system;    // a library of NT, for which this loader stands in: it has no image
  bool is_initialized;
  unsigned references;  // 0: the module goes when nobody needs it
  bool stays;           // the program needs it from the start
  struct module* needs[kMostNeeded];
  unsigned need_count;
};

/// What happened, as entries of libraries are told.
enum reason { kProcessDetach = 0, kProcessAttach = 1, kThreadAttach = 2, kThreadDetach = 3 };

/// All modules.
const struct module* modules(void);
/// The module that holds an address; NULL: none.
struct module* module_at(const void* address);
/// The module of a name, with or without folder and ".dll"; NULL: none is loaded.
struct module* module_named(const char* name);
/// The program.
struct module* program_module(void);

/// Libraries go behind this address, whatever their bases are.
void set_library_base(uint64_t base);

/// Libraries that the program opens are noted in the folder.
void note_in(const char* folder);

struct module* load_program(const char* path, uint64_t base);
/// Tells the libraries that the process has begun, those that others need first, and the program's
/// thread data; and that the process ends when it does.
void initialize_modules(void);
/// Tells all libraries of a thread.
void notify_modules(enum reason reason);

/// Loads a library and what it needs, or counts one reference more; NULL: it is not found, or
/// refuses to be loaded.
struct module* load_library(const char* name);
void unload_library(struct module* module);

/// The address of an export; NULL: there is none.
void* export_named(struct module* module, const char* name);
void* export_numbered(struct module* module, uint32_t number);
