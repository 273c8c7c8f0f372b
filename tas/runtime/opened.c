/* Notes which libraries a program opens while it runs (dlopen), for an instrumented run.

   The dynamic linker loads this audit module (LD_AUDIT, rtld-audit(7)) and tells it about every
   object that it loads. Objects that come after the program was loaded have been opened. A note is
   a symbolic link in the folder that the variable RESPIKE_OPENED names: its target is the library's
   path, its name the hash of that path. One system call makes a note, so there is never half a
   note; a note that exists is left alone; and a note stays whatever becomes of the process.

   This is freestanding code inside somebody else's process, with the rules of the start code
   (instrument/runtime/start.c): it never harms its host, leaves nothing open, and on any failure
   does nothing. First the module takes both variables out of the environment and closes the file by
   which it was loaded (LD_AUDIT=/proc/self/fd/N, tas/session.cc), so that neither the program nor
   its children see them. Only the module's mapping in /proc/self/maps stays visible.

   The module uses no library: it is loaded into a namespace of its own, into which the dynamic
   linker would load a second C library. */

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <stddef.h>
#include <stdint.h>

#include "system_call.h" /* of the machine */

enum { PATH_SIZE = 4096, NOTE_SIZE = 17 };

#define VISIBLE __attribute__((visibility("default")))

/* The start of glibc's struct link_map, which is the same everywhere. */
struct link_map {
  uintptr_t address;
  const char* name;
};

static char folder[PATH_SIZE]; /* of the notes, with a slash at the end; "": not known */
static int program_is_loaded;

/* What follows the prefix; NULL when the text starts otherwise. */
static char* behind(char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) ++text, ++prefix;
  return *prefix == 0 ? text : NULL;
}

static void keep_folder(const char* path) {
  size_t size = 0;
  while (path[size] != 0) ++size;
  if (size == 0 || size + 1 + NOTE_SIZE > PATH_SIZE) return;
  for (size_t i = 0; i < size; ++i) folder[i] = path[i];
  folder[size] = '/';
}

/* Closes the file of the first module in the list, which is this one, and takes it out of the list;
   returns whether other modules are left. */
static int take_first(char* list) {
  const char* digit = behind(list, "/proc/self/fd/");
  long file = 0;
  if (digit != NULL) {
    for (; *digit >= '0' && *digit <= '9'; ++digit) file = 10 * file + (*digit - '0');
    system_call(__NR_close, file, 0, 0, 0, 0, 0);
  }
  const char* others = list;
  while (*others != 0 && *others != ':') ++others;
  if (*others == 0) return 0;
  do {
    *list = *++others;
  } while (*list++ != 0);
  return 1;
}

/* glibc passes main's arguments to initializers. */
__attribute__((constructor)) static void leave_environment(int count, char** arguments,
                                                           char** environment) {
  (void)count;
  (void)arguments;
  char** to = environment;
  for (char** from = environment; *from != NULL; ++from) {
    char* modules = behind(*from, "LD_AUDIT=");
    const char* notes = behind(*from, "RESPIKE_OPENED=");
    if (notes != NULL) keep_folder(notes);
    if (notes == NULL && (modules == NULL || take_first(modules))) *to++ = *from;
  }
  *to = NULL;
}

/* Copies a string; returns where it ends, or NULL when there is no room. */
static char* append(char* to, const char* end, const char* text) {
  while (to < end && (*to = *text++) != 0) ++to;
  return to < end ? to : NULL;
}

static void note(const char* path) {
  static char target[PATH_SIZE], name[PATH_SIZE]; /* the dynamic linker holds its lock */
  char* at = target;
  if (path[0] != '/') {
    if (system_call(__NR_getcwd, (long)target, sizeof target - 1, 0, 0, 0, 0) <= 0) return;
    while (*at != 0) ++at;
    *at++ = '/';
  }
  if (append(at, target + sizeof target, path) == NULL) return;
  at = append(name, name + sizeof name, folder);
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (const char* byte = target; *byte != 0; ++byte)
    hash = (hash ^ (unsigned char)*byte) * 0x100000001b3u;
  for (int shift = 60; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[hash >> shift & 15];
  *at = 0;
  system_call(__NR_symlinkat, (long)target, AT_FDCWD, (long)name, 0, 0, 0);
}

VISIBLE unsigned la_version(unsigned version) {
  return version;
}

VISIBLE void la_preinit(uintptr_t* cookie) {
  (void)cookie;
  program_is_loaded = 1;
}

VISIBLE unsigned la_objopen(struct link_map* map, long space, uintptr_t* cookie) {
  (void)space;
  (void)cookie;
  if (program_is_loaded && folder[0] != 0 && map->name != NULL && map->name[0] != 0)
    note(map->name);
  return 0; /* no interest in its symbols */
}
