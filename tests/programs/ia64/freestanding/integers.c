// Integer arithmetic of all widths, bit fields, tables and strings.
#include "runtime.h"

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

struct Fields {
  unsigned a : 3, b : 11;
  int c : 7;
  uint64_t d : 45;
};

static uint32_t crc_table[256];

static uint32_t crc(const uint8_t *bytes, size_t size) {
  uint32_t value = ~0u;
  for (size_t i = 0; i < size; i++) value = crc_table[(value ^ bytes[i]) & 255] ^ value >> 8;
  return ~value;
}

static uint64_t mixture(uint64_t a, uint64_t b) {
  uint64_t sum = a * b + (a ^ b);
  sum += (uint64_t)((int64_t)a >> (b & 63)) ^ a << (b & 31) ^ a >> (b & 47);
  sum += (uint32_t)a * (uint32_t)b + (uint16_t)(a + b) + (uint8_t)(a - b);
  sum ^= (uint64_t)(int64_t)(int32_t)a + (uint64_t)(int64_t)(int16_t)b + (uint64_t)(int64_t)(int8_t)(a ^ b);
  sum += (a < b) + 2 * ((int64_t)a < (int64_t)b) + 4 * ((uint32_t)a < (uint32_t)b) + 8 * ((int32_t)a <= (int32_t)b);
  sum += (uint64_t)(((unsigned __int128)a * b) >> 64) + (uint64_t)__builtin_popcountll(a);
  sum ^= a << 13 | a >> 51;
  return sum;
}

static int classify(uint64_t x) {
  switch (x % 17) {
    case 0: return 5;
    case 1: case 4: return 77;
    case 2: return -3;
    case 5: return 12;
    case 6: return 13;
    case 7: return 0;
    case 9: case 10: case 11: return 1000;
    case 15: return 4;
    default: return 2;
  }
}

int program(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; bit++) value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
    crc_table[i] = value;
  }
  put("integers\n");
  put_hex(crc((const uint8_t *)"123456789", 9));
  uint64_t sum = 0, classes = 0;
  struct Fields fields = {1, 2, 3, 4};
  static uint8_t bytes[1000];
  for (int i = 0; i < 5000; i++) {
    uint64_t a = next(), b = next() >> (i & 63);
    sum = sum * 31 + mixture(a, b);
    classes += (uint64_t)classify(a);
    fields.a += a;
    fields.b ^= b;
    fields.c = (int)(fields.c + (int)(a >> 5));
    fields.d += a * 3;
    bytes[a % 1000] ^= (uint8_t)b;
  }
  put_hex(sum);
  put_hex(classes);
  put_hex(fields.a + ((uint64_t)fields.b << 8) + (uint64_t)fields.c * 3 + fields.d);
  put_hex(crc(bytes, sizeof bytes));
  put_hex(sum / 1000003 + (uint64_t)((int64_t)sum / -77) + sum % 97);
  return (int)(sum & 63);
}
