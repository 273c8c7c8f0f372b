// A shared library with exported and hidden functions, callbacks, jump tables, exceptions, virtual
// classes, thread-local storage, constructors and destructors.
#include "plugin.h"

#include <cstdio>
#include <memory>
#include <vector>

namespace {
thread_local int calls_of_this_thread = 0;
__attribute__((constructor)) void loaded() {
  std::puts("plugin: loaded");
}
__attribute__((destructor)) void unloaded() {
  std::puts("plugin: unloaded");
  std::fflush(stdout);
}
struct Static {
  Static() { std::puts("plugin: static object constructed"); }
  ~Static() { std::puts("plugin: static object destroyed"); }
} static_object;
int twice(int v, void*) {
  return v * 2;
}
int square(int v, void*) {
  return v * v;
}
int count(int v, void* context) {
  return v + ++*static_cast<int*>(context);
}
}  // namespace

int plugin_counter = 100;
Callback* const plugin_callbacks[3] = {twice, square, count};

int plugin_sum(const int* values, int n) {
  int sum = 0;
  ++calls_of_this_thread;
  for (int i = 0; i < n; ++i) sum += values[i];
  plugin_counter += sum;
  return sum;
}

int plugin_for_each(int n, Callback* callback, void* context) {
  int total = 0;
  ++calls_of_this_thread;
  std::unique_ptr<int> guard(new int(n)); /* has to be freed when the callback throws */
  for (int i = 0; i < *guard; ++i) total = total * 3 % 100003 + callback(i, context);
  return total + calls_of_this_thread;
}

int plugin_classify(int value) {
  switch (value) {
    case 0:
      return plugin_counter;
    case 1:
      return 11;
    case 2:
      return plugin_sum(&value, 1) + 3;
    case 3:
      return value * 77;
    case 4:
      return -1;
    case 5:
      return plugin_classify(2) - 9;
    case 6:
      return 1 << 20;
    case 7:
      std::puts("plugin: seven");
      return 7;
    case 8:
      return plugin_throw(99);
    default:
      return value & 1 ? 1000 : 2000;
  }
}

int plugin_throw(int kind) {
  std::vector<std::string> cleanup(3, "a text that needs the heap to be stored");
  switch (kind) {
    case 1:
      throw PluginError("plugin error", 5);
    case 2:
      throw std::out_of_range("plugin range");
    case 3:
      throw kind;
    default:
      return static_cast<int>(cleanup.size());
  }
}

const char* plugin_name(void) {
  return "plugin";
}
PluginError::~PluginError() = default;
Animal::~Animal() = default;

namespace {
class Dog : public Animal {
  int legs() const override { return 4; }
  std::string speak() const override { return "woof"; }
};
class Hen : public Animal {
  int legs() const override { return 2; }
};
}  // namespace

Animal* make_animal(int kind) {
  if (kind == 0) return new Dog;
  if (kind == 1) return new Hen;
  throw PluginError("no such animal", kind);
}
