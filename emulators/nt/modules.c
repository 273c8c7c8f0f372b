// The program and its libraries: loading their libraries, binding imports, notifying them of
// process and threads.
//
// A module is loaded in this order: the image is put into memory and relocated, the module joins
// the list, the libraries that it imports from are loaded, and the slots of its imports get
// addresses. Since the module is already on the list, two libraries may import from each other.
// Entries of libraries are called when everything is bound; libraries that others need come first.
//
//   lua.exe imports lua_open of lua.dll: lua.dll is not on the list, so it is searched for in the
//   folder of lua.exe, in the working folder, and in the folders of PATH.
//
// Libraries of NT itself (kSystem) have no files: their functions are those of the C library, or of
// kernel32.c. Names of libraries ignore case, and ".dll" may be omitted.
//
// A version that Respike made names its libraries by the paths of their versions (substitutes.c);
// the program sees paths and names of the originals.
//
// Source: Microsoft PE/COFF specification, sections 6.3 (exports) and 6.4 (imports); the published
// descriptions of LoadLibrary, GetProcAddress and DllMain.
//
// Limit: not more than 64 libraries by a module.

#define _GNU_SOURCE
#include "modules.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stops.h"
#include "substitutes.h"
#include "thread_data.h"
#include "unwind.h"

static const char* const kSystem[] = {"kernel32.dll", "ntdll.dll", "crtdll.dll", "msvcrt.dll"};

static struct module* first;
static struct module* running_program;
static uint64_t library_base;
static const char* notes;  // folder; NULL: none
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

const struct module* modules(void) {
  return first;
}

struct module* program_module(void) {
  return running_program;
}

void set_library_base(uint64_t base) {
  library_base = base;
}

// ---- names

static const char* last_part(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path)
    if (*path == '/' || *path == '\\') name = path + 1;
  return name;
}

static char* copy_of(const char* text) {
  char* copy = strdup(text);
  if (copy == NULL) fail("there is no memory left");
  return copy;
}

static char* absolute(const char* path) {
  char* folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
  char* result = NULL;
  if (path[0] == '/') return copy_of(path);
  while (strncmp(path, "./", 2) == 0) path += 2;
  if (folder == NULL || asprintf(&result, "%s/%s", folder, path) < 0)
    fail("there is no memory left");
  free(folder);
  return result;
}

/// The name of a library with its optional ".dll".
static void complete_name(const char* name, char* complete, size_t size) {
  const bool has_suffix = strchr(last_part(name), '.') != NULL;
  snprintf(complete, size, "%s%s", name, has_suffix ? "" : ".dll");
}

struct module* module_named(const char* name) {
  char complete[PATH_MAX];
  complete_name(name, complete, sizeof complete);
  const bool has_folder = last_part(complete) != complete;
  const char* original = has_folder ? original_of(complete) : NULL;
  const char* wanted = original != NULL ? original : complete;
  for (struct module* each = first; each != NULL; each = each->next) {
    char real[PATH_MAX], real_wanted[PATH_MAX];
    if (strcasecmp(each->name, last_part(wanted)) != 0) continue;
    if (!has_folder || each->is_system) return each;
    if (realpath(each->path, real) != NULL && realpath(wanted, real_wanted) != NULL &&
        strcmp(real, real_wanted) == 0)
      return each;
  }
  return NULL;
}

struct module* module_at(const void* address) {
  for (struct module* each = first; each != NULL; each = each->next)
    if ((uint64_t)address - (uint64_t)each->image.memory < each->image.size) return each;
  return NULL;
}

/// A file of the folder with the wanted name, ignoring case; NULL: there is none.
static char* find_in(const char* folder, size_t length, const char* name) {
  char path[PATH_MAX];
  if (length + 2 + strlen(name) >= sizeof path) return NULL;
  snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
  if (access(path, R_OK) == 0) return absolute(path);
  path[length] = 0;
  DIR* entries = opendir(length == 0 ? "/" : path);
  char* found = NULL;
  for (struct dirent* each;
       entries != NULL && found == NULL && (each = readdir(entries)) != NULL;) {
    if (strcasecmp(each->d_name, name) != 0) continue;
    snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, each->d_name);
    found = absolute(path);
  }
  if (entries != NULL) closedir(entries);
  return found;
}

/// The path of a library; NULL: there is none.
static char* find_library(const char* name) {
  char complete[PATH_MAX];
  complete_name(name, complete, sizeof complete);
  if (last_part(complete) != complete)
    return access(complete, R_OK) == 0 ? absolute(complete) : NULL;
  const char* beside = running_program->path;
  char* found = find_in(beside, running_program->name - beside - 1, complete);
  char real[PATH_MAX];  // the program may have been started by a link
  if (found == NULL && realpath(beside, real) != NULL)
    found = find_in(real, last_part(real) - real - 1, complete);
  if (found == NULL) found = find_in(".", 1, complete);
  const char* list = getenv("PATH");
  while (found == NULL && list != NULL && *list != 0) {
    const size_t length = strcspn(list, ":");
    if (length > 0) found = find_in(list, length, complete);
    list += length + (list[length] == ':');
  }
  return found;
}

