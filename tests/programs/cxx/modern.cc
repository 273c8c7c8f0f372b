// C++20: coroutines (frames resumed through pointers to .actor and .destroy clones), variants,
// ranges, regular expressions, template-heavy recursion, structured parsing with exceptions.
#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace {

template <typename T>
class Generator {
 public:
  struct promise_type {
    T value{};
    std::exception_ptr error;
    Generator get_return_object() {
      return Generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  explicit Generator(std::coroutine_handle<promise_type> h) : handle_(h) {}
  Generator(Generator&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  ~Generator() {
    if (handle_) handle_.destroy();
  }
  std::optional<T> next() {
    handle_.resume();
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    if (handle_.done()) return std::nullopt;
    return handle_.promise().value;
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Generator<long> fibonacci(long limit) {
  long a = 0, b = 1;
  while (true) {
    if (a > limit) throw std::overflow_error("too large");
    co_yield a;
    long c = a + b;
    a = b, b = c;
  }
}

Generator<int> evens(Generator<long> from) {
  while (auto v = from.next())
    if (*v % 2 == 0) co_yield static_cast<int>(*v);
}

// An arithmetic parser that builds a tree of variants.
struct Node;
using Tree = std::unique_ptr<Node>;
struct Binary {
  char op;
  Tree left, right;
};
struct Call {
  std::string name;
  std::vector<Tree> arguments;
};
struct Node {
  std::variant<double, std::string, Binary, Call> content;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  Tree parse() {
    Tree t = sum();
    if (!text_.empty())
      throw std::runtime_error("unexpected '" + std::string(text_.substr(0, 3)) + "'");
    return t;
  }

 private:
  char peek() {
    while (!text_.empty() && text_[0] == ' ') text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_[0];
  }
  char take() {
    char c = peek();
    text_.remove_prefix(1);
    return c;
  }
  Tree sum() {
    Tree left = product();
    while (peek() == '+' || peek() == '-') {
      char op = take();
      left = std::make_unique<Node>(Node{Binary{op, std::move(left), product()}});
    }
    return left;
  }
  Tree product() {
    Tree left = atom();
    while (peek() == '*' || peek() == '/') {
      char op = take();
      left = std::make_unique<Node>(Node{Binary{op, std::move(left), atom()}});
    }
    return left;
  }
  Tree atom() {
    char c = peek();
    if (c == '(') {
      take();
      Tree t = sum();
      if (peek() != ')') throw std::runtime_error("missing )");
      take();
      return t;
    }
    std::string word;
    while (!text_.empty() &&
           (std::isalnum(static_cast<unsigned char>(text_[0])) || text_[0] == '.')) {
      word += text_[0];
      text_.remove_prefix(1);
    }
    if (word.empty()) throw std::runtime_error("expected a value");
    if (std::isdigit(static_cast<unsigned char>(word[0])))
      return std::make_unique<Node>(Node{std::stod(word)});
    if (peek() != '(') return std::make_unique<Node>(Node{word});
    Call call{word, {}};
    take();
    while (peek() != ')') {
      call.arguments.push_back(sum());
      if (peek() == ',') take();
    }
    take();
    return std::make_unique<Node>(Node{std::move(call)});
  }
  std::string_view text_;
};

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

double evaluate(const Node& node, const std::map<std::string, double>& names) {
  return std::visit(
      Overloaded{[](double d) { return d; }, [&](const std::string& n) { return names.at(n); },
                 [&](const Binary& b) {
                   double l = evaluate(*b.left, names), r = evaluate(*b.right, names);
                   switch (b.op) {
                     case '+':
                       return l + r;
                     case '-':
                       return l - r;
                     case '*':
                       return l * r;
                     default:
                       if (r == 0) throw std::domain_error("division by zero");
                       return l / r;
                   }
                 },
                 [&](const Call& c) {
                   double r = 0;
                   for (const Tree& a : c.arguments)
                     r = c.name == "max" ? std::max(r, evaluate(*a, names))
                                         : r + evaluate(*a, names);
                   if (c.name != "max" && c.name != "sum")
                     throw std::runtime_error("no function " + c.name);
                   return r;
                 }},
      node.content);
}

template <int N>
int ladder(int x) {
  if constexpr (N == 0)
    return x;
  else
    return x % 2 ? ladder<N - 1>(x * 3 + 1) : ladder<N - 1>(x / 2 + N);
}

}  // namespace

int main() {
  auto numbers = evens(fibonacci(100000));
  try {
    while (auto v = numbers.next()) std::printf("%d ", *v);
  } catch (const std::overflow_error& e) {
    std::printf("(%s)\n", e.what());
  }
  const std::map<std::string, double> names{{"x", 3}, {"y", 4}};
  for (std::string_view text : {"1 + 2 * 3", "(x + y) * (x - y)", "max(x, y, 2) / sum(1, 1)",
                                "1 / 0", "2 *", "z + 1", "f(1)", "1 2"}) {
    try {
      std::printf("%.3f\n", evaluate(*Parser(text).parse(), names));
    } catch (const std::out_of_range&) {
      std::puts("unknown name");
    } catch (const std::exception& e) {
      std::printf("error: %s\n", e.what());
    }
  }
  std::regex pattern(R"((\w+)@(\w+)\.(com|org))");
  std::string mail = "write to ann@example.org or bob@example.com, not to nobody@nowhere";
  for (std::sregex_iterator i(mail.begin(), mail.end(), pattern), end; i != end; ++i)
    std::printf("%s at %s\n", (*i)[1].str().c_str(), (*i)[2].str().c_str());
  try {
    std::regex bad("(unclosed");
  } catch (const std::regex_error&) {
    std::puts("bad pattern");
  }
  int total = 0;
  for (int v : std::views::iota(1, 500) | std::views::filter([](int x) { return x % 3 == 1; }) |
                   std::views::transform([](int x) { return x * x % 97; }))
    total += v;
  std::printf("ranges %d ladder %d\n", total, ladder<40>(27));
  return 0;
}
