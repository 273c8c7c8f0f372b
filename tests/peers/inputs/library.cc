// Uses of libstdc++ whose code is in the library, not in its headers: exceptions through many
// frames and between threads, streams, locales, regular expressions, numbers as text, files.
// Everything printed is the same in every run.

#include <charconv>
#include <codecvt>
#include <complex>
#include <condition_variable>
#include <filesystem>
#include <future>
#include <iomanip>
#include <iostream>
#include <locale>
#include <memory_resource>
#include <mutex>
#include <random>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// Calls `f`, which throws, and prints the exception.
template <typename F>
void show_thrown(const char* what, F f) {
  try {
    f();
    std::cout << what << ": nothing thrown\n";
  } catch (const std::exception& e) {
    std::cout << what << ": " << e.what() << '\n';
  }
}

size_t throw_at(int depth) {
  if (depth == 0) throw std::runtime_error("at the bottom");
  const std::string local(depth, 'x');
  return throw_at(depth - 1) + local.size();
}

struct Base {
  virtual ~Base() = default;
};
struct Left : virtual Base {};
struct Right : virtual Base {};
struct Both : Left, Right {};

void use_exceptions() {
  for (int depth = 0; depth < 200; ++depth) {
    try {
      throw_at(depth % 50);
    } catch (const std::exception& e) {
      if (depth % 50 == 0) std::cout << e.what() << '\n';
    }
  }
  show_thrown("at", [] { std::vector<int>().at(3); });
  show_thrown("stoi", [] { std::stoi("zz"); });
  show_thrown("stod", [] { std::stod("1e999"); });
  show_thrown("substr", [] { std::string("abc").substr(4); });
  show_thrown("bad cast", [] {
    Both both;
    Base& base = dynamic_cast<Left&>(static_cast<Right&>(both));
    Base other;
    (void)dynamic_cast<Both&>(base);
    (void)dynamic_cast<Both&>(other);
  });
  try {
    try {
      throw 1;
    } catch (...) {
      std::throw_with_nested(std::logic_error("nested"));
    }
  } catch (const std::exception& outer) {
    try {
      std::rethrow_if_nested(outer);
    } catch (int inner) {
      std::cout << outer.what() << " around " << inner << '\n';
    }
  }
}

struct Commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

void use_streams() {
  std::ostringstream out;
  out.imbue(std::locale(std::locale::classic(), new Commas));
  out << 1234567 << ' ' << 3.25 << ' ' << std::hex << 255 << std::setw(10) << std::setfill('*')
      << "ab";
  std::cout << out.str() << '\n';
  std::istringstream in("12 3.5 word 0x1f z");
  int decimal, hexadecimal, none;
  double real;
  std::string word;
  in >> decimal >> real >> word >> std::hex >> hexadecimal;
  std::cout << decimal << ' ' << real << ' ' << word << ' ' << hexadecimal << '\n';
  std::cout << "a number: " << static_cast<bool>(in >> none) << '\n';
  in.clear();
  in.exceptions(std::ios::failbit);
  show_thrown("stream", [&] { in >> none; });
  std::cout << std::complex<double>(1, -2) << ' ' << std::boolalpha << true << '\n';
}

void use_locales() {
  std::tm date{};
  date.tm_year = 100;
  date.tm_mday = 3;
  std::cout << std::put_time(&date, "%A %d %B %Y") << '\n';
  std::istringstream("2001-02-03") >> std::get_time(&date, "%Y-%m-%d");
  std::cout << date.tm_mon << ' ' << std::put_money(123456) << '\n';
  show_thrown("locale", [] { std::locale("xx_YY"); });
  const std::locale utf8("C.UTF-8");
  const auto& kinds = std::use_facet<std::ctype<wchar_t>>(utf8);
  std::cout << utf8.name() << ' ' << kinds.is(std::ctype_base::alpha, L'\u00e9') << '\n';
  std::wstring_convert<std::codecvt_utf8<wchar_t>> conversion;
  std::cout << conversion.to_bytes(L"h\u00e9\u4e2d") << '\n';
  show_thrown("bad bytes", [&] { conversion.from_bytes("\xff\xfe"); });
}

void use_regular_expressions() {
  const std::regex pattern("([a-z]+)([0-9]+)");
  const std::string text = "foo42 bar7";
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    std::cout << (*at)[1] << '/' << (*at)[2] << '\n';
  show_thrown("regex", [] { std::regex("("); });
}

void use_numbers() {
  char text[40];
  const auto written = std::to_chars(text, text + sizeof text, 3.14159265358979);
  double read = 0;
  std::from_chars(text, written.ptr, read);
  std::cout << std::string(text, written.ptr) << ' ' << read << '\n';
  std::mt19937_64 generator(7);
  std::normal_distribution<> distribution;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += distribution(generator);
  std::cout << std::setprecision(12) << sum << '\n';
}

void use_files_and_memory() {
  namespace fs = std::filesystem;
  std::cout << fs::path("/usr/../usr/lib/x").lexically_normal() << ' ' << fs::exists("/none")
            << '\n';
  show_thrown("file_size", [] { fs::file_size("/none"); });
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::vector<std::pmr::string> strings(&memory);
  for (int i = 0; i < 100; ++i) strings.emplace_back("a string too long for its own object");
  std::cout << strings.size() << '\n';
}

/// Formats and throws: the work of each of several threads.
size_t work_and_throw(int number) {
  size_t sum = 0;
  for (int i = 0; i < 2000; ++i) {
    try {
      if (i % 100 == number) throw i;
      std::ostringstream out;
      out << i * 1.5;
      sum += out.str().size();
    } catch (int thrown) {
      sum += thrown;
    }
  }
  return sum;
}

void use_threads() {
  std::mutex mutex;
  std::condition_variable ended;
  int ready = 0;
  size_t total = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number)
    threads.emplace_back([&, number] {
      const size_t sum = work_and_throw(number);
      const std::lock_guard lock(mutex);
      total += sum;
      ++ready;
      ended.notify_one();
    });
  {
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return ready == 8; });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << total << '\n';
  auto future = std::async(std::launch::async, []() -> int { throw std::out_of_range("async"); });
  show_thrown("future", [&] { future.get(); });
  std::promise<int> promise;
  auto first = promise.get_future();
  show_thrown("promise", [&] { promise.get_future(); });
}

/// An exception that nothing catches ends the program by the handler.
void use_terminate() {
  std::set_terminate([] {
    std::cout << "terminate" << std::endl;
    std::exit(0);
  });
  std::thread([] { throw 5; }).join();
}

}  // namespace

int main() {
  use_exceptions();
  use_streams();
  use_locales();
  use_regular_expressions();
  use_numbers();
  use_files_and_memory();
  use_threads();
  use_terminate();
}
