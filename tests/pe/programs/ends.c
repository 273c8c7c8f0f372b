// Works for a while, and ends as its argument says (pe_count_test.py).

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long sum;

int main(int count, char** words) {
  for (int i = 0; i < 20000; i++) sum += i % 3 == 0 ? i : 1;
  if (count == 1) {
    puts("1");
    return 0;
  }
  if (strcmp(words[1], "exit") == 0) exit(3);
  if (strcmp(words[1], "endless") == 0) {
    puts("go");
    fflush(stdout);
    for (;;) sum++;
  }
  return 1;
}
