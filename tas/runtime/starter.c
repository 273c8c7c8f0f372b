/* respike-starter: starts a program with other images in place of its own.

   Below `respike exec`, a process that executes a program of an intercepted application executes
   this starter: interception.cc gave the kernel a rule (binfmt_misc) for the first bytes of the
   program's file. The starter checks that the file is the registered file, enters a mount namespace
   of its own, mounts there the images that shall run over their originals, and executes the program
   again, by the same path. The kernel now finds a file with other first bytes, and runs it.

       argv: RULES/ID, the program's path, its argv[0], its arguments
       AT_EXECFD: the program's file, open; AT_EXECFN: the argument of execve()
       RULES/ID.table: data for the programs that start with these bytes (start_table.h)
       RULES/all: all files for which some program of the session sees a substitute
       RULES/originals: these files, where no substitute hides them
       RULES/twins: below
       RULES/attendant: the socket of the attendant (tas/attendant.cc), which gets the starts of
           guarded or counted programs, and answers whether the original shall run

   First bytes do not distinguish programs: a copy, or another build, may begin with the same bytes.
   Such a file runs unchanged; but the kernel would call the starter for it again, for ever. So a
   *twin* is mounted over it: a copy that differs in the flags of the header, which have no meaning
   on this machine.

   A program inherits the mounts of a program that started it. If that program was of another
   application, this one gets back the originals of all files for which it has no substitutes.

   On failure there is a sentence on stderr, and the status is 126, as when a shell cannot execute a
   program.

   Every start waits for the starter, so it uses no library: this halves its time.
   Sources: Documentation/admin-guide/binfmt-misc.rst, fs/binfmt_misc.c and fs/binfmt_script.c. */

#include <linux/auxvec.h>

#include "entry.h" /* of the machine */
#include "tas/runtime/asking.h"
#include "tas/runtime/freestanding.h"
#include "tas/runtime/mounting.h"
#include "tas/runtime/start_table.h"

/* The kernel enters with the arguments on the stack. */
RESPIKE_ENTRY(begin)

/* ---- the program to start ---- */

typedef struct {
  const char* rule;   /* argv[0] */
  const char* rules;  /* its folder */
  const char* path;   /* from the kernel, perhaps relative */
  const char* name;   /* AT_EXECFN: the path, a script, or /dev/fd/N */
  const char* target; /* where the file is, absolute */
  char** words;
  char** environment;
} Start;

static size_t count_of(char** words) {
  size_t count = 0;
  while (words[count] != NULL) ++count;
  return count;
}

/* The path of the open file; without /proc, the path by which it was executed. */
static Text target_of(long file, const char* path) {
  struct statx status;
  Text name = text_of("/proc/self/fd/", ""), target;
  append_number(&name, (uint64_t)file, 10);
  const long size = CALL3(readlink, name.text, target.text, PATH_SIZE - 1);
  target.size = size > 0 ? (size_t)size : 0;
  target.text[target.size] = 0;
  if (size <= 0 || CALL5(statx, AT_FDCWD, target.text, 0, STATX_INO, &status) != 0)
    return text_of(path, "");
  return target;
}

/* ---- the table ---- */

typedef struct {
  char* at; /* fields, each a letter and a text with a zero at its end */
  char* end;
} Table;

static Table read_table(const char* path) {
  struct statx status;
  Table table = {NULL, NULL};
  const long file = open_file(path, O_RDONLY);
  if (file < 0) return table;
  if (CALL5(statx, file, "", AT_EMPTY_PATH, STATX_SIZE, &status) == 0)
    table.at = map_file(file, status.stx_size);
  CALL1(close, file);
  if (table.at != NULL) table.end = table.at + status.stx_size;
  return table;
}

static char* next_field(char* field) {
  return field + length_of(field) + 1;
}

