/* Differences of labels in data, added to a label whose address is also in data. */
int tested(int x) {
  static const int distances[] = {&&a - &&a, &&b - &&a, &&c - &&a, &&d - &&a};
  static void* base = &&a;
  static void* volatile* known = (void* volatile*)&base;
  int sum = x;
  goto*((char*)*known + distances[x & 3]);
a:
  sum += 1;
  __asm__("");
b:
  sum += 2;
  __asm__("");
c:
  sum += 4;
  __asm__("");
d:
  sum += 8;
  __asm__("");
  return sum;
}
