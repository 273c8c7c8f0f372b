// Exceptions through procedures in several sections, each with an exception table of its own.
#include <cstdio>
__attribute__((noinline)) int thrower(int n) {
  if (n % 3 == 0) throw n;
  if (n % 3 == 1) throw "text";
  return n;
}
struct Guard {
  ~Guard() { std::puts("left"); }
};
__attribute__((noinline)) int catcher(int n) {
  Guard guard;
  try {
    return thrower(n);
  } catch (int x) {
    return x + 100;
  }
}
int main() {
  for (int i = 0; i < 7; ++i) {
    try {
      std::printf("%d\n", catcher(i));
    } catch (const char* text) {
      std::printf("%s\n", text);
    }
  }
}
