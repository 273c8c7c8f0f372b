/* The linker makes `alias`, an absolute symbol, of the address of a procedure. */
int alias(int x);

__attribute__((noinline)) int target(int x) {
  return 7 * x;
}

int (*volatile pointer)(int) = alias;

int tested(int x) {
  return pointer(x) + target(x + 1) + alias(2 * x);
}
