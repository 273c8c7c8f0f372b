// Exceptions: landing pads, call sites, types, a cleanup, a specification, code split off as cold.

struct Guard {
  ~Guard();
};
extern int events;
int events;
Guard::~Guard() {
  ++events;
}

__attribute__((noinline)) int risky(int n) {
  if (n > 2) throw n;
  if (n == 2) throw "two";
  return n;
}

__attribute__((noinline)) int careful(int n) noexcept {
  Guard guard;
  try {
    return risky(n);
  } catch (int value) {
    return value + 10;
  } catch (const char*) {
    return 20;
  }
}

__attribute__((noinline)) int passes_on(int n) {
  Guard guard;
  try {
    return risky(n) + careful(n);
  } catch (...) {
    ++events;
    throw;
  }
}

int main() {
  int sum = 0;
  for (int i = 0; i < 4; ++i) try {
      sum += passes_on(i);
    } catch (int value) {
      sum += value;
    } catch (const char*) {
      sum += 100;
    }
  return sum + events;
}
