#pragma once
#include <stddef.h>

struct word {
  char* text;
  size_t count;
  struct word* next;
};

/* A hash table of words, which are sequences of letters. */
struct words {
  struct word* buckets[4096];
  size_t total, different;
};

void count_text(struct words* words, const char* text, size_t size);
/* The `limit` most frequent words, the most frequent first; the caller has to free() the result. */
const struct word** most_frequent(const struct words* words, size_t* limit);
