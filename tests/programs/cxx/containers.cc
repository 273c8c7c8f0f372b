// Virtual calls, the containers and algorithms of the standard library, iostreams, smart pointers,
// function objects and run-time type information.
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace {

class Shape {
 public:
  virtual ~Shape() = default;
  virtual double area() const = 0;
  virtual std::string name() const { return "shape"; }
  virtual Shape* clone() const = 0;
};
class Circle : public Shape {
 public:
  explicit Circle(double r) : r_(r) {}
  double area() const override { return 3 * r_ * r_; }
  std::string name() const override { return "circle"; }
  Circle* clone() const override { return new Circle(*this); }

 private:
  double r_;
};
class Rectangle : public Shape {
 public:
  Rectangle(double w, double h) : w_(w), h_(h) {}
  double area() const override { return w_ * h_; }
  std::string name() const override { return "rectangle"; }
  Rectangle* clone() const override { return new Rectangle(*this); }

 protected:
  double w_, h_;
};
class Named {
 public:
  virtual ~Named() = default;
  virtual std::string label() const { return "label"; }
};
class Square final : public Rectangle, public Named {
 public:
  explicit Square(double s) : Rectangle(s, s) {}
  std::string name() const override { return "square"; }
  std::string label() const override {
    return "square of side " + std::to_string(static_cast<int>(w_));
  }
  Square* clone() const override { return new Square(*this); }
};

void shapes() {
  std::vector<std::unique_ptr<Shape>> all;
  for (int i = 1; i <= 30; ++i) {
    if (i % 3 == 0)
      all.push_back(std::make_unique<Circle>(i));
    else if (i % 3 == 1)
      all.push_back(std::make_unique<Rectangle>(i, i + 1));
    else
      all.push_back(std::make_unique<Square>(i));
  }
  for (std::size_t i = 0, n = all.size(); i < n; ++i) all.emplace_back(all[i]->clone());
  double total = 0;
  std::map<std::string, int> kinds;
  for (int round = 0; round < 500; ++round)
    for (const auto& s : all) total += s->area();
  for (const auto& s : all) {
    ++kinds[s->name()];
    if (const auto* named = dynamic_cast<const Named*>(s.get()); named && s->area() < 70)
      std::cout << named->label() << '\n';
  }
  std::cout << std::fixed << std::setprecision(2) << total << '\n';
  for (const auto& [name, count] : kinds) std::cout << name << '=' << count << ' ';
  double (Shape::*measure)() const = &Shape::area;
  std::cout << (all[4].get()->*measure)() << ' ' << (typeid(*all[1]) == typeid(Square)) << '\n';
}

void containers() {
  std::mt19937 random(7);
  std::vector<int> v(20000);
  std::generate(v.begin(), v.end(), [&] { return static_cast<int>(random() % 5000); });
  std::map<int, int> counts;
  std::unordered_map<int, std::string> texts;
  std::set<std::pair<int, int>> pairs;
  for (int x : v) {
    ++counts[x];
    texts[x % 700] += static_cast<char>('a' + x % 26);
    pairs.emplace(x % 50, x % 31);
  }
  std::size_t longest = 0;
  for (const auto& [k, t] : texts)
    longest = std::max(longest, t.size() * 1000 + static_cast<std::size_t>(k));
  std::cout << counts.size() << ' ' << texts.size() << ' ' << pairs.size() << ' ' << longest
            << '\n';
  std::sort(v.begin(), v.end(),
            [](int a, int b) { return a % 100 != b % 100 ? a % 100 < b % 100 : a > b; });
  std::cout << v[0] << ' ' << v[777] << ' ' << v.back() << '\n';
  std::stable_sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
  std::nth_element(v.begin(), v.begin() + 1000, v.end(), std::greater<>());
  std::cout << v.size() << ' ' << v[1000] << ' ' << std::accumulate(v.begin(), v.end(), 0L) << '\n';
  std::deque<int> d(v.begin(), v.begin() + 50);
  std::rotate(d.begin(), d.begin() + 13, d.end());
  std::list<int> l(d.begin(), d.end());
  l.sort();
  l.remove_if([](int x) { return x % 2; });
  std::priority_queue<int, std::vector<int>, std::greater<>> heap(l.begin(), l.end());
  int top = 0;
  for (int i = 0; i < 5 && !heap.empty(); ++i) top = top * 7 + heap.top(), heap.pop();
  std::unordered_set<std::string> words;
  std::istringstream text("the quick brown fox jumps over the lazy dog and the quick cat");
  for (std::string w; text >> w;) words.insert(w);
  std::cout << d.front() << ' ' << l.size() << ' ' << top << ' ' << words.size() << '\n';
}

void functions() {
  std::vector<std::function<long(long)>> steps;
  for (long i = 0; i < 8; ++i) {
    switch (i % 4) {
      case 0:
        steps.emplace_back([i](long x) { return x * 3 + i; });
        break;
      case 1:
        steps.emplace_back([](long x) { return x ^ (x >> 5); });
        break;
      case 2:
        steps.emplace_back(std::bind(std::plus<long>(), std::placeholders::_1, i));
        break;
      default:
        steps.emplace_back([big = std::array<long, 8>{1, 2, 3, 4}, i](long x) {
          return x + big[static_cast<std::size_t>(i % 8)];
        });
    }
  }
  long x = 1;
  for (int i = 0; i < 1000; ++i)
    for (const auto& s : steps) x = s(x) % 1000003;
  std::cout << "functions " << x << '\n';
  auto shared = std::make_shared<std::string>("shared");
  std::weak_ptr<std::string> weak = shared;
  auto second = shared;
  shared.reset();
  std::cout << weak.use_count() << ' ' << *second << ' ';
  second.reset();
  std::cout << weak.expired() << '\n';
}

void streams() {
  std::ostringstream out;
  out << std::hex << std::showbase << 255 << ' ' << std::dec << std::setw(8) << std::setfill('*')
      << 42 << ' ' << std::scientific << 12345.678 << ' ' << std::boolalpha << true << ' '
      << std::left << std::setw(6) << "ab" << '|';
  std::cout << out.str() << '\n';
  std::istringstream in("17 2.5 word 0x1f 99999999999999999999");
  int i = 0;
  double d = 0;
  std::string w;
  in >> i >> d >> w;
  std::cout << i << ' ' << d << ' ' << w;
  in >> std::hex >> i;
  std::cout << ' ' << i;
  in >> std::dec >> i;
  std::cout << ' ' << in.fail() << '\n';
  std::string line;
  int lines = 0;
  std::size_t bytes = 0;
  while (std::getline(std::cin, line)) ++lines, bytes += line.size();
  std::cout << lines << " lines " << bytes << " bytes\n";
}

struct Global {
  Global() { std::cout << "global constructed\n"; }
  ~Global() { std::cout << "global destroyed" << std::endl; }
} global;

}  // namespace

int main() {
  shapes();
  containers();
  functions();
  streams();
  static Global local;
  return 9;
}
