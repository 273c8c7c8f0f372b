/* Notes which libraries a program opens while it runs (dlopen), for an instrumented run, and asks
   for versions of them, and of the libraries that it is linked with: these may be other files than
   `register` found (LD_LIBRARY_PATH).

   The dynamic linker loads this audit module (LD_AUDIT, rtld-audit(7)) and calls it for every
   object that it loads. Objects loaded after the program were opened by the program. A note is a
   symbolic link in the folder that the variable RESPIKE_OPENED names: its target is the library's
   path, its name the hash of that path. One system call makes a note, so there is never half a
   note; a note that exists is left alone; and a note stays, however the process ends.

   Before a library is opened, the module asks the attendant (tas/attendant.cc) for the library's
   version and waits: the attendant mounts the version, if there is one, over the library, and the
   dynamic linker opens it by the library's own path. A process asks once for each path. It does not
   ask for files that are already substituted, or that the attendant left alone before: for such a
   file a link `PATH's hash.left` holds its size and time. After an answer that does not come in
   time, the process asks no more.

   This is freestanding code inside a foreign process, with the rules of the start code
   (instrument/runtime/start.c): it never harms its host, leaves nothing open, and on any failure
   does nothing. First the module takes its variables out of the environment and closes the file by
   which it was loaded (LD_AUDIT=/proc/self/fd/N, tas/session.cc), so that neither the program nor
   its children see them. Only the module's mapping in /proc/self/maps stays visible.

   The module has a second job, below `respike exec LIBRARY`. The variable RESPIKE_LIBRARIES names a
   table of libraries and their versions (start_table.h); no other variable of Respike's is set.
   Then the module is in all programs that have the environment, and leaves the environment to them
   and their children. Before one of the libraries is opened, by any loader, the module enters a
   mount namespace and mounts the version over the library. A process with several threads cannot
   enter a mount namespace: it opens the library itself.

   A program may have restricted itself (seccomp), and be killed for system calls that it does not
   need itself. So once /proc/self/status shows a new filter, the module only watches.

   The module uses no library: the dynamic linker loads it into a link-map namespace of its own, and
   would load a second C library there. */

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/stat.h>
#include <stddef.h>
#include <stdint.h>

#include "system_call.h" /* of the machine */
#include "tas/runtime/asking.h"
#ifdef RESPIKE_MOUNTS /* the machine is that of the host */
#include "tas/runtime/mounting.h"
#endif

enum {
  PATH_SIZE = 4096,
  NOTE_SIZE = 17,
  LEFT_SIZE = 5,
  LAST_ERROR = -4095,
  WAIT = 10000 /* milliseconds */
};
enum { STATUS_SIZE = 1 << 16 };
#define UNKNOWN (~(uint64_t)0)
enum {
  CONSISTENT = 0 /* LA_ACT_CONSISTENT */,
  AS_GIVEN = 1 /* LA_SER_ORIG */,
  ASKED = 1024,
  MODE = 0170000,
  REGULAR_FILE = 0100000
};

#define VISIBLE __attribute__((visibility("default")))

/* The start of glibc's struct link_map, which is the same on all machines. */
struct link_map {
  uintptr_t address;
  const char* name;
};

static char folder[PATH_SIZE];    /* folder of the notes, with a slash at the end; "": not known */
static char attendant[PATH_SIZE]; /* "": none, or it has not answered */
static uintptr_t* program;        /* its cookie: the first object of the first namespace */
static int program_is_loaded;
static uint64_t first_filters; /* filters that the process had when the program was loaded */
static uint64_t loaded_at;     /* nanoseconds since 1970; forked children have their parent's */
static uint64_t asked[ASKED];  /* hashes of paths, by their last bits; newer overwrite older */

/* The text after the prefix; NULL when the text does not start with it. */
static char* behind(char* text, const char* prefix) {
  while (*prefix != 0 && *text == *prefix) ++text, ++prefix;
  return *prefix == 0 ? text : NULL;
}

