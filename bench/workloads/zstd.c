#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
int main(void) {
  size_t n = 1 << 20;
  char* b = malloc(n);
  unsigned s = 1;
  for (size_t i = 0; i < n; i++) {
    s = s * 1103515245 + 12345;
    b[i] = (i % 97 < 50) ? "the quick brown fox"[i % 19] : (s >> 24) % 17 + 'a';
  }
  size_t m = ZSTD_compressBound(n);
  char* o = malloc(m);
  char* d = malloc(n);
  for (int l = 1; l <= 19; l += 3) {
    size_t k = ZSTD_compress(o, m, b, n, l);
    size_t r = ZSTD_decompress(d, n, o, k);
    printf("%d %zu %zu %d\n", l, k, r, memcmp(b, d, n));
  }
  return 0;
}