/* The fields of the program whose file is `status`, after its path; NULL when there are none. */
static char* find_program(const Table* table, const struct statx* status, long file,
                          const char* path) {
  for (char* field = table->at; field < table->end; field = next_field(field)) {
    if (*field != 'p') continue;
    char* record = next_field(field); /* the field i */
    if ((same_inode(status, record + 1) || equal(path, field + 1)) &&
        has_contents(status, record + 1, file, NULL))
      return record;
  }
  return NULL;
}

/* The fields of all programs that are not registered; NULL when there are none. */
static char* find_others(const Table* table) {
  for (char* field = table->at; field < table->end; field = next_field(field))
    if (*field == 'p' && equal(field + 1, "*")) return next_field(field);
  return NULL;
}

/* The text of the next field with this letter, from `field` on, of the same program; NULL: none. */
static char* field_of(const Table* table, char* field, char letter) {
  for (; field != NULL && field < table->end && *field != 'p'; field = next_field(field))
    if (*field == letter) return field + 1;
  return NULL;
}

/* ---- namespace and mounts ---- */

static void enter_namespace(const char* program) {
  const long error = enter_own_namespace();
  if (error < 0) give_up(program, "it gets no namespace", error);
}

static long mount_over(const char* original, const char* file) {
  return CALL5(mount, file, original, NULL, MS_BIND, NULL);
}

static void substitute(const char* original, const char* file) {
  const long error = put_over(original, file);
  if (error < 0) give_up(original, "nothing can be put in its place", error);
}

/* Substitutes each library that is still the file from which its substitute was made. */
static void substitute_libraries(const Table* table, char* program) {
  for (char* field = program; field < table->end && *field != 'p'; field = next_field(field)) {
    if (*field != 'o') continue;
    char* record = next_field(field);
    char* file = next_field(record);
    const char* original = field + 1;
    struct statx status;
    long error = CALL5(statx, AT_FDCWD, original, 0, STATX_BASIC_STATS, &status);
    if (error == 0 && is_mount(&status)) {
      original = next_field(file) + 1;
      error = CALL5(statx, AT_FDCWD, original, 0, STATX_BASIC_STATS, &status);
    }
    if (error == 0 && has_contents(&status, record + 1, -1, original))
      substitute(field + 1, file + 1);
  }
}

static int has_substitute_for(const Table* table, char* program, const char* path) {
  for (char* field = program; field != NULL && field < table->end && *field != 'p';
       field = next_field(field))
    if (*field == 'o' && equal(field + 1, path)) return 1;
  return 0;
}

/* Whether an ancestor of this process may have mounted something. */
static int inherits_mounts(const Table* table) {
  struct statx status;
  const char* own = field_of(table, table->at, 'n');
  return own == NULL || CALL5(statx, AT_FDCWD, "/proc/self/ns/mnt", 0, STATX_INO, &status) != 0 ||
         take_hexadecimal(&own) != status.stx_ino;
}

/* Shows the originals of files that a program of another application has substituted. Files
   substituted by the same application stay substituted: they are this program's libraries as well.
   `program`: NULL for an original, which shall see only originals. */
static void show_originals(const Table* table, char* program, const Start* start) {
  const Table all = read_table(text_of(start->rules, "/all").text);
  const char* group = field_of(table, program, 'g');
  for (char* field = all.at; field != NULL && field < all.end;) {
    const char* path = field + 1;
    char* kept = next_field(field);
    char* owner = next_field(kept);
    struct statx status;
    const int is_own = group != NULL && equal(owner + 1, group);
    if (!is_own && !equal(path, start->target) && !has_substitute_for(table, program, path) &&
        CALL5(statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_INO, &status) == 0 &&
        is_mount(&status))
      mount_over(path, kept + 1);
    field = next_field(owner);
  }
}

/* ---- twins ---- */

