// Linked with the plugin library: calls, callbacks that throw through it, its exceptions and
// classes.
#include <cstdio>
#include <memory>

#include "plugin.h"

static int add_context(int value, void* context) {
  return value + *static_cast<int*>(context);
}
static int throw_at_five(int value, void*) {
  if (value == 5) throw std::string("callback stopped at five");
  return value;
}

class Cat : public Animal {
 public:
  int legs() const override { return 4; }
  std::string speak() const override { return "meow"; }
};

int main() {
  int values[] = {1, 2, 3, 4, 5, 6, 7};
  int context = 10;
  std::printf("%s sum %d counter %d\n", plugin_name(), plugin_sum(values, 7), plugin_counter);
  std::printf("for each %d\n", plugin_for_each(1000, add_context, &context));
  for (Callback* c : plugin_callbacks)
    std::printf("callback %d\n", plugin_for_each(50, c, &context));
  std::printf("same function %d\n",
              plugin_callbacks[0] == plugin_callbacks[0] && &plugin_sum == &plugin_sum);
  try {
    plugin_for_each(10, throw_at_five, nullptr);
  } catch (const std::string& s) {
    std::printf("%s\n", s.c_str());
  }
  for (int i = 0; i < 10; ++i) std::printf("class %d\n", plugin_classify(i));
  for (int kind = 0; kind < 4; ++kind) {
    try {
      std::printf("no error %d\n", plugin_throw(kind));
    } catch (const PluginError& e) {
      std::printf("%s %d\n", e.what(), e.code());
    } catch (const std::exception& e) {
      std::printf("%s\n", e.what());
    } catch (int i) {
      std::printf("int %d\n", i);
    }
  }
  std::unique_ptr<Animal> animals[] = {std::unique_ptr<Animal>(make_animal(0)),
                                       std::unique_ptr<Animal>(make_animal(1)),
                                       std::make_unique<Cat>()};
  for (const auto& a : animals) std::printf("%d legs, %s\n", a->legs(), a->speak().c_str());
  try {
    make_animal(7);
  } catch (const PluginError& e) {
    std::printf("%s %d\n", e.what(), e.code());
  }
  return plugin_counter % 100;
}