// ---- exports

static void* export_at(struct module* module, uint32_t index);

/// The address that "OTHER.Function" or "OTHER.#12" names.
static void* forwarded(struct module* module, const char* text) {
  const char* dot = strrchr(text, '.');
  if (dot == NULL) fail("%s forwards to %s, which names no library", module->name, text);
  char library[PATH_MAX];
  snprintf(library, sizeof library, "%.*s", (int)(dot - text), text);
  struct module* other = module_named(library);
  if (other == NULL && (other = load_library(library)) == NULL)
    fail("%s, to which %s forwards, is not found", library, module->name);
  void* address = dot[1] == '#' ? export_numbered(other, (uint32_t)strtoul(dot + 2, NULL, 10))
                                : export_named(other, dot + 1);
  if (address == NULL) fail("%s forwards to %s, which is not there", module->name, text);
  return address;
}

static void* export_at(struct module* module, uint32_t index) {
  const struct image* image = &module->image;
  const uint8_t* table = at(image, image->directory[kExports], 40);
  if (index >= load32(table + 20)) return NULL;
  const uint32_t place = load32(at(image, load32(table + 28) + 4 * index, 4));
  if (place == 0) return NULL;
  if (place - image->directory[kExports] < image->directory_size[kExports])
    return forwarded(module, text_in(image, place));
  return at(image, place, 1);
}

void* export_numbered(struct module* module, uint32_t number) {
  if (module->is_system || module->image.directory_size[kExports] == 0) return NULL;
  return export_at(module,
                   number - load32(at(&module->image, module->image.directory[kExports], 40) + 16));
}