static void keep_path(char* to, const char* path, const char* end) {
  size_t size = 0;
  while (path[size] != 0) ++size;
  if (size == 0 || size + 1 + NOTE_SIZE + LEFT_SIZE > PATH_SIZE) return;
  for (size_t i = 0; i < size; ++i) to[i] = path[i];
  *ask_text(to + size, end) = 0;
}

static uint64_t take_decimal(const char* digit) {
  uint64_t number = 0;
  for (; *digit >= '0' && *digit <= '9'; ++digit) number = number * 10 + (uint64_t)(*digit - '0');
  return number;
}

/* The numbers in the thread's status whose names begin with `name`, the last one in the lowest
   bits; UNKNOWN: they cannot be read. Uses only system calls of the dynamic linker. */
static uint64_t status_numbers(const char* name) {
  static char text[STATUS_SIZE];
  uint64_t numbers = UNKNOWN;
  const long file =
      system_call(__NR_openat, AT_FDCWD, (long)"/proc/thread-self/status", O_CLOEXEC, 0, 0, 0);
  if (file < 0) return UNKNOWN;
  long size = 0, got = 0;
  while (size < STATUS_SIZE - 1 && (got = system_call(__NR_read, file, (long)(text + size),
                                                      STATUS_SIZE - 1 - size, 0, 0, 0)) > 0)
    size += got;
  system_call(__NR_close, file, 0, 0, 0, 0, 0);
  text[size] = 0;
  for (char* at = text; *at != 0; ++at) {
    const char* digit = behind(at, name);
    if (digit == NULL) continue;
    while (*digit != 0 && *digit != '\n' && (*digit < '0' || *digit > '9')) ++digit;
    numbers = (numbers == UNKNOWN ? 0 : numbers << 32) | take_decimal(digit);
  }
  return numbers;
}

/* The thread's seccomp mode and number of filters. */
static uint64_t filters(void) {
  return status_numbers("\nSeccomp");
}

/* Whether no filter was added since the program was loaded. */
static int is_free(void) {
  return first_filters != UNKNOWN && filters() == first_filters;
}

/* Closes the file of the first module in the variable LD_AUDIT, which is this module. Returns a
   variable without this module; NULL when no other module is left, or there is no memory. The
   variable itself stays as it is: the dynamic linker still reads the other modules in it. */
static char* without_first(char* variable, const char* modules) {
  char* digit = behind((char*)modules, "/proc/self/fd/");
  if (digit == NULL) return variable;
  system_call(__NR_close, (long)take_decimal(digit), 0, 0, 0, 0, 0);
  const char* others = modules;
  while (*others != 0 && *others != ':') ++others;
  if (*others == 0) return NULL;
  size_t size = sizeof "LD_AUDIT=";
  for (const char* at = ++others; *at != 0; ++at) ++size;
  const long memory = system_call(__NR_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory < 0 && memory >= LAST_ERROR) return NULL;
  *ask_text(ask_text((char*)memory, "LD_AUDIT="), others) = 0;
  return (char*)memory;
}

#ifdef RESPIKE_MOUNTS
static const char* libraries; /* a table, fields as in start_table.h; NULL: none */
static const char* libraries_end;

