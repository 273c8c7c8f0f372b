// A workload in C++: an interpreter of a small language, with virtual calls, containers, strings
// and exceptions, as such programs are written.
//
//   script FILE        runs the program in FILE
//
// Statements are `let x = e;`, `x = e;`, `e[i] = e;`, `if e {} else {}`, `while e {}`, `for x in e
// {}`, `fn f(a, b) {}`, `return e;`, `break;`, `throw e;`, `try {} catch x {}` and expressions.
// Values are numbers, strings, lists, maps, functions and nil. What `throw` throws is a C++
// exception, as are errors of the program.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

// ---- Values ----

struct Value;
struct Function;
using List = std::vector<Value>;
using Map = std::map<std::string, Value>;

struct Value {
  std::variant<std::monostate, double, std::string, std::shared_ptr<List>, std::shared_ptr<Map>,
               std::shared_ptr<const Function>>
      v;

  Value() = default;
  Value(double number) : v(number) {}
  Value(std::string text) : v(std::move(text)) {}
  Value(std::shared_ptr<List> list) : v(std::move(list)) {}
  Value(std::shared_ptr<Map> map) : v(std::move(map)) {}
  Value(std::shared_ptr<const Function> function) : v(std::move(function)) {}
};

/// What `throw` throws, and errors of the interpreter.
struct ScriptError : std::runtime_error {
  explicit ScriptError(Value value, const std::string& text)
      : std::runtime_error(text), value(std::move(value)) {}
  explicit ScriptError(const std::string& text) : ScriptError(Value(text), text) {}
  Value value;
};

template <typename T>
T& as(Value& value, const char* what) {
  if (auto* p = std::get_if<T>(&value.v)) return *p;
  throw ScriptError(std::string("this is no ") + what);
}

double number(Value& value) {
  return as<double>(value, "number");
}

bool truth(const Value& value) {
  if (const auto* n = std::get_if<double>(&value.v)) return *n != 0;
  return value.v.index() != 0;
}

std::string text_of(const Value& value) {
  switch (value.v.index()) {
    case 0:
      return "nil";
    case 1: {
      const double n = std::get<double>(value.v);
      char buffer[32];
      std::snprintf(buffer, sizeof buffer, n == std::floor(n) ? "%.0f" : "%.6g", n);
      return buffer;
    }
    case 2:
      return std::get<std::string>(value.v);
    case 3: {
      std::string text = "[";
      for (const Value& item : *std::get<std::shared_ptr<List>>(value.v))
        text += (text.size() > 1 ? ", " : "") + text_of(item);
      return text + "]";
    }
    case 4: {
      std::ostringstream out;
      out << '{';
      for (const auto& [key, item] : *std::get<std::shared_ptr<Map>>(value.v))
        out << (out.tellp() > 1 ? ", " : "") << key << ": " << text_of(item);
      out << '}';
      return out.str();
    }
    default:
      return "function";
  }
}

int compare(const Value& a, const Value& b) {
  if (a.v.index() != b.v.index()) return a.v.index() < b.v.index() ? -1 : 1;
  if (const auto* n = std::get_if<double>(&a.v)) {
    const double m = std::get<double>(b.v);
    return *n < m ? -1 : *n > m ? 1 : 0;
  }
  if (const auto* s = std::get_if<std::string>(&a.v)) return s->compare(std::get<std::string>(b.v));
  if (const auto* l = std::get_if<std::shared_ptr<List>>(&a.v)) {
    const List &x = **l, &y = *std::get<std::shared_ptr<List>>(b.v);
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      if (const int c = compare(x[i], y[i])) return c;
    return x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
  }
  return a.v.index() == 0 ? 0 : -1;
}

// ---- Scopes ----

class Scope : public std::enable_shared_from_this<Scope> {
 public:
  explicit Scope(std::shared_ptr<Scope> outer) : outer_(std::move(outer)) {}

  void define(const std::string& name, Value value) { names_[name] = std::move(value); }

  Value& find(const std::string& name) {
    for (Scope* scope = this; scope; scope = scope->outer_.get())
      if (auto it = scope->names_.find(name); it != scope->names_.end()) return it->second;
    throw ScriptError("unknown name " + name);
  }

