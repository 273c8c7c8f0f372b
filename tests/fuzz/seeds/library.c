// A shared library: dynamic relocations, a constructor, calls through the global offset table.

extern long supplied(long);
long exported_value = 3;
static long (*pointer)(long) = supplied;

long exported(long x) { return supplied(x) + exported_value; }
static long hidden(long x) { return exported(x) * 2; }
long (*table[])(long) = {exported, hidden};

__attribute__((constructor)) static void start(void) { exported_value += pointer(1); }
__attribute__((weak)) long supplied(long x) { return table[x & 1] == hidden; }