static void read_libraries(const char* path) {
  struct statx status;
  const long file = system_call(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
  if (file < 0) return;
  if (system_call(__NR_statx, file, (long)"", AT_EMPTY_PATH, STATX_SIZE, (long)&status, 0) == 0) {
    const long at =
        system_call(__NR_mmap, 0, (long)status.stx_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (at > 0) libraries = (const char*)at, libraries_end = libraries + status.stx_size;
  }
  system_call(__NR_close, file, 0, 0, 0, 0, 0);
}

static const char* next_field(const char* field) {
  while (*field != 0) ++field;
  return field + 1;
}

/* Puts the version of a library that will be opened, if there is one, in its place. */
static void put_version_in_place(const char* path) {
  struct statx status;
  if (!is_free() ||
      system_call(__NR_statx, AT_FDCWD, (long)path, 0, STATX_BASIC_STATS, (long)&status, 0) != 0)
    return;
  for (const char* field = libraries; field < libraries_end;) {
    const char* original = field + 1;
    const char* record = next_field(field) + 1;
    const char* version = next_field(record) + 1;
    field = next_field(version);
    if (!same_inode(&status, record) || is_mount(&status)) continue;
    /* Threads share a working folder and a root folder; threads in different namespaces cannot. */
    if (has_contents(&status, record, -1, original) && status_numbers("\nThreads:") == 1 &&
        enter_own_namespace() == 0)
      put_over(original, version);
    return;
  }
}
#endif

/* Records the state when the program starts, and when it is loaded. */
static void note_start(void) {
  if (folder[0] != 0) first_filters = filters();
  loaded_at = ask_time(ASK_REAL_TIME);
}

/* glibc passes main's arguments to initializers. */
__attribute__((constructor)) static void leave_environment(int count, char** arguments,
                                                           char** environment) {
  (void)count;
  (void)arguments;
#ifdef RESPIKE_MOUNTS
  const char* table = NULL;
  int notes_are_wanted = 0;
  for (char** each = environment; *each != NULL; ++each) {
    const char* path = behind(*each, "RESPIKE_LIBRARIES=");
    if (path != NULL) table = path;
    notes_are_wanted = notes_are_wanted || behind(*each, "RESPIKE_OPENED=") != NULL;
  }
  if (table != NULL && !notes_are_wanted) {
    first_filters = filters();
    read_libraries(table);
    return;
  }
#endif
  char** to = environment;
  for (char** from = environment; *from != NULL; ++from) {
    char* modules = behind(*from, "LD_AUDIT=");
    const char* notes = behind(*from, "RESPIKE_OPENED=");
    const char* path = behind(*from, "RESPIKE_ATTENDANT=");
    if (notes != NULL) keep_path(folder, notes, "/");
    if (path != NULL) keep_path(attendant, path, "");
    if (notes != NULL || path != NULL) continue;
    char* kept = modules == NULL ? *from : without_first(*from, modules);
    if (kept != NULL) *to++ = kept;
  }
  *to = NULL;
  note_start();
}

/* Copies a string; returns where it ends, or NULL when there is no room. */
static char* append(char* to, const char* end, const char* text) {
  while (to < end && (*to = *text++) != 0) ++to;
  return to < end ? to : NULL;
}

/* An absolute path of a file; NULL when it is too long. The dynamic linker holds its lock, so the
   place may be static. */
static char* absolute(const char* path) {
  static char target[PATH_SIZE];
  char* at = target;
  if (path[0] != '/') {
    if (system_call(__NR_getcwd, (long)target, sizeof target - 1, 0, 0, 0, 0) <= 0) return NULL;
    while (*at != 0) ++at;
    *at++ = '/';
  }
  return append(at, target + sizeof target, path) == NULL ? NULL : target;
}

/* The path of a file in the folder of an object, as with $ORIGIN; NULL when it is too long. */
static char* beside(const struct link_map* object, const char* file) {
  static char path[PATH_SIZE];
  char* at = path;
  if (object->name != NULL && object->name[0] != 0) {
    at = append(path, path + sizeof path, object->name);
    if (at == NULL) return NULL;
  } else { /* the program */
    const long size = system_call(__NR_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path,
                                  sizeof path, 0, 0);
    if (size <= 0) return NULL;
    at = path + size;
  }
  while (at > path && at[-1] != '/') --at;
  return append(at, path + sizeof path, file) == NULL ? NULL : path;
}

static char* append_hexadecimal(char* to, uint64_t number) {
  for (int shift = 60; shift >= 0; shift -= 4) *to++ = "0123456789abcdef"[number >> shift & 15];
  *to = 0;
  return to;
}

static uint64_t hash_of(const char* path) { /* FNV-1a */
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char* byte = path; *byte != 0; ++byte)
    hash = (hash ^ (unsigned char)*byte) * 0x100000001b3u;
  return hash;
}

/* The path of the note about a path. */
static char* note_of(const char* path, const char* kind) {
  static char name[PATH_SIZE];
  char* at = append(name, name + sizeof name, folder);
  ask_text(append_hexadecimal(at, hash_of(path)), kind)[0] = 0;
  return name;
}

/* Whether a path leads to a different file in each process. */
static int is_own(const char* path) {
  return behind((char*)path, "/proc/") != NULL || behind((char*)path, "/dev/fd/") != NULL;
}

static void note(const char* path) {
  const char* target = absolute(path);
  if (target == NULL || is_own(target)) return;
  system_call(__NR_symlinkat, (long)target, AT_FDCWD, (long)note_of(target, ""), 0, 0, 0);
}

/* Whether the attendant left the file alone when it was asked before. */
static int was_left(const char* path, const struct statx* status) {
  char now[40], then[40];
  char* at = append_hexadecimal(now, status->stx_size);
  *at++ = '-';
  append_hexadecimal(at,
                     (uint64_t)status->stx_mtime.tv_sec * 1000000000u + status->stx_mtime.tv_nsec);
  const long size = system_call(__NR_readlinkat, AT_FDCWD, (long)note_of(path, ".left"), (long)then,
                                sizeof then - 1, 0, 0);
  if (size < 0) return 0;
  then[size] = 0;
  const char* end = behind(then, now);
  return end != NULL && *end == 0;
}

/* Asks for the version of a library that will be opened. */
static void ask_for(const char* path) {
  static char message[PATH_SIZE + 64];
  struct statx status;
  const char* target = absolute(path);
  if (target == NULL || is_own(target)) return;
  const uint64_t hash = hash_of(target);
  if (asked[hash % ASKED] == hash) return;
  if (system_call(__NR_statx, AT_FDCWD, (long)target, 0, STATX_BASIC_STATS, (long)&status, 0) != 0)
    return;
  if ((status.stx_mode & MODE) != REGULAR_FILE) return;
  asked[hash % ASKED] = hash;
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 || was_left(target, &status)) return;
  char* application = folder; /* the last part of its path */
  for (char* at = folder; at[0] != 0 && at[1] != 0; ++at)
    if (*at == '/') application = at + 1;
  char* at = message;
  *at++ = 'o';
  for (int i = 0; i < 20 && *application != 0 && *application != '/'; ++i) *at++ = *application++;
  *at++ = 0;
  at = ask_number(at, loaded_at);
  *at++ = 0;
  at = ask_text(at, target);
  if (ask(attendant, message, (size_t)(at - message), WAIT) == 0) attendant[0] = 0;
}

