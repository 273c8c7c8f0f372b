/* The string and memory functions of libc at all alignments (hand-written assembly in static
   images), formatted input and output, multibyte text, sorting of text, time formatting,
   environment. */
#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>

static unsigned long digest = 5381;
static void mix(unsigned long v) {
  digest = digest * 33 ^ v;
}

static void alignments(void) {
  static char a[400], b[400];
  for (int from = 0; from < 16; from++)
    for (int to = 0; to < 16; to++)
      for (int n = 0; n < 80; n += 7) {
        for (int i = 0; i < 400; i++) a[i] = (char)('a' + (i * 7 + n) % 26), b[i] = '#';
        a[from + n] = 0;
        memcpy(b + to, a + from, (size_t)n);
        memmove(b + to + 3, b + to, (size_t)n);
        mix((unsigned long)memcmp(b + to, a + from, 3 < n ? 3 : (size_t)n));
        strcpy(b + to + 100, a + from);
        strncpy(b + to + 200, a + from, (size_t)(n / 2 + 1));
        mix(strlen(a + from) + strlen(b + to + 100));
        strcat(b + to + 100, "tail");
        mix((unsigned long)(strchr(b + to + 100, 't') - b));
        mix((unsigned long)(strrchr(b + to + 100, 't') - b));
        mix((unsigned long)(strcmp(a + from, b + to + 100) < 0) + 2);
        mix((unsigned long)(strncmp(a + from, b + to + 100, (size_t)n) == 0));
        memset(b + to + 300, from, (size_t)n);
        for (int i = 0; i < 400; i++) mix((unsigned char)b[i]);
        char* p = memchr(a, a[from], 400);
        mix((unsigned long)(p - a));
      }
  printf("alignments %016lx\n", digest);
}

static void parse(void) {
  int i = 0, n = 0;
  unsigned u = 0;
  double d = 0;
  char word[32] = "", rest[32] = "";
  n = sscanf("  42 cafe 2.75 hello [x,y]", "%d %x %lf %31s [%31[^]]", &i, &u, &d, word, rest);
  printf("scanned %d: %d %x %g %s %s\n", n, i, u, d, word, rest);
  char list[] = "alpha:beta::gamma;delta";
  char* state = 0;
  for (char* t = strtok_r(list, ":;", &state); t; t = strtok_r(0, ":;", &state)) printf("<%s>", t);
  printf("\nspan %zu %zu %s\n", strspn("aabbcc", "ab"), strcspn("aabbcc", "c"),
         strstr("post-link optimizer", "opt"));
  char* end;
  const long balloons = strtol("99 red", &end, 10);
  printf("numbers %ld %lu %ld %s\n", strtol("-0x7f", 0, 16), strtoul("777", 0, 8), balloons, end);
  printf("case %d %d\n", strcasecmp("HeLLo", "hEllO"), strncasecmp("abcX", "ABCy", 3));
}

static void formats(void) {
  printf("[%5d|%-5d|%05d|%+d|%x|%X|%#o|%c|%%|%10.3s|%-8s|%*d]\n", 42, 42, 42, 42, 3054, 3054, 8,
         'q', "abcdef", "ab", 6, 7);
  printf("[%ld|%hhd|%hd|%zu|%jd|%lld]\n", -5L, (char)300, (short)70000, (size_t)9, (long)1,
         1LL << 62);
  printf("[%g|%e|%.0f|%10.4f|%G]\n", 0.0001, 12345.6789, 2.5, 3.14159265, 1e-10);
  wchar_t wide[64];
  swprintf(wide, 64, L"%ls %d", L"wide", 5);
  printf("wide %zu %ls\n", wcslen(wide), wide);
  time_t when = 884822400; /* 15 January 1998 */
  struct tm* utc = gmtime(&when);
  char text[64];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %A %j", utc);
  puts(text);
}

static int by_text(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

int main(void) {
  setlocale(LC_ALL, "C");
  alignments();
  parse();
  formats();
  enum { WORDS = 1500 };
  static char* words[WORDS];
  unsigned seed = 7;
  for (int i = 0; i < WORDS; i++) {
    char text[16];
    int n = 3 + (int)((seed = seed * 69069u + 1u) >> 28);
    for (int k = 0; k < n && k < 15; k++)
      text[k] = (char)('a' + ((seed = seed * 69069u + 1u) >> 24) % 26), text[k + 1] = 0;
    words[i] = strdup(text);
    for (char* p = words[i]; *p; p++) *p = (char)(i % 3 ? *p : toupper(*p));
  }
  qsort(words, WORDS, sizeof *words, by_text);
  for (int i = 0; i < WORDS; i += 250) printf("%s ", words[i]);
  puts("");
  setenv("RESPIKE_TEST", "value", 1);
  printf("environment %s %s\n", getenv("RESPIKE_TEST"), getenv("RESPIKE_ABSENT") ? "set" : "unset");
  char line[64];
  int lines = 0;
  size_t bytes = 0;
  while (fgets(line, sizeof line, stdin)) lines++, bytes += strlen(line);
  printf("stdin %d lines %zu bytes\n", lines, bytes);
  return 0;
}
