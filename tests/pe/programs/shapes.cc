// C++ without exceptions and without its library: virtual functions with several bases, templates, pointers to members,
// constructors and destructors of static objects, operator new of its own.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* operator new(unsigned long size) { return malloc(size); }
void operator delete(void* p) noexcept { free(p); }
void operator delete(void* p, unsigned long) noexcept { free(p); }
extern "C" [[noreturn]] void __cxa_pure_virtual() { abort(); }

namespace {

int alive;

struct Named {
  explicit Named(const char* n) : name(n) { ++alive; }
  virtual ~Named() { --alive; }
  virtual const char* kind() const { return "named"; }
  const char* name;
};

struct Measured {
  virtual ~Measured() {}
  virtual double area() const = 0;
  virtual Measured* twice() const = 0;
};

struct Circle : Named, Measured {
  Circle(const char* n, double r) : Named(n), radius(r) {}
  const char* kind() const override { return "circle"; }
  double area() const override { return 3 * radius * radius; }
  Circle* twice() const override { return new Circle("twice", 2 * radius); }
  double radius;
};

struct Box : Named, Measured {
  Box(const char* n, double w, double h) : Named(n), width(w), height(h) {}
  ~Box() override { printf("%s goes\n", name); }
  double area() const override { return width * height; }
  Box* twice() const override { return new Box("twice", 2 * width, height); }
  double width, height;
};

template <typename T, int kMost>
class List {
 public:
  void add(T value) {
    if (size_ < kMost) values_[size_++] = value;
  }
  template <typename F>
  void each(F f) const {
    for (int i = 0; i < size_; ++i) f(values_[i]);
  }

 private:
  T values_[kMost] = {};
  int size_ = 0;
};

Box first("static box", 2, 3);
Circle second("static circle", 1.5);

long counted(int n) {
  static List<long, 8> seen;
  seen.add(n * 3L + 1);
  long sum = 0;
  seen.each([&](long value) { sum += value; });
  return sum;
}

}  // namespace

int main(int argc, char**) {
  printf("alive %d\n", alive);
  List<Measured*, 16> shapes;
  List<Named*, 16> names;
  shapes.add(&first), shapes.add(&second);
  names.add(&first), names.add(&second);
  for (int i = 0; i < 4 + argc; ++i) {
    if (i % 2) {
      auto* box = new Box("box", i, i + 0.5);
      shapes.add(box), names.add(box);
    } else {
      auto* circle = new Circle("circle", i);
      shapes.add(circle), names.add(circle);
    }
  }
  double sum = 0;
  shapes.each([&](Measured* each) {
    Measured* larger = each->twice();
    sum += each->area() + larger->area() / 4;
    delete larger;
  });
  const char* (Named::*kind)() const = &Named::kind;
  names.each([&](Named* each) { printf("%s %s\n", (each->*kind)(), each->name); });
  printf("sum %.3f counted %ld %ld alive %d\n", sum, counted(argc), counted(2), alive);
  return (int)sum % 50;
}
