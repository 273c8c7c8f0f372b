// C++ exceptions in every shape: across frames, rethrown, nested, with cleanups, by base class, by
// pointer, through noexcept, through C callbacks, from constructors and destructors, in hot loops.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

namespace {

int live_objects = 0;

struct Tracker {
  explicit Tracker(int id) : id_(id) { ++live_objects; }
  Tracker(const Tracker& other) : id_(other.id_) { ++live_objects; }
  ~Tracker() {
    --live_objects;
    trace = trace * 31 + static_cast<unsigned>(id_);
  }
  int id_;
  static unsigned trace;
};
unsigned Tracker::trace = 1;

struct Base {
  virtual ~Base() = default;
  virtual const char* name() const { return "base"; }
};
struct Left : virtual Base {
  const char* name() const override { return "left"; }
};
struct Right : virtual Base {
  int value = 5;
};
struct Both : Left, Right {
  const char* name() const override { return "both"; }
};
struct Large {
  char text[200];
  int tail;
};

[[gnu::noinline]] void thrower(int kind) {
  Tracker t(kind);
  switch (kind) {
    case 0:
      throw 42;
    case 1:
      throw std::runtime_error("runtime");
    case 2:
      throw std::string("a string long enough to live on the heap, surely");
    case 3:
      throw Both();
    case 4:
      throw "text";
    case 5: {
      static int place = 9;
      throw &place;
    }
    case 6:
      throw 2.5;
    case 7:
      throw std::bad_alloc();
    case 8: {
      Large l;
      std::snprintf(l.text, sizeof l.text, "large");
      l.tail = 77;
      throw l;
    }
    case 9:
      (void)std::string("abc").at(10);
      break;
    case 10:
      (void)dynamic_cast<Both&>(static_cast<Base&>(*std::make_unique<Left>()));
      break;
    case 11:
      std::function<void()>()();
      break;
    case 12:
      throw nullptr;
    case 13:
      throw 'c';
    default:
      return;
  }
}

[[gnu::noinline]] void middle(int kind, int depth) {
  Tracker a(100 + depth), b(200 + depth);
  std::vector<Tracker> many(static_cast<std::size_t>(depth % 3 + 1), a);
  if (depth > 0)
    middle(kind, depth - 1);
  else
    thrower(kind);
  std::printf("middle %d finished\n", depth);
}

[[gnu::noinline]] std::string classify(int kind) {
  try {
    middle(kind, kind % 5);
    return "nothing";
  } catch (int i) {
    return "int " + std::to_string(i);
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  } catch (const std::out_of_range&) {
    return "out_of_range";
  } catch (const std::exception& e) {
    return std::string("exception ") +
           (typeid(e) == typeid(std::runtime_error) ? e.what() : "other");
  } catch (const std::string& s) {
    return "string " + std::to_string(s.size());
  } catch (const Left& l) {
    return std::string("left ") + l.name();
  } catch (std::nullptr_t) {
    return "null pointer";
  } catch (const char* text) {
    return std::string("text ") + text;
  } catch (const int* p) {
    return "pointer " + std::to_string(*p);
  } catch (const Large& l) {
    return std::string(l.text) + std::to_string(l.tail);
  } catch (...) {
    return "something else";
  }
}

[[gnu::noinline]] int rethrow_chain(int depth) {
  try {
    if (depth == 0) throw std::logic_error("deep");
    return rethrow_chain(depth - 1);
  } catch (std::logic_error& e) {
    if (depth % 2) throw;
    if (depth >= 6) return depth;
    throw std::logic_error(std::string(e.what()) + "er");
  }
}

void nested(int level) {
  try {
    if (level == 0) throw std::runtime_error("innermost");
    nested(level - 1);
  } catch (...) {
    std::throw_with_nested(std::runtime_error("level " + std::to_string(level)));
  }
}

void print_nested(const std::exception& e, int indent = 0) {
  std::printf("%*s%s\n", indent, "", e.what());
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception& inner) {
    print_nested(inner, indent + 1);
  }
}

struct Member {
  explicit Member(int v) : tracker(v) {
    if (v == 3) throw std::invalid_argument("member 3");
  }
  Tracker tracker;
};
struct Whole {
  Whole() try : a(1), b(2), c(3) {
  } catch (const std::invalid_argument& e) {
    std::printf("constructor failed: %s, live %d\n", e.what(), live_objects);
  }
  Member a, b, c;
};

struct ThrowsInDestructor {
  ~ThrowsInDestructor() noexcept(false) {
    if (!std::uncaught_exceptions()) throw 5;
    std::puts("destructor keeps quiet");
  }
};

int compare_or_throw(const void* a, const void* b) {
  int x = *static_cast<const int*>(a), y = *static_cast<const int*>(b);
  if (x == 13 || y == 13) throw std::domain_error("thirteen");
  return x - y;
}

[[gnu::noinline]] long hot_loop() {
  long sum = 0;
  for (int i = 0; i < 400; ++i) {
    try {
      Tracker t(i);
      if (i % 7 == 0) throw i;
      if (i % 11 == 0) throw static_cast<long>(i);
      sum += i;
    } catch (int v) {
      sum -= v;
    } catch (long v) {
      sum += v * 100;
    }
  }
  return sum;
}

[[gnu::noinline]] void must_not_throw() noexcept {
  thrower(1);
}

[[noreturn]] void on_terminate() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& e) {
    std::printf("terminate: %s\n", e.what());
  }
  std::fflush(stdout);
  std::_Exit(17);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int kind = 0; kind < 15; ++kind) std::printf("%d: %s\n", kind, classify(kind).c_str());
  std::printf("live %d trace %u\n", live_objects, Tracker::trace);
  std::printf("rethrown %d\n", rethrow_chain(8));
  try {
    nested(4);
  } catch (const std::exception& e) {
    print_nested(e);
  }
  try {
    Whole w;
  } catch (const std::invalid_argument& e) {
    std::printf("rethrown by constructor: %s\n", e.what());
  }
  try {
    ThrowsInDestructor t;
  } catch (int i) {
    std::printf("destructor threw %d\n", i);
  }
  try {
    ThrowsInDestructor t;
    throw 6L;
  } catch (long l) {
    std::printf("body threw %ld\n", l);
  }
  int numbers[] = {5, 1, 13, 2};
  try {
    std::qsort(numbers, 4, sizeof *numbers, compare_or_throw);
  } catch (const std::domain_error& e) {
    std::printf("through qsort: %s\n", e.what());
  }
  std::exception_ptr kept;
  try {
    thrower(2);
  } catch (...) {
    kept = std::current_exception();
  }
  for (int i = 0; i < 2; ++i) {
    try {
      std::rethrow_exception(kept);
    } catch (const std::string& s) {
      std::printf("kept %zu\n", s.size());
    }
  }
  kept = nullptr;
  std::printf("hot loop %ld\n", hot_loop());
  try {
    std::vector<int> v;
    v.reserve(static_cast<std::size_t>(-1));
  } catch (const std::length_error&) {
    std::puts("length");
  }
  try {
    (void)std::stoi("zzz");
  } catch (const std::invalid_argument&) {
    std::puts("invalid");
  }
  std::printf("live %d trace %u\n", live_objects, Tracker::trace);
  std::set_terminate(on_terminate);
  must_not_throw();
}