void* export_named(struct module* module, const char* name) {
  if (module->is_system) {
    void* function = function_named(name);
    return function == NULL ? NULL : (void*)(uintptr_t)make_thunk(function);
  }
  const struct image* image = &module->image;
  if (image->directory_size[kExports] == 0) return NULL;
  const uint8_t* table = at(image, image->directory[kExports], 40);
  const uint32_t names = load32(table + 32);
  for (uint32_t low = 0, high = load32(table + 24); low < high;) {  // the names are sorted
    const uint32_t middle = (low + high) / 2;
    const int order = strcmp(name, text_in(image, load32(at(image, names + 4 * middle, 4))));
    if (order == 0) return export_at(module, load16(at(image, load32(table + 36) + 2 * middle, 2)));
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

// ---- imports

static struct module* load(char* path, const char* file, uint64_t base);

static struct module* system_module(const char* name) {
  char complete[PATH_MAX];
  complete_name(name, complete, sizeof complete);
  for (size_t i = 0; i < sizeof kSystem / sizeof *kSystem; ++i) {
    if (strcasecmp(kSystem[i], complete) != 0) continue;
    struct module* module = calloc(1, sizeof *module);
    module->path = copy_of(kSystem[i]);
    module->name = module->path;
    module->is_system = module->is_initialized = module->stays = true;
    module->image.memory = map_low(1);  // an address of its own
    module->image.size = 1;
    struct module** end = &first;
    while (*end != NULL) end = &(*end)->next;
    return *end = module;
  }
  return NULL;
}

/// The library of the name, loaded if need be; NULL: it is not found. `asked`: the name comes from
/// LoadLibrary() and names an original; import tables name versions.
static struct module* needed(const char* name, bool asked) {
  struct module* module = module_named(name);
  if (module == NULL) module = system_module(name);
  if (module != NULL) return module;
  const char* original = original_of(name);
  char* path = original != NULL ? copy_of(original) : find_library(name);
  if (path == NULL) return NULL;
  const char* version = asked || original != NULL ? version_of(path) : NULL;
  return load(path, version != NULL ? version : path, 0);
}

static void bind_slot(struct module* module, struct module* library, bool by_number, uint32_t name,
                      uint32_t slot) {
  void* address;
  const char* text = by_number ? "" : text_in(&module->image, name + 2);
  if (by_number)
    address = export_numbered(library, name & 0xffff);
  else
    address = export_named(library, text);
  if (address == NULL && by_number)
    fail("%s has no number %u for %s to import", library->name, name & 0xffff, module->name);
  if (address == NULL && library->is_system) fail("there is no function %s for it to import", text);
  if (address == NULL) fail("%s has no %s for %s to import", library->name, text, module->name);
  if (module->image.is_wide)
    store64(at(&module->image, slot, 8), (uint64_t)address);
  else
    store32(at(&module->image, slot, 4), (uint32_t)(uintptr_t)address);
}

static void bind_imports(struct module* module) {
  const struct image* image = &module->image;
  uint32_t descriptor = image->directory[kImports];
  if (image->directory_size[kImports] == 0) return;
  for (;; descriptor += 20) {
    const uint8_t* fields = at(image, descriptor, 20);
    const uint32_t table = load32(fields + 16);
    uint32_t names = load32(fields);
    if (load32(fields + 12) == 0 || table == 0) return;
    if (names == 0) names = table;
    const char* name = text_in(image, load32(fields + 12));
    struct module* library = needed(name, false);
    if (library == NULL) fail("%s, which %s needs, is not found", name, module->name);
    if (module->need_count == kMostNeeded) fail("%s needs too many libraries", module->name);
    module->needs[module->need_count++] = library;
    ++library->references;
    const uint32_t size = image->is_wide ? 8 : 4;
    for (uint32_t i = 0;; i += size) {
      const uint8_t* word = at(image, names + i, size);
      const uint64_t imported = image->is_wide ? load64(word) : load32(word);
      if (imported == 0) break;
      bind_slot(module, library, imported >> (8 * size - 1) != 0, (uint32_t)imported, table + i);
    }
  }
}

// ---- loading

/// Loads the image in a file. The program sees `path`, which the module owns from then on.
static struct module* load(char* path, const char* file, uint64_t base) {
  struct module* module = calloc(1, sizeof *module);
  if (module == NULL) fail("there is no memory left");
  module->path = path;
  module->name = last_part(path);
  if (base == 0 && library_base != 0 && running_program != NULL) {
    base = library_base;
    library_base += 0x1000000;
  }
  module->image = load_image(file, base);
  struct module** end = &first;
  while (*end != NULL) end = &(*end)->next;
  *end = module;
  if (running_program == NULL) running_program = module;
  bind_imports(module);
  add_thread_data(module);
  return module;
}

/// Calls the entry of a library; returns whether the entry agrees.
static bool tell(struct module* module, enum reason reason, bool by_process) {
  const struct image* image = &module->image;
  if (module->is_system) return true;
  call_thread_data_functions(module, reason);
  if (!image->is_library || image->entry == 0) return true;
  int (*entry)(void*, int, void*) = (void*)at(image, image->entry, 4);
  return entry(image->memory, reason, (void*)(uintptr_t)by_process) != 0 ||
         reason != kProcessAttach;
}

/// Initializes the modules that a module needs, then the module; false: one of them refuses.
static bool initialize(struct module* module, bool by_process) {
  if (module->is_initialized) return true;
  module->is_initialized = true;
  module->stays = by_process;
  for (unsigned i = 0; i < module->need_count; ++i)
    if (!initialize(module->needs[i], by_process)) return false;
  if (tell(module, kProcessAttach, by_process)) return true;
  if (by_process) fail("%s cannot be initialized", module->name);
  return false;
}

struct module* load_program(const char* path, uint64_t base) {
  char* original = absolute(path);
  const char* version = version_of(original);
  struct module* module = load(original, version != NULL ? version : original, base);
  if (module->image.is_library) fail("it is a library, not a program");
  module->references = 1;
  return module;
}

/// Notifies libraries of the end; the library that was loaded last comes first.
static void tell_of_the_end(struct module* module) {
  if (module == NULL) return;
  tell_of_the_end(module->next);
  if (module->is_initialized) tell(module, kProcessDetach, true);
}

static void end_process(void) {
  tell_of_the_end(first);
}

void initialize_modules(void) {
  atexit(end_process);
  initialize(running_program, true);
}

void notify_modules(enum reason reason) {
  pthread_mutex_lock(&lock);
  for (struct module* each = first; each != NULL; each = each->next)
    if (each->is_initialized) tell(each, reason, false);
  pthread_mutex_unlock(&lock);
}

void note_in(const char* folder) {
  notes = folder;
}

/// A symbolic link, whose name is a hash of the path, is the note for Respike (tas/opened.h).
static void note_opened(const struct module* module) {
  if (notes == NULL || module->is_system) return;
  uint64_t hash = 0xcbf29ce484222325;
  for (const char* p = module->path; *p != 0; ++p) hash = (hash ^ (uint8_t)*p) * 0x100000001b3;
  char link[PATH_MAX];
  snprintf(link, sizeof link, "%s/%016lx", notes, hash);
  if (symlink(module->path, link) != 0) return;  // the link exists already, or cannot be made
}

struct module* load_library(const char* name) {
  pthread_mutex_lock(&lock);
  struct module* module = needed(name, true);
  if (module != NULL) note_opened(module);
  if (module != NULL) ++module->references;
  if (module != NULL && running_program->is_initialized && !initialize(module, false)) {
    module->is_initialized = false;
    unload_library(module);
    module = NULL;
  }
  pthread_mutex_unlock(&lock);
  return module;
}

void unload_library(struct module* module) {
  pthread_mutex_lock(&lock);
  if (module->references > 0 && --module->references == 0 && !module->stays) {
    if (module->is_initialized) tell(module, kProcessDetach, false);
    struct module** link = &first;
    while (*link != module) link = &(*link)->next;
    *link = module->next;
    remove_thread_data(module);
    for (unsigned i = 0; i < module->need_count; ++i) unload_library(module->needs[i]);
    unwind_remove_image(module->image.memory);
    stops_remove_code((uint64_t)module->image.memory,
                      (uint64_t)module->image.memory + module->image.size);
    munmap(module->image.memory, module->image.size);
    free(module->path);
    free(module);
  }
  pthread_mutex_unlock(&lock);
}
