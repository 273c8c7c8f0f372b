/* Gigabytes of zeroed data after the image: the added segment stays near gp.
   build: -O2
   build: -O2 STATIC */
#include <stdio.h>

static char zeroes[3UL << 30];

int main() {
  zeroes[3000000000UL] = 5;
  printf("%d\n", zeroes[3000000000UL]);
}