 private:
  std::unordered_map<std::string, Value> names_;
  std::shared_ptr<Scope> outer_;
};

using ScopePointer = std::shared_ptr<Scope>;

// ---- The program as a tree ----

struct Expression {
  virtual ~Expression() = default;
  virtual Value evaluate(const ScopePointer& scope) const = 0;
  virtual void assign(const ScopePointer&, Value) const { throw ScriptError("cannot assign"); }
};
using ExpressionPointer = std::unique_ptr<Expression>;

/// How a statement ended.
enum class Flow { Next, Break, Return };

struct Statement {
  virtual ~Statement() = default;
  /// A returned value goes to `result`.
  virtual Flow run(const ScopePointer& scope, Value& result) const = 0;
};
using Block = std::vector<std::unique_ptr<Statement>>;

Flow run_block(const Block& block, const ScopePointer& scope, Value& result) {
  for (const auto& statement : block)
    if (const Flow flow = statement->run(scope, result); flow != Flow::Next) return flow;
  return Flow::Next;
}

struct Function {
  std::vector<std::string> parameters;
  const Block* body = nullptr;
  ScopePointer scope;
  std::function<Value(std::vector<Value>&)> builtin;

  Value call(std::vector<Value>& arguments) const {
    if (builtin) return builtin(arguments);
    if (arguments.size() != parameters.size()) throw ScriptError("wrong number of arguments");
    auto local = std::make_shared<Scope>(scope);
    for (size_t i = 0; i < parameters.size(); ++i) local->define(parameters[i], arguments[i]);
    Value result;
    run_block(*body, local, result);
    return result;
  }
};

struct Constant : Expression {
  Value value;
  Value evaluate(const ScopePointer&) const override { return value; }
};

struct Name : Expression {
  std::string name;
  Value evaluate(const ScopePointer& scope) const override { return scope->find(name); }
  void assign(const ScopePointer& scope, Value value) const override {
    scope->find(name) = std::move(value);
  }
};

struct ListLiteral : Expression {
  std::vector<ExpressionPointer> items;
  Value evaluate(const ScopePointer& scope) const override {
    auto list = std::make_shared<List>();
    for (const auto& item : items) list->push_back(item->evaluate(scope));
    return list;
  }
};

struct MapLiteral : Expression {
  std::vector<std::pair<std::string, ExpressionPointer>> items;
  Value evaluate(const ScopePointer& scope) const override {
    auto map = std::make_shared<Map>();
    for (const auto& [key, item] : items) (*map)[key] = item->evaluate(scope);
    return map;
  }
};

struct Index : Expression {
  ExpressionPointer whole, index;

  static size_t position(Value& index, size_t size) {
    const double n = number(index);
    if (n < 0 || n >= static_cast<double>(size)) throw ScriptError("index out of range");
    return static_cast<size_t>(n);
  }

  Value evaluate(const ScopePointer& scope) const override {
    Value w = whole->evaluate(scope), i = index->evaluate(scope);
    if (auto* list = std::get_if<std::shared_ptr<List>>(&w.v))
      return (**list)[position(i, (*list)->size())];
    if (auto* text = std::get_if<std::string>(&w.v))
      return std::string(1, (*text)[position(i, text->size())]);
    Map& map = *as<std::shared_ptr<Map>>(w, "list or map");
    const auto it = map.find(text_of(i));
    return it == map.end() ? Value() : it->second;
  }

  void assign(const ScopePointer& scope, Value value) const override {
    Value w = whole->evaluate(scope), i = index->evaluate(scope);
    if (auto* list = std::get_if<std::shared_ptr<List>>(&w.v))
      (**list)[position(i, (*list)->size())] = std::move(value);
    else
      (*as<std::shared_ptr<Map>>(w, "list or map"))[text_of(i)] = std::move(value);
  }
};

struct Call : Expression {
  ExpressionPointer callee;
  std::vector<ExpressionPointer> arguments;
  Value evaluate(const ScopePointer& scope) const override {
    Value f = callee->evaluate(scope);
    const auto function = as<std::shared_ptr<const Function>>(f, "function");
    std::vector<Value> values;
    values.reserve(arguments.size());
    for (const auto& argument : arguments) values.push_back(argument->evaluate(scope));
    return function->call(values);
  }
};

