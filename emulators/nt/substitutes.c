// Versions of images, made by Respike, in place of the originals.
//
// The table has a line for each version, with fields separated by tabs:
//
//   ORIGINAL SIZE TIME VERSION
//
// with the size of the original in bytes and the time of its last change in nanoseconds. If the
// original has changed since, the original runs. Both paths are absolute and without symbolic
// links. Versions name their libraries by the paths of the libraries' versions; LoadLibraryA() gets
// names of originals. The path that the program sees, module->path, is always the original's.

#define _GNU_SOURCE
#include "substitutes.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader.h"

struct substitute {
  struct substitute* next;
  char* original;
  char* file;
  unsigned long size, time;
};

static struct substitute* substitutes;

/// Whether the original is still the file from which the version was made.
static bool is_current(const struct substitute* substitute) {
  struct stat status;
  return stat(substitute->original, &status) == 0 &&
         (unsigned long)status.st_size == substitute->size &&
         status.st_mtim.tv_sec * 1000000000ul + (unsigned long)status.st_mtim.tv_nsec ==
             substitute->time &&
         access(substitute->file, R_OK) == 0;
}

void read_substitutes(const char* path) {
  FILE* stream = fopen(path, "r");
  if (stream == NULL) {  // a user other than the versions' owner
    fprintf(stderr, "respike-nt: the originals run: the table of versions cannot be read\n");
    return;
  }
  char* line = NULL;
  size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, stream)) > 0;) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    char* rest = line;
    const char* original = strsep(&rest, "\t");
    const char* size = strsep(&rest, "\t");
    const char* time = strsep(&rest, "\t");
    if (size == NULL || time == NULL || rest == NULL) fail("%s: a line is damaged", path);
    struct substitute* made = malloc(sizeof *made);
    if (made == NULL) fail("there is no memory left");
    *made = (struct substitute){substitutes, strdup(original), strdup(rest),
                                strtoul(size, NULL, 10), strtoul(time, NULL, 10)};
    substitutes = made;
  }
  free(line);
  fclose(stream);
}

const char* version_of(const char* original) {
  char real[PATH_MAX];
  if (substitutes == NULL || realpath(original, real) == NULL) return NULL;
  for (const struct substitute* each = substitutes; each != NULL; each = each->next)
    if (strcmp(each->original, real) == 0) return is_current(each) ? each->file : NULL;
  return NULL;
}

const char* original_of(const char* file) {
  for (const struct substitute* each = substitutes; each != NULL; each = each->next)
    if (strcmp(each->file, file) == 0) return each->original;
  return NULL;
}
