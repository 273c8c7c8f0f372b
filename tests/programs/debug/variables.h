/* Declarations that the units of the program `variables` share. */
struct Pair {
  int first, second;
};
struct Item {
  long key;
  double weight;
  unsigned small : 3, large : 29;
  struct Pair pair;
  int (*action)(int, int);
  struct Item* next;
  char name[12];
};
union Word {
  float number;
  unsigned bits;
};
enum Color { RED, GREEN = 5, BLUE };

int add(int a, int b);
int multiply(int a, int b);
long sum_of(int count, ...);
double average(const struct Item* items, enum Color color);
struct Pair swap(struct Pair pair);
extern int calls;

/* Inlined into both units. */
static inline int clamp(int value, int low, int high) {
  int result = value;
  if (result < low) result = low;
  if (result > high) {
    int excess = result - high;
    result = high - (excess & 1);
  }
  return result;
}
