/* The second unit of the program `variables`. */
#include "variables.h"

#include <stdarg.h>

int calls;
static int history[8];

static void note(int value) {
  static int position;
  history[position] = value;
  position = (position + 1) & 7;
  calls++;
}

int add(int a, int b) {
  int result = a + b;
  note(result);
  return result;
}

int multiply(int a, int b) {
  int result = a * b;
  if (result < 0) {
    int positive = -result;
    note(positive);
  } else {
    note(result);
  }
  return clamp(result, -100, 100);
}

long sum_of(int count, ...) {
  va_list arguments;
  long total = 0;
  va_start(arguments, count);
  for (int i = 0; i < count; i++) {
    long argument = va_arg(arguments, long);
    total += argument;
  }
  va_end(arguments);
  return total;
}

static double weigh(const struct Item* item, double factor) {
  double weight = item->weight * factor;
  if (item->small > 4) weight += item->large;
  return weight;
}

double average(const struct Item* items, enum Color color) {
  double total = 0;
  int number = 0;
  for (const struct Item* item = items; item; item = item->next) {
    switch (color) {
      case RED:
        total += weigh(item, 1.5);
        break;
      case GREEN:
        total += 1;
        break;
      case BLUE:
        total -= weigh(item, item->pair.second);
        break;
    }
    number++;
  }
  return number ? total / number : 0;
}

struct Pair swap(struct Pair pair) {
  struct Pair result = {pair.second, pair.first};
  note(result.first);
  return result;
}
