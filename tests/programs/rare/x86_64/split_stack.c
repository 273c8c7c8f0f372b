/* gcc's -fsplit-stack: __morestack continues one byte after the place to which it would return. */
__attribute__((noinline)) static int deep(int x, char* from) {
  char large[4000];
  for (int i = 0; i < 4000; i++) large[i] = (char)(i + x);
  return x == 0 ? from[10] : deep(x - 1, large) + large[x];
}

int tested(int x) {
  char none[20] = {0};
  return deep(200 + x, none);
}
