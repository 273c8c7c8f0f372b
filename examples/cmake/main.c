#include <stdio.h>
#include <stdlib.h>

#include "words.h"

static struct words words;

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    FILE* file = fopen(argv[i], "r");
    if (file == NULL) {
      perror(argv[i]);
      return 1;
    }
    char line[4096];
    while (fgets(line, sizeof line, file) != NULL) {
      size_t size = 0;
      while (line[size] != '\0') size++;
      count_text(&words, line, size);
    }
    fclose(file);
  }
  size_t limit = 10;
  const struct word** frequent = most_frequent(&words, &limit);
  printf("%zu words, %zu different\n", words.total, words.different);
  for (size_t i = 0; i < limit; i++) printf("%6zu %s\n", frequent[i]->count, frequent[i]->text);
  free(frequent);
  return 0;
}