VISIBLE unsigned la_version(unsigned version) {
  return version;
}

static void note_loaded(void) {
  if (program_is_loaded) return;
  note_start();
  program_is_loaded = 1;
}

/* Called when the objects of a namespace are complete. Constructors of the program's libraries come
   later, and may open libraries. */
VISIBLE void la_activity(uintptr_t* cookie, unsigned state) {
  if (cookie == program && state == CONSISTENT) note_loaded();
}

VISIBLE void la_preinit(uintptr_t* cookie) {
  (void)cookie;
  note_loaded();
}

/* Called for the name that is to be opened, and for each place where a name without a slash is
   searched for. */
VISIBLE char* la_objsearch(const char* name, uintptr_t* cookie, unsigned kind) {
  int is_path = 0;
  for (const char* at = name; *at != 0; ++at) is_path = is_path || *at == '/';
#ifdef RESPIKE_MOUNTS
  if (is_path && libraries != NULL) put_version_in_place(name);
#endif
  /* Before the program is loaded, unchanged paths belong to preloaded objects. */
  if (!is_path || (!program_is_loaded && kind == AS_GIVEN) || attendant[0] == 0 ||
      folder[0] == 0 || !is_free())
    return (char*)name;
  char* below = behind((char*)name, "$ORIGIN/");
  if (below == NULL) below = behind((char*)name, "${ORIGIN}/");
  const char* path = below == NULL ? name : beside((struct link_map*)*cookie, below);
  if (path != NULL) ask_for(path);
  return (char*)name;
}

VISIBLE unsigned la_objopen(struct link_map* map, long space, uintptr_t* cookie) {
  if (space == 0 && program == NULL) program = cookie;
  if (program_is_loaded && folder[0] != 0 && map->name != NULL && map->name[0] != 0 && is_free())
    note(map->name);
  return 0; /* symbols are not audited */
}
