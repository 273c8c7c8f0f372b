// The interface between shared/plugin.cc (a shared library) and its two users: shared/linked.cc is
// linked with it, shared/loaded.cc opens it with dlopen.
#pragma once
#include <stdexcept>
#include <string>

extern "C" {
typedef int Callback(int value, void* context);
extern int plugin_counter;
extern Callback* const plugin_callbacks[3];
int plugin_sum(const int* values, int count);
int plugin_for_each(int count, Callback* callback, void* context);
int plugin_classify(int value);
int plugin_throw(int kind);
const char* plugin_name(void);
}

class PluginError : public std::runtime_error {
 public:
  explicit PluginError(const std::string& text, int code) : std::runtime_error(text), code_(code) {}
  ~PluginError() override;
  int code() const { return code_; }

 private:
  int code_;
};

class Animal {
 public:
  virtual ~Animal();
  virtual int legs() const = 0;
  virtual std::string speak() const { return "..."; }
};
Animal* make_animal(int kind);