/* Makes the twin `name`: another process may do so at the same time. */
static long make_twin(const char* name, long file, const struct statx* status, long flags_at) {
  Text part = text_of(name, ".");
  append_number(&part, (uint64_t)CALL1(getpid, 0), 16);
  const long to = CALL4(openat, AT_FDCWD, part.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  if (to < 0) return to;
  long from = 0, error = 0;
  while (error >= 0 && (uint64_t)from < status->stx_size)
    error = CALL4(sendfile, to, file, &from, status->stx_size - (uint64_t)from);
  uint32_t flags = 0;
  if (error >= 0) error = CALL4(pread64, to, &flags, sizeof flags, flags_at);
  flags ^= RESPIKE_TWIN_FLAGS;
  if (error >= 0) error = CALL4(pwrite64, to, &flags, sizeof flags, flags_at);
  if (error >= 0) error = CALL2(fchmod, to, status->stx_mode & 0777);
  CALL1(close, to);
  if (error >= 0) error = CALL2(rename, part.text, name);
  if (error < 0) CALL1(unlink, part.text);
  return error < 0 ? error : 0;
}

/* The path of the twin of a file. All users can write to the folder, so only the user's own twins
   count. */
static Text twin_of(const Start* start, long file, const struct statx* status,
                    const char* flags_at) {
  const uint64_t user = (uint64_t)CALL1(geteuid, 0);
  const uint64_t parts[] = {user,
                            device_of(status),
                            status->stx_ino,
                            status->stx_size,
                            nanoseconds(&status->stx_mtime),
                            nanoseconds(&status->stx_ctime)};
  Text name = text_of(start->rules, "/twins/");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (i > 0) append(&name, "-");
    append_number(&name, parts[i], 16);
  }
  struct statx twin;
  if (CALL5(statx, AT_FDCWD, name.text, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &twin) != 0 ||
      twin.stx_uid != user || twin.stx_size != status->stx_size) {
    const long error = make_twin(name.text, file, status, (long)take_hexadecimal(&flags_at));
    if (error < 0) give_up(start->path, "no copy can be made to start it from", error);
  }
  return name;
}

/* ---- execution ---- */

enum { R_OK = 4 };

/* The variable LD_AUDIT with Respike's module before the user's own modules (tas/session.cc). */
static const char* audit_variable(const char* module, char** environment, Text* variable) {
  const long file = CALL4(openat, AT_FDCWD, module, O_RDONLY, 0);
  if (file < 0) return NULL;
  *variable = text_of("LD_AUDIT=/proc/self/fd/", "");
  append_number(variable, (uint64_t)file, 10);
  for (char** each = environment; *each != NULL; ++each) {
    const char* others = behind(*each, "LD_AUDIT=");
    if (others == NULL) continue;
    append(variable, ":");
    append(variable, others);
  }
  return variable->text;
}

/* The environment with the variables of the audit module, which removes them again. LD_AUDIT keeps
   its place if there is one. `audit`: NULL for an emulator, which passes it only to the program.
   `attendant`: NULL when there is none. */
static void set_variables(char** to, char** from, const char* audit, const char* notes,
                          const char* attendant) {
  *to++ = (char*)notes;
  if (attendant != NULL) *to++ = (char*)attendant;
  for (; *from != NULL; ++from) {
    const int replaced = audit != NULL && behind(*from, "LD_AUDIT=") != NULL;
    *to++ = replaced ? (char*)audit : *from;
    if (replaced) audit = NULL;
  }
  if (audit != NULL) *to++ = (char*)audit;
  *to = NULL;
}

/* The number N of /dev/fd/N; -1: another name. */
static long number_of_open_file(const char* name) {
  const char* digits = behind(name, "/dev/fd/");
  if (digits == NULL || *digits == 0) return -1;
  for (const char* at = digits; *at != 0; ++at)
    if (*at < '0' || *at > '9') return -1;
  return (long)take_number(&digits);
}

/* Whether the path leads to the file that is mounted over the target: a path through an open folder
   leads to the place where the folder was opened, outside this namespace. */
static int leads_to(const char* path, const char* target) {
  struct statx a, b;
  return CALL5(statx, AT_FDCWD, path, 0, STATX_INO, &a) == 0 &&
         CALL5(statx, AT_FDCWD, target, 0, STATX_INO, &b) == 0 && a.stx_ino == b.stx_ino &&
         a.stx_dev_major == b.stx_dev_major && a.stx_dev_minor == b.stx_dev_minor && is_mount(&a);
}

