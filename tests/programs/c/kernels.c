/* Small freestanding kernels with hot loops: LZ77 with canonical Huffman codes and back, SHA-256,
   CRC-32, matrix product, sieve, big-integer factorial, Game of Life, shortest paths, heap sort.
   The kernels are also built for ev67 (byte, count and media instructions) and with other code models. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 2463534242u;
static uint32_t next_random(void) {
  return seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
}

static uint32_t crc_table[256];
static uint32_t crc(const uint8_t* p, size_t n) {
  uint32_t c = ~0u;
  if (!crc_table[1])
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t v = i;
      for (int k = 0; k < 8; k++) v = v & 1 ? v >> 1 ^ 0xedb88320u : v >> 1;
      crc_table[i] = v;
    }
  while (n--) c = crc_table[(c ^ *p++) & 255] ^ c >> 8;
  return ~c;
}

static size_t lz_pack(const uint8_t* in, size_t n, uint8_t* out) {
  static int32_t head[4096];
  size_t o = 0, i = 0;
  for (int k = 0; k < 4096; k++) head[k] = -1;
  while (i < n) {
    size_t length = 0, distance = 0;
    if (i + 4 < n) {
      uint32_t h = ((in[i] * 2654435761u) ^ (in[i + 1] * 40503u) ^ (uint32_t)in[i + 2] << 4) & 4095;
      int32_t at = head[h];
      head[h] = (int32_t)i;
      if (at >= 0 && i - (size_t)at < 65535) {
        while (length < 255 && i + length < n && in[(size_t)at + length] == in[i + length])
          length++;
        distance = i - (size_t)at;
      }
    }
    if (length > 4) {
      out[o++] = 0xff, out[o++] = (uint8_t)length, out[o++] = (uint8_t)distance,
      out[o++] = (uint8_t)(distance >> 8);
      i += length;
    } else {
      if (in[i] == 0xff)
        out[o++] = 0xff, out[o++] = 0;
      else
        out[o++] = in[i];
      i++;
    }
  }
  return o;
}

static size_t lz_unpack(const uint8_t* in, size_t n, uint8_t* out) {
  size_t o = 0;
  for (size_t i = 0; i < n;) {
    uint8_t c = in[i++];
    if (c != 0xff) {
      out[o++] = c;
      continue;
    }
    size_t length = in[i++];
    if (!length) {
      out[o++] = 0xff;
      continue;
    }
    size_t distance = in[i] | (size_t)in[i + 1] << 8;
    i += 2;
    while (length--) out[o] = out[o - distance], o++;
  }
  return o;
}

static unsigned huffman_bits(const uint8_t* in, size_t n) {
  unsigned count[512] = {0}, used = 0, total = 0;
  int alive[512];
  for (size_t i = 0; i < n; i++) count[in[i]]++;
  for (int i = 0; i < 256; i++)
    if (count[i]) alive[used++] = i;
  int next = 256;
  while (used > 1) {
    for (int pick = 0; pick < 2; pick++) {
      unsigned best = (unsigned)pick;
      for (unsigned i = (unsigned)pick; i < used; i++)
        if (count[alive[i]] < count[alive[best]]) best = i;
      int t = alive[pick];
      alive[pick] = alive[best], alive[best] = t;
    }
    count[next] = count[alive[0]] + count[alive[1]];
    total += count[next];
    alive[0] = next++;
    alive[1] = alive[--used];
  }
  return total;
}

static void sha256(const uint8_t* data, size_t n, uint32_t h[8]) {
  static uint32_t k[64];
  if (!k[0]) { /* the fractional parts of cube roots of primes, in integers */
    int found = 0;
    for (unsigned p = 2; found < 64; p++) {
      int prime = 1;
      for (unsigned d = 2; d * d <= p; d++)
        if (p % d == 0) prime = 0;
      if (!prime) continue;
      unsigned __int128 target = (unsigned __int128)p << 96;
      uint64_t low = 0, high = 1ull << 36;
      while (low + 1 < high) {
        uint64_t middle = (low + high) / 2;
        if ((unsigned __int128)middle * middle * middle <= target)
          low = middle;
        else
          high = middle;
      }
      k[found++] = (uint32_t)low;
    }
  }
  static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(h, start, sizeof start);
  size_t blocks = (n + 9 + 63) / 64;
  for (size_t b = 0; b < blocks; b++) {
    uint32_t w[64];
    uint8_t chunk[64] = {0};
    for (size_t i = 0; i < 64; i++) {
      size_t at = b * 64 + i;
      if (at < n)
        chunk[i] = data[at];
      else if (at == n)
        chunk[i] = 0x80;
      else if (b == blocks - 1 && i >= 56)
        chunk[i] = (uint8_t)((uint64_t)n * 8 >> (63 - i) * 8);
    }
    for (int i = 0; i < 16; i++)
      w[i] = (uint32_t)chunk[i * 4] << 24 | (uint32_t)chunk[i * 4 + 1] << 16 |
             (uint32_t)chunk[i * 4 + 2] << 8 | chunk[i * 4 + 3];
#define ROR(x, s) ((x) >> (s) | (x) << (32 - (s)))
    for (int i = 16; i < 64; i++)
      w[i] = w[i - 16] + (ROR(w[i - 15], 7) ^ ROR(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
             (ROR(w[i - 2], 17) ^ ROR(w[i - 2], 19) ^ w[i - 2] >> 10);
    uint32_t v[8];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
      uint32_t t1 = v[7] + (ROR(v[4], 6) ^ ROR(v[4], 11) ^ ROR(v[4], 25)) +
                    ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
      uint32_t t2 = (ROR(v[0], 2) ^ ROR(v[0], 13) ^ ROR(v[0], 22)) +
                    ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      memmove(v + 1, v, 7 * sizeof *v);
      v[4] += t1;
      v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
  }
}

static void matrix(void) {
  enum { N = 40 };
  static double a[N][N], b[N][N], c[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i * 0.5 + j, b[i][j] = i - j * 0.25, c[i][j] = 0;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
  printf("matrix %.6f %.6f\n", c[3][5], c[39][39]);
}

static void sieve(void) {
  static uint8_t composite[50000];
  int primes = 0, last = 0;
  for (int i = 2; i < 50000; i++) {
    if (composite[i]) continue;
    primes++, last = i;
    for (int j = i * 2; j < 50000; j += i) composite[j] = 1;
  }
  printf("primes %d last %d\n", primes, last);
}

static void factorial(void) {
  static uint32_t digits[80];
  int used = 1;
  digits[0] = 1;
  for (uint32_t n = 2; n <= 200; n++) {
    uint64_t carry = 0;
    for (int i = 0; i < used || carry; i++) {
      uint64_t v = (uint64_t)digits[i] * n + carry;
      digits[i] = (uint32_t)(v % 1000000000u), carry = v / 1000000000u;
      if (i >= used) used = i + 1;
    }
  }
  printf("200! %u...%09u (%d words)\n", digits[used - 1], digits[5], used);
}

static void life(void) {
  enum { W = 48 };
  static uint8_t now[W][W], then[W][W];
  for (int i = 0; i < W * W; i++) now[i / W][i % W] = next_random() % 3 == 0;
  for (int generation = 0; generation < 20; generation++) {
    for (int y = 0; y < W; y++)
      for (int x = 0; x < W; x++) {
        int n = 0;
        for (int dy = -1; dy <= 1; dy++)
          for (int dx = -1; dx <= 1; dx++) n += now[(y + dy + W) % W][(x + dx + W) % W];
        then[y][x] = n == 3 || (n == 4 && now[y][x]);
      }
    memcpy(now, then, sizeof now);
  }
  int alive = 0;
  for (int i = 0; i < W * W; i++) alive += now[i / W][i % W];
  printf("life %d crc %08x\n", alive, crc(&now[0][0], sizeof now));
}

static void paths(void) {
  enum { N = 60 };
  static int d[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) d[i][j] = i == j ? 0 : (int)(next_random() % 1000 + 1);
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        if (d[i][k] + d[k][j] < d[i][j]) d[i][j] = d[i][k] + d[k][j];
  long total = 0;
  for (int i = 0; i < N * N; i++) total += d[i / N][i % N];
  printf("paths %ld\n", total);
}

static void heap_sort(void) {
  enum { N = 5000 };
  static uint16_t v[N];
  for (int i = 0; i < N; i++) v[i] = (uint16_t)next_random();
  for (int end = N, start = N / 2; end > 1;) {
    if (start > 0)
      start--;
    else {
      uint16_t t = v[--end];
      v[end] = v[0], v[0] = t;
    }
    int root = start, child;
    while ((child = root * 2 + 1) < end) {
      if (child + 1 < end && v[child] < v[child + 1]) child++;
      if (v[root] >= v[child]) break;
      uint16_t t = v[root];
      v[root] = v[child], v[child] = t;
      root = child;
    }
  }
  int sorted = 1;
  for (int i = 1; i < N; i++) sorted &= v[i - 1] <= v[i];
  printf("heap sort %d %u %u\n", sorted, v[0], v[N - 1]);
}

static void bit_tricks(void) {
  uint64_t total = 0, x = 0x9e3779b97f4a7c15u;
  for (int i = 1; i < 3000; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    total += (unsigned)__builtin_popcountll(x) + (unsigned)__builtin_clzll(x) * 3u +
             (unsigned)__builtin_ctzll(x | 1ull << 60) * 5u;
    total ^= __builtin_bswap64(x) >> 7;
    int8_t a = (int8_t)x, b = (int8_t)(x >> 8);
    int16_t c = (int16_t)(x >> 16);
    total += (uint64_t)(a > b ? a : b) + (uint64_t)(c < 0 ? -c : c);
    total += x / (uint64_t)(i * 3) + x % (uint64_t)(i + 7) + (uint64_t)((int64_t)x / (i + 1));
  }
  printf("bits %016lx\n", (unsigned long)total);
}

int main(void) {
  enum { N = 30000 };
  static uint8_t text[N], packed[N * 2], again[N];
  for (int i = 0; i < N; i++)
    text[i] = (uint8_t)(i > 300 && next_random() % 4 ? text[i - 37 - i % 5] : next_random() % 256);
  size_t size = lz_pack(text, N, packed);
  size_t back = lz_unpack(packed, size, again);
  printf("lz %zu -> %zu -> %zu same %d huffman %u crc %08x\n", (size_t)N, size, back,
         !memcmp(text, again, N), huffman_bits(text, N) / 8, crc(packed, size));
  uint32_t h[8];
  sha256(text, N, h);
  for (int i = 0; i < 8; i++) printf("%08x", h[i]);
  sha256((const uint8_t*)"abc", 3, h);
  printf(" %s\n", h[0] == 0xba7816bf && h[7] == 0xf20015ad ? "sha256 ok" : "sha256 wrong");
  matrix();
  sieve();
  factorial();
  life();
  paths();
  heap_sort();
  bit_tricks();
  return 0;
}
