// C++: exceptions through many frames, destructors on the way, in threads and past signals' handlers, RTTI.
#include <pthread.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static int live, destroyed;
struct Guard {
  Guard() { ++live; }
  ~Guard() { --live; ++destroyed; }
};
struct Base {
  virtual ~Base() {}
  virtual int value() const { return 1; }
};
struct Left : virtual Base { int value() const override { return 2; } };
struct Right : virtual Base { int extra = 7; };
struct Both : Left, Right { int value() const override { return 3 + extra; } };
struct Problem : std::runtime_error {
  int code;
  explicit Problem(int c) : std::runtime_error("problem"), code(c) {}
};

__attribute__((noinline)) static int descend(int n, int what, double f) {
  Guard guard;
  if (n == 0) {
    switch (what) {
      case 0: throw Problem(17);
      case 1: throw 42;
      case 2: throw std::string("text");
      case 3: throw Both();
      default: return 5;
    }
  }
  const double g = f * 1.25 + n;
  const int below = descend(n - 1, what, g);
  return below + (g > 3);
}

__attribute__((noinline)) static int middle(int n, int what) {
  Guard guard;
  try {
    return descend(n, what, 0.5);
  } catch (const std::logic_error &) {
    return -1;
  } catch (int) {
    Guard inner;
    throw;
  }
}

static int attempt(int n, int what) {
  try {
    return middle(n, what);
  } catch (const Problem &p) {
    return p.code * 1000 + static_cast<int>(std::string(p.what()).size());
  } catch (int i) {
    return i;
  } catch (const std::string &s) {
    return static_cast<int>(s.size());
  } catch (const Right &r) {
    return r.value() + dynamic_cast<const Left &>(r).value();
  }
}

static void *thread(void *argument) {
  long sum = 0;
  for (int i = 0; i < 200; ++i) sum += attempt(i % 30, (i + *static_cast<int *>(argument)) % 5);
  return reinterpret_cast<void *>(sum);
}

int main() {
  for (int what = 0; what < 5; ++what) std::printf("%d %d\n", attempt(3, what), attempt(100, what));
  std::printf("live %d destroyed %d\n", live, destroyed);
  int seeds[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    seeds[i] = i;
    pthread_create(&threads[i], nullptr, thread, &seeds[i]);
  }
  for (int i = 0; i < 4; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    std::printf("thread %ld\n", reinterpret_cast<long>(result));
  }
  std::map<std::string, std::function<int(int)>> table = {{"twice", [](int x) { return 2 * x; }},
                                                          {"throw", [](int x) -> int { throw x; }}};
  for (auto &[name, function] : table) {
    try {
      std::printf("%s %d\n", name.c_str(), function(21));
    } catch (int x) {
      std::printf("%s threw %d\n", name.c_str(), x);
    }
  }
  try {
    std::vector<int>(3).at(5);
  } catch (const std::exception &e) {
    std::printf("exception\n");
  }
  try {
    try {
      throw Problem(1);
    } catch (...) {
      std::throw_with_nested(Problem(2));
    }
  } catch (const Problem &outer) {
    try {
      std::rethrow_if_nested(outer);
    } catch (const Problem &inner) {
      std::printf("nested %d %d\n", outer.code, inner.code);
    }
  }
  return 3;
}
