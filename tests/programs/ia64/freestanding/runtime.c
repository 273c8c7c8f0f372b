#include "runtime.h"

void write_out(const char *text, size_t size);

void put(const char *text) {
  size_t size = 0;
  while (text[size] != 0) size++;
  write_out(text, size);
}

void put_hex(uint64_t value) {
  char text[17];
  for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
  text[16] = '\n';
  write_out(text, 17);
}

void put_double(double value) {
  union { double d; uint64_t u; } bits = {value};
  put_hex(bits.u);
}

#ifdef __ia64__
void *memcpy(void *to, const void *from, size_t size) {
  char *t = to;
  const char *f = from;
  for (size_t i = 0; i < size; i++) t[i] = f[i];
  return to;
}

void *memset(void *to, int value, size_t size) {
  char *t = to;
  for (size_t i = 0; i < size; i++) t[i] = (char)value;
  return to;
}
#endif