struct Binary : Expression {
  ExpressionPointer left, right;
};

struct Add : Binary {
  Value evaluate(const ScopePointer& scope) const override {
    Value a = left->evaluate(scope), b = right->evaluate(scope);
    if (const auto* x = std::get_if<double>(&a.v))
      if (const auto* y = std::get_if<double>(&b.v)) return *x + *y;
    return text_of(a) + text_of(b);
  }
};

template <typename Operation>
struct Arithmetic : Binary {
  Value evaluate(const ScopePointer& scope) const override {
    Value a = left->evaluate(scope), b = right->evaluate(scope);
    return Operation()(number(a), number(b));
  }
};
struct Divide {
  double operator()(double a, double b) const {
    if (b == 0) throw ScriptError("division by zero");
    return a / b;
  }
};
struct Remainder {
  double operator()(double a, double b) const {
    if (b == 0) throw ScriptError("division by zero");
    return a - b * std::floor(a / b);
  }
};

template <typename Operation>
struct Comparison : Binary {
  Value evaluate(const ScopePointer& scope) const override {
    const Value a = left->evaluate(scope), b = right->evaluate(scope);
    return Operation()(compare(a, b), 0) ? 1.0 : 0.0;
  }
};

struct And : Binary {
  Value evaluate(const ScopePointer& scope) const override {
    Value a = left->evaluate(scope);
    return truth(a) ? right->evaluate(scope) : a;
  }
};
struct Or : Binary {
  Value evaluate(const ScopePointer& scope) const override {
    Value a = left->evaluate(scope);
    return truth(a) ? a : right->evaluate(scope);
  }
};

struct ExpressionStatement : Statement {
  ExpressionPointer expression;
  Flow run(const ScopePointer& scope, Value&) const override {
    expression->evaluate(scope);
    return Flow::Next;
  }
};
struct Let : Statement {
  std::string name;
  ExpressionPointer value;
  Flow run(const ScopePointer& scope, Value&) const override {
    scope->define(name, value->evaluate(scope));
    return Flow::Next;
  }
};
struct Assign : Statement {
  ExpressionPointer target, value;
  Flow run(const ScopePointer& scope, Value&) const override {
    target->assign(scope, value->evaluate(scope));
    return Flow::Next;
  }
};
struct If : Statement {
  ExpressionPointer condition;
  Block then, otherwise;
  Flow run(const ScopePointer& scope, Value& result) const override {
    return run_block(truth(condition->evaluate(scope)) ? then : otherwise, scope, result);
  }
};
struct While : Statement {
  ExpressionPointer condition;
  Block body;
  Flow run(const ScopePointer& scope, Value& result) const override {
    while (truth(condition->evaluate(scope))) {
      const Flow flow = run_block(body, scope, result);
      if (flow == Flow::Break) break;
      if (flow == Flow::Return) return flow;
    }
    return Flow::Next;
  }
};
struct For : Statement {
  std::string name;
  ExpressionPointer sequence;
  Block body;
  Flow run(const ScopePointer& scope, Value& result) const override {
    Value s = sequence->evaluate(scope);
    const auto local = std::make_shared<Scope>(scope);
    Flow flow = Flow::Next;
    const auto step = [&](Value value) {
      local->define(name, std::move(value));
      flow = run_block(body, local, result);
      return flow == Flow::Next;
    };
    if (auto* list = std::get_if<std::shared_ptr<List>>(&s.v)) {
      for (size_t i = 0; i < (*list)->size() && step((**list)[i]); ++i) continue;
    } else if (auto* map = std::get_if<std::shared_ptr<Map>>(&s.v)) {
      for (const auto& entry : Map(**map))
        if (!step(entry.first)) break;
    } else {
      for (double i = 0, n = number(s); i < n && step(i); ++i) continue;
    }
    return flow == Flow::Return ? flow : Flow::Next;
  }
};
struct Define : Statement {
  std::string name;
  std::vector<std::string> parameters;
  Block body;
  Flow run(const ScopePointer& scope, Value&) const override {
    auto function = std::make_shared<Function>();
    function->parameters = parameters;
    function->body = &body;
    function->scope = scope;
    scope->define(name, std::shared_ptr<const Function>(std::move(function)));
    return Flow::Next;
  }
};
struct Return : Statement {
  ExpressionPointer value;
  Flow run(const ScopePointer& scope, Value& result) const override {
    result = value->evaluate(scope);
    return Flow::Return;
  }
};
struct Break : Statement {
  Flow run(const ScopePointer&, Value&) const override { return Flow::Break; }
};
struct Throw : Statement {
  ExpressionPointer value;
  Flow run(const ScopePointer& scope, Value&) const override {
    Value v = value->evaluate(scope);
    const std::string text = text_of(v);
    throw ScriptError(std::move(v), text);
  }
};
struct Try : Statement {
  Block body, handler;
  std::string name;
  Flow run(const ScopePointer& scope, Value& result) const override {
    try {
      return run_block(body, scope, result);
    } catch (const ScriptError& error) {
      const auto local = std::make_shared<Scope>(scope);
      local->define(name, error.value);
      return run_block(handler, local, result);
    }
  }
};

