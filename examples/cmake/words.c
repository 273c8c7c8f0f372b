#include "words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void count_word(struct words* words, const char* text, size_t size) {
  unsigned hash = 2166136261u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)tolower(text[i])) * 16777619u;
  struct word** place = &words->buckets[hash % 4096];
  words->total++;
  for (; *place != NULL; place = &(*place)->next) {
    if (strlen((*place)->text) != size) continue;
    size_t i = 0;
    while (i < size && (*place)->text[i] == tolower(text[i])) i++;
    if (i == size) {
      (*place)->count++;
      return;
    }
  }
  struct word* word = malloc(sizeof *word);
  if (word == NULL || (word->text = malloc(size + 1)) == NULL) abort();
  for (size_t i = 0; i < size; i++) word->text[i] = (char)tolower(text[i]);
  word->text[size] = '\0';
  word->count = 1;
  word->next = NULL;
  *place = word;
  words->different++;
}

void count_text(struct words* words, const char* text, size_t size) {
  for (size_t i = 0; i < size;) {
    size_t end = i;
    while (end < size && isalpha((unsigned char)text[end])) end++;
    if (end > i) count_word(words, text + i, end - i);
    i = end + 1;
  }
}

static int by_count(const void* left, const void* right) {
  const struct word *a = *(const struct word* const*)left, *b = *(const struct word* const*)right;
  if (a->count != b->count) return a->count < b->count ? 1 : -1;
  return strcmp(a->text, b->text);
}

const struct word** most_frequent(const struct words* words, size_t* limit) {
  const struct word** all = malloc((words->different + 1) * sizeof *all);
  if (all == NULL) abort();
  size_t number = 0;
  for (size_t i = 0; i < 4096; i++)
    for (const struct word* word = words->buckets[i]; word != NULL; word = word->next)
      all[number++] = word;
  qsort(all, number, sizeof *all, by_count);
  if (*limit > number) *limit = number;
  return all;
}
