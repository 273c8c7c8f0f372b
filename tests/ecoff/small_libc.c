/* A C library that is just large enough for some programs of tests/programs/c. It is compiled as the programs are, with
   addresses loaded from .lita: so whole images have the form of code that DEC's compilers made, and the only relocations
   that those had.

   System calls are exit and write, which have the same numbers on Linux and on Tru64. Division comes from the machine's own
   routines in the C library, which are assembly without relocations. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

int main(int, char**, char**);

enum { EXIT = 1, WRITE = 4, BUFFER_SIZE = 8192 };

static char buffer[BUFFER_SIZE];
static unsigned used;

static long system_call(long number, long first, long second, long third) {
  register long v0 __asm__("$0") = number;
  register long a0 __asm__("$16") = first;
  register long a1 __asm__("$17") = second;
  register long a2 __asm__("$18") = third;
  register long a3 __asm__("$19");
  __asm__ volatile("callsys"
                   : "+r"(v0), "=r"(a3), "+r"(a0), "+r"(a1), "+r"(a2)
                   :
                   : "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$20", "$21", "$22", "$23", "$24", "$25", "$27",
                     "$28", "memory");
  return a3 != 0 ? -1 : v0;
}

static void flush(void) {
  for (unsigned done = 0; done < used;) {
    const long written = system_call(WRITE, 1, (long)(buffer + done), used - done);
    if (written <= 0) break;
    done += written;
  }
  used = 0;
}

void exit(int status) {
  flush();
  for (;;) system_call(EXIT, status, 0, 0);
}

/* The system enters _start, below, with the arguments on the stack. */
__attribute__((used)) static void start(long* stack) {
  char** arguments = (char**)(stack + 1);
  exit(main((int)stack[0], arguments, arguments + stack[0] + 1));
}

__asm__(
    "\t.text\n\t.align 4\n\t.globl _start\n\t.ent _start\n_start:\n"
    "\t.frame $30,0,$31,0\n"
    "\tbr $27,1f\n1:\tldgp $29,0($27)\n\t.prologue 0\n"
    "\tmov $31,$15\n\tmov $30,$16\n\tlda $27,start\n\tjsr $26,($27),start\n\thalt\n\t.end _start\n");

/* --- Memory */

void* memset(void* to, int value, size_t size) {
  for (unsigned char* p = to; size != 0; --size) *p++ = value;
  return to;
}

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  const unsigned char* source = from;
  for (unsigned char* p = to; size != 0; --size) *p++ = *source++;
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  unsigned char* p = to;
  const unsigned char* source = from;
  if (p <= source) {
    for (; size != 0; --size) *p++ = *source++;
  } else {
    while (size-- != 0) p[size] = source[size];
  }
  return to;
}

int memcmp(const void* a, const void* b, size_t size) {
  const unsigned char *x = a, *y = b;
  for (; size != 0; --size, ++x, ++y)
    if (*x != *y) return *x - *y;
  return 0;
}

size_t strlen(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

/* --- Bits: the compiler calls these. */

int __popcountdi2(unsigned long value) {
  int count = 0;
  for (; value != 0; value &= value - 1) ++count;
  return count;
}

int __clzdi2(unsigned long value) {
  int count = 0;
  for (unsigned long bit = 1ul << 63; bit != 0 && (value & bit) == 0; bit >>= 1) ++count;
  return count;
}

int __ctzdi2(unsigned long value) {
  int count = 0;
  for (unsigned long bit = 1; bit != 0 && (value & bit) == 0; bit <<= 1) ++count;
  return count;
}

/* --- Output */

int putchar(int c) {
  if (used == BUFFER_SIZE) flush();
  buffer[used++] = c;
  return c;
}

int puts(const char* text) {
  while (*text != 0) putchar(*text++);
  return putchar('\n');
}

static void put_padded(const char* text, int size, int width, char fill, int left) {
  if (fill == '0' && size != 0 && *text == '-') {
    putchar('-');
    ++text, --size, --width;
  }
  for (int i = size; i < width && !left; ++i) putchar(fill);
  for (int i = 0; i < size; ++i) putchar(text[i]);
  for (int i = size; i < width && left; ++i) putchar(' ');
}

/* The digits of a number end in front of `end`; where they start. */
static char* digits(char* end, unsigned long value, unsigned base) {
  do {
    *--end = "0123456789abcdef"[value % base];
    value /= base;
  } while (value != 0);
  return end;
}

/* Exact for numbers that are not too large, and rounds as the C library does but for ties. */
static char* decimal(char* end, double value, int places) {
  const int negative = value < 0;
  unsigned long scale = 1;
  if (negative) value = -value;
  for (int i = 0; i < places; ++i) scale *= 10;
  unsigned long whole = (unsigned long)value;
  unsigned long part = (unsigned long)((value - (double)whole) * (double)scale + 0.5);
  if (part >= scale) ++whole, part -= scale;
  char* start = digits(end, part, 10);
  while (end - start < places) *--start = '0';
  *--start = '.';
  start = digits(start, whole, 10);
  if (negative) *--start = '-';
  return start;
}

struct format {
  char fill;
  int left, width, precision, size;
};

static const char* read_format(const char* text, struct format* format) {
  *format = (struct format){.fill = ' ', .precision = 6, .size = 4};
  for (; *text == '-' || *text == '0'; ++text) {
    if (*text == '-') format->left = 1;
    if (*text == '0') format->fill = '0';
  }
  for (; *text >= '0' && *text <= '9'; ++text) format->width = 10 * format->width + *text - '0';
  if (*text == '.')
    for (format->precision = 0; *++text >= '0' && *text <= '9';)
      format->precision = 10 * format->precision + *text - '0';
  for (; *text == 'l' || *text == 'z'; ++text) format->size = 8;
  return text;
}

int printf(const char* text, ...) {
  va_list arguments;
  va_start(arguments, text);
  for (; *text != 0; ++text) {
    if (*text != '%') {
      putchar(*text);
      continue;
    }
    struct format format;
    text = read_format(text + 1, &format);
    char space[64], *const end = space + sizeof space;
    const char *from = end, *to = end;
    switch (*text) {
      case 'd': {
        const long value = format.size == 8 ? va_arg(arguments, long) : va_arg(arguments, int);
        char* start = digits(end, value < 0 ? -(unsigned long)value : (unsigned long)value, 10);
        if (value < 0) *--start = '-';
        from = start;
        break;
      }
      case 'u':
      case 'x':
        from = digits(end, format.size == 8 ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
                      *text == 'x' ? 16 : 10);
        break;
      case 'f':
        from = decimal(end, va_arg(arguments, double), format.precision);
        break;
      case 's':
        from = va_arg(arguments, const char*);
        to = from + strlen(from);
        break;
      case 'c':
        space[0] = va_arg(arguments, int);
        from = space, to = space + 1;
        break;
      default:
        from = text, to = text + 1;
    }
    put_padded(from, (int)(to - from), format.width, format.fill, format.left);
  }
  va_end(arguments);
  return 0;
}