// ---- Reading ----

class Parser {
 public:
  explicit Parser(const std::string& text) { split(text); }

  Block program() {
    Block block;
    while (!peek().empty()) block.push_back(statement());
    return block;
  }

 private:
  void split(const std::string& text) {
    for (size_t i = 0; i < text.size();) {
      const size_t start = i;
      const unsigned char c = text[i];
      if (std::isspace(c)) {
        ++i;
        continue;
      }
      if (c == '#') {
        while (i < text.size() && text[i] != '\n') ++i;
        continue;
      }
      if (std::isalpha(c) || c == '_')
        while (i < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_'))
          ++i;
      else if (std::isdigit(c))
        while (i < text.size() &&
               (std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == '.'))
          ++i;
      else if (c == '"')
        i = text.find('"', i + 1) + 1;
      else
        i += text.compare(i, 2, "==") == 0 || text.compare(i, 2, "!=") == 0 ||
                     text.compare(i, 2, "<=") == 0 || text.compare(i, 2, ">=") == 0
                 ? 2
                 : 1;
      tokens_.push_back(text.substr(start, i - start));
    }
    tokens_.emplace_back();
  }

  const std::string& peek() const { return tokens_[at_]; }
  std::string next() { return tokens_[at_++]; }
  bool accept(std::string_view token) {
    if (peek() != token) return false;
    ++at_;
    return true;
  }
  void require(std::string_view token) {
    if (!accept(token)) throw ScriptError("expected " + std::string(token) + " before " + peek());
  }

  Block block() {
    Block block;
    require("{");
    while (!accept("}")) block.push_back(statement());
    return block;
  }

  template <typename Node, typename Fill>
  static std::unique_ptr<Node> make(Fill fill) {
    auto node = std::make_unique<Node>();
    fill(*node);
    return node;
  }

  std::unique_ptr<Statement> statement() {
    if (accept("let"))
      return make<Let>([&](Let& s) {
        s.name = next();
        require("=");
        s.value = expression();
        require(";");
      });
    if (accept("if"))
      return make<If>([&](If& s) {
        s.condition = expression();
        s.then = block();
        if (accept("else")) {
          if (peek() == "if")
            s.otherwise.push_back(statement());
          else
            s.otherwise = block();
        }
      });
    if (accept("while"))
      return make<While>([&](While& s) {
        s.condition = expression();
        s.body = block();
      });
    if (accept("for"))
      return make<For>([&](For& s) {
        s.name = next();
        require("in");
        s.sequence = expression();
        s.body = block();
      });
    if (accept("fn"))
      return make<Define>([&](Define& s) {
        s.name = next();
        require("(");
        while (!accept(")")) {
          s.parameters.push_back(next());
          accept(",");
        }
        s.body = block();
      });
    if (accept("try"))
      return make<Try>([&](Try& s) {
        s.body = block();
        require("catch");
        s.name = next();
        s.handler = block();
      });
    if (accept("return"))
      return make<Return>([&](Return& s) {
        s.value = expression();
        require(";");
      });
    if (accept("throw"))
      return make<Throw>([&](Throw& s) {
        s.value = expression();
        require(";");
      });
    if (accept("break")) {
      require(";");
      return std::make_unique<Break>();
    }
    ExpressionPointer first = expression();
    if (accept("="))
      return make<Assign>([&](Assign& s) {
        s.target = std::move(first);
        s.value = expression();
        require(";");
      });
    require(";");
    return make<ExpressionStatement>(
        [&](ExpressionStatement& s) { s.expression = std::move(first); });
  }

  using Maker = std::unique_ptr<Binary> (*)();
  template <typename Node>
  static std::unique_ptr<Binary> maker() {
    return std::make_unique<Node>();
  }

  ExpressionPointer expression(size_t level = 0) {
    static const std::vector<std::unordered_map<std::string, Maker>> levels = {
        {{"or", maker<Or>}},
        {{"and", maker<And>}},
        {{"==", maker<Comparison<std::equal_to<int>>>},
         {"!=", maker<Comparison<std::not_equal_to<int>>>},
         {"<", maker<Comparison<std::less<int>>>},
         {"<=", maker<Comparison<std::less_equal<int>>>},
         {">", maker<Comparison<std::greater<int>>>},
         {">=", maker<Comparison<std::greater_equal<int>>>}},
        {{"+", maker<Add>}, {"-", maker<Arithmetic<std::minus<double>>>}},
        {{"*", maker<Arithmetic<std::multiplies<double>>>},
         {"/", maker<Arithmetic<Divide>>},
         {"%", maker<Arithmetic<Remainder>>}}};
    if (level == levels.size()) return postfix();
    ExpressionPointer left = expression(level + 1);
    for (;;) {
      const auto it = levels[level].find(peek());
      if (it == levels[level].end()) return left;
      next();
      auto node = it->second();
      node->left = std::move(left);
      node->right = expression(level + 1);
      left = std::move(node);
    }
  }

  ExpressionPointer postfix() {
    ExpressionPointer e = primary();
    for (;;) {
      if (accept("(")) {
        e = make<Call>([&](Call& call) {
          call.callee = std::move(e);
          while (!accept(")")) {
            call.arguments.push_back(expression());
            accept(",");
          }
        });
      } else if (accept("[")) {
        e = make<Index>([&](Index& index) {
          index.whole = std::move(e);
          index.index = expression();
          require("]");
        });
      } else if (accept(".")) {
        e = make<Index>([&](Index& index) {
          index.whole = std::move(e);
          index.index = make<Constant>([&](Constant& c) { c.value = Value(next()); });
        });
      } else {
        return e;
      }
    }
  }

  ExpressionPointer primary() {
    const std::string token = next();
    if (token.empty()) throw ScriptError("the program ends too early");
    if (token == "(") {
      ExpressionPointer e = expression();
      require(")");
      return e;
    }
    if (token == "[")
      return make<ListLiteral>([&](ListLiteral& list) {
        while (!accept("]")) {
          list.items.push_back(expression());
          accept(",");
        }
      });
    if (token == "{")
      return make<MapLiteral>([&](MapLiteral& map) {
        while (!accept("}")) {
          std::string key = next();
          require(":");
          map.items.emplace_back(std::move(key), expression());
          accept(",");
        }
      });
    if (token[0] == '"')
      return make<Constant>(
          [&](Constant& c) { c.value = Value(token.substr(1, token.size() - 2)); });
    if (std::isdigit(static_cast<unsigned char>(token[0])))
      return make<Constant>([&](Constant& c) { c.value = Value(std::stod(token)); });
    if (token == "nil") return std::make_unique<Constant>();
    return make<Name>([&](Name& name) { name.name = token; });
  }

  std::vector<std::string> tokens_;
  size_t at_ = 0;
};

// ---- Functions of the language ----

void add_builtins(Scope& scope) {
  const auto add = [&](const char* name, size_t count,
                       std::function<Value(std::vector<Value>&)> body) {
    auto function = std::make_shared<Function>();
    function->builtin = [count, body = std::move(body), name](std::vector<Value>& a) {
      if (a.size() != count)
        throw ScriptError(std::string("wrong number of arguments for ") + name);
      return body(a);
    };
    scope.define(name, std::shared_ptr<const Function>(std::move(function)));
  };
  add("print", 1, [](auto& a) {
    std::cout << text_of(a[0]) << '\n';
    return Value();
  });
  add("text", 1, [](auto& a) { return Value(text_of(a[0])); });
  add("number", 1, [](auto& a) {
    try {
      return Value(std::stod(as<std::string>(a[0], "string")));
    } catch (const std::invalid_argument&) {
      throw ScriptError("not a number");
    }
  });
  add("floor", 1, [](auto& a) { return Value(std::floor(number(a[0]))); });
  add("sqrt", 1, [](auto& a) { return Value(std::sqrt(number(a[0]))); });
  add("size", 1, [](auto& a) {
    if (auto* list = std::get_if<std::shared_ptr<List>>(&a[0].v))
      return Value(double((*list)->size()));
    if (auto* map = std::get_if<std::shared_ptr<Map>>(&a[0].v))
      return Value(double((*map)->size()));
    return Value(double(as<std::string>(a[0], "string").size()));
  });
  add("push", 2, [](auto& a) {
    as<std::shared_ptr<List>>(a[0], "list")->push_back(a[1]);
    return a[0];
  });
  add("pop", 1, [](auto& a) {
    List& list = *as<std::shared_ptr<List>>(a[0], "list");
    if (list.empty()) throw ScriptError("empty list");
    Value last = std::move(list.back());
    list.pop_back();
    return last;
  });
  add("sort", 1, [](auto& a) {
    List& list = *as<std::shared_ptr<List>>(a[0], "list");
    std::sort(list.begin(), list.end(),
              [](const Value& x, const Value& y) { return compare(x, y) < 0; });
    return a[0];
  });
  add("sort_by", 2, [](auto& a) {
    List& list = *as<std::shared_ptr<List>>(a[0], "list");
    const auto before = as<std::shared_ptr<const Function>>(a[1], "function");
    std::stable_sort(list.begin(), list.end(), [&](const Value& x, const Value& y) {
      std::vector<Value> pair{x, y};
      return truth(before->call(pair));
    });
    return a[0];
  });
  add("has", 2, [](auto& a) {
    return Value(as<std::shared_ptr<Map>>(a[0], "map")->count(text_of(a[1])) ? 1.0 : 0.0);
  });
  add("remove", 2, [](auto& a) {
    return Value(double(as<std::shared_ptr<Map>>(a[0], "map")->erase(text_of(a[1]))));
  });
  add("join", 2, [](auto& a) {
    std::string text;
    for (const Value& item : *as<std::shared_ptr<List>>(a[0], "list"))
      text += (text.empty() ? "" : as<std::string>(a[1], "string")) + text_of(item);
    return Value(text);
  });
  add("split", 2, [](auto& a) {
    const std::string &text = as<std::string>(a[0], "string"),
                      &by = as<std::string>(a[1], "string");
    auto list = std::make_shared<List>();
    for (size_t from = 0; from <= text.size();) {
      const size_t to = std::min(text.find(by, from), text.size());
      list->emplace_back(text.substr(from, to - from));
      from = to + by.size();
    }
    return Value(list);
  });
  add("part", 3, [](auto& a) {
    const std::string& text = as<std::string>(a[0], "string");
    const auto from = static_cast<size_t>(number(a[1]));
    if (from > text.size()) throw ScriptError("index out of range");
    return Value(text.substr(from, static_cast<size_t>(number(a[2]))));
  });
}

int run(const char* path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read ") + path);
  std::ostringstream text;
  text << file.rdbuf();
  const Block program = Parser(text.str()).program();
  const auto globals = std::make_shared<Scope>(nullptr);
  add_builtins(*globals);
  Value result;
  run_block(program, globals, result);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: script FILE\n";
    return 2;
  }
  try {
    return run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "script: " << error.what() << '\n';
    return 1;
  }
}