static long execute(const Start* start) {
  char** words = start->words;
  if (!equal(start->name, start->path)) { /* a script's interpreter: the script starts again */
    while (*words != NULL && !equal(*words, start->name)) ++words;
    if (*words != NULL && leads_to(start->path, start->target))
      return CALL3(execve, start->name, words, start->environment);
    return CALL3(execve, start->target, start->words, start->environment);
  }
  const long open_number = number_of_open_file(start->name);
  if (open_number >= 0) { /* fexecve: the same number, but of the file in this namespace */
    const long file = CALL4(openat, AT_FDCWD, start->target, O_PATH, 0);
    if (file < 0) return file;
    if (file != open_number) {
      CALL3(dup3, file, open_number, 0);
      CALL1(close, file);
    }
    return CALL5(execveat, open_number, "", words, start->environment, AT_EMPTY_PATH);
  }
  const char* path = leads_to(start->name, start->target) ? start->name : start->target;
  return CALL3(execve, path, words, start->environment);
}

/* Executes the emulator: its words, the program's argv[0], its file and arguments. */
static long emulate(const Start* start, const Table* table, char* program, const char* audit,
                    const char* file) {
  const size_t count = count_of(start->words);
  size_t own = 0;
  for (char* field = table->at; field < table->end; field = next_field(field))
    own += *field == 'w' || *field == 'x';
  char* words[own + count + 6];
  size_t at = 0;
  const char* emulator = field_of(table, table->at, 'e');
  const char* option = field_of(table, table->at, 'v');
  for (char* field = table->at; field < table->end && *field != 'p'; field = next_field(field)) {
    if (*field != 'w') continue;
    words[at++] = field + 1;
    if (at != 1) continue;
    for (char* more = program; more != NULL && more < table->end && *more != 'p';
         more = next_field(more))
      if (*more == 'x') words[at++] = more + 1;
    if (audit == NULL || option == NULL) continue;
    words[at++] = (char*)option;
    words[at++] = (char*)audit;
  }
  words[at++] = count == 0 ? (char*)start->path : start->words[0];
  words[at++] = (char*)file;
  for (size_t i = 1; i < count; ++i) words[at++] = start->words[i];
  words[at] = NULL;
  return CALL3(execve, emulator, words, start->environment);
}

/* Mounts everything that the program shall see, in a namespace of its own. `original`: mounts no
   versions, and hides inherited versions. */
static void mount_for(const Table* table, char* program, const Start* start, const char* image,
                      int original) {
  const int inherits = inherits_mounts(table);
  if (image == NULL && program == NULL && !inherits) return;
  enter_namespace(start->path);
  if (image != NULL) substitute(start->target, image);
  if (program != NULL) substitute_libraries(table, program);
  if (inherits && (program != NULL || original)) show_originals(table, program, start);
}

static long execute_or_emulate(const Table* table, char* program, Start* start, int substituted) {
  const int emulated = field_of(table, table->at, 'e') != NULL;
  const char* module = field_of(table, program, 'a');
  Text variable;
  const char* audit = module == NULL ? NULL : audit_variable(module, start->environment, &variable);
  char* variables[count_of(start->environment) + 4];
  if (audit != NULL) {
    set_variables(variables, start->environment, emulated ? NULL : audit,
                  field_of(table, program, 'f'), field_of(table, program, 'b'));
    start->environment = variables;
  }
  if (!emulated) return execute(start);
  const int hidden = substituted && !leads_to(start->path, start->target);
  return emulate(start, table, program, audit, hidden ? start->target : start->path);
}

/* Whether the user may read a version. Users other than the session's may not. */
static int may_read(const char* image) {
  return CALL3(faccessat, AT_FDCWD, image, R_OK) == 0;
}

