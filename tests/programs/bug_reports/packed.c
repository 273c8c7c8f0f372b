/* Packed relative relocations (RELR) of pointers at even addresses that are no multiples of 8. */
#include <stdio.h>
static int one(int x) { return x + 1; }
static int two(int x) { return x > 5 ? x * 2 : x + 2; }
typedef int operation(int);
static operation* even[3] = {one, two, one};
#pragma pack(push, 2)
static struct { short n; operation* f; } rows[] = {{1, one}, {2, two}, {3, one}};
#pragma pack(pop)
int main(int count, char** words) {
  for (int i = 0; i < 3; i++) printf("%d %d\n", even[i](i + count), rows[i].f(rows[i].n));
  return words == 0;
}