static void say_that_it_runs_as_it_is(const char* program) {
  Text text = text_of("respike-starter: ", program);
  append(&text, " runs as it is: its version cannot be read by this user\n");
  CALL3(write, 2, text.text, text.size);
}

/* Announces a start to the attendant, with the version's file, by which the attendant recognizes
   processes that the program forks. Returns whether the original is to run. */
static int runs_original(const Start* start, const Table* table, char* program, const char* state,
                         const char* image) {
  enum { WAIT = 1000 /* milliseconds */ };
  const char* group = field_of(table, program, 'g');
  const char* images = field_of(table, program, 'h');
  const char* attendant = field_of(table, program, 't');
  if (attendant == NULL) return *state == 'o';
  struct statx version;
  const int known =
      image != NULL && CALL5(statx, AT_FDCWD, image, 0, STATX_BASIC_STATS, &version) == 0;
  Text message = text_of("s", state);
  append(&message, " ");
  append(&message, group == NULL ? "0" : group);
  append(&message, " ");
  append(&message, images == NULL ? "0" : images);
  append(&message, " ");
  append_number(&message, ask_time(ASK_REAL_TIME), 10);
  append(&message, " ");
  append_number(&message, known ? device_of(&version) : 0, 16);
  append(&message, " ");
  append_number(&message, known ? version.stx_ino : 0, 16);
  append(&message, " ");
  append(&message, start->target);
  const char answer = ask(attendant, message.text, message.size, WAIT);
  return answer == 'o' || (answer == 0 && *state == 'o');
}

static void run(Start* start, long file) {
  Text rules = text_of(start->rule, "");
  while (rules.size > 0 && rules.text[rules.size - 1] != '/') --rules.size;
  if (rules.size > 0) rules.text[rules.size - 1] = 0;
  start->rules = rules.text;
  const Table table = read_table(text_of(start->rule, ".table").text);
  if (table.at == NULL) give_up(start->path, "the session's rules cannot be read here", -ENOENT);
  struct statx status;
  long error = CALL5(statx, file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status);
  if (error < 0) give_up(start->path, "it cannot be looked at", error);
  const Text target = target_of(file, start->path);
  start->target = target.text;

  char* program = find_program(&table, &status, file, target.text);
  if (program == NULL) program = find_others(&table);
  const char* image = field_of(&table, program, 'r');
  if (image != NULL && !may_read(image)) {
    say_that_it_runs_as_it_is(start->path);
    image = program = NULL;
  }
  const char* state = field_of(&table, program, 'd');
  const int original = state != NULL && runs_original(start, &table, program, state, image);
  if (original) image = program = NULL;
  const char* flags = field_of(&table, table.at, 'm'); /* NULL: the program is emulated */
  Text twin;
  if (image == NULL && flags != NULL) {
    twin = twin_of(start, file, &status, flags);
    image = twin.text;
  }
  CALL1(close, file);
  if (image != NULL || program != NULL || original)
    mount_for(&table, program, start, image, original);
  error = execute_or_emulate(&table, program, start, image != NULL);
  give_up(start->path, "it cannot be executed", error);
}

__attribute__((used, noreturn)) static void begin(long* stack) {
  char** words = (char**)(stack + 1);
  char** environment = words + stack[0] + 1;
  const unsigned long* vector = (unsigned long*)(environment + count_of(environment) + 1);
  Start start = {words[0], NULL, words[1], words[1], NULL, words + 2, environment};
  long file = -1;
  for (; vector[0] != AT_NULL; vector += 2) {
    if (vector[0] == AT_EXECFD) file = (long)vector[1];
    if (vector[0] == AT_EXECFN) start.name = (const char*)vector[1];
  }
  if (stack[0] < 3 || file < 0) {
    static const char kUsage[] =
        "respike-starter: the kernel calls it for programs below respike exec; nobody else can\n";
    CALL3(write, 2, kUsage, sizeof kUsage - 1);
    for (;;) CALL1(exit_group, CANNOT_EXECUTE);
  }
  run(&start, file);
  for (;;) CALL1(exit_group, CANNOT_EXECUTE);
}
