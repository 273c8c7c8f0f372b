/* Loads of bad addresses that throw: a handler of SIGSEGV throws, and landing pads find the
   registers as they were at the load. Moving values between calls would lose values that
   destructors read. hot_cold_test.py uses a profile of its own. build: -O1 -fnon-call-exceptions
   build: -O1 -fnon-call-exceptions STATIC */
#include <csignal>
#include <cstdio>

namespace {

long sum;

struct Adder {
  long value, weight;
  ~Adder() { sum += value * weight; }
};

__attribute__((noinline)) long get(long value, const long* place, long weight) {
  Adder adder{value, weight};
  const long first = *place;  // throws where there is nothing
  if (first == 12345) {       // never
    std::printf("%ld %ld\n", value, weight);
    std::printf("%ld\n", first);
  }
  return first + value;
}

}  // namespace

int main() {
  struct sigaction action = {};
  action.sa_handler = [](int) { throw 1; };
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  long place = 3, result = 0;
  for (long i = 0; i < 200; i++) {
    try {
      result += get(i, i % 50 == 49 ? nullptr : &place, i % 7);
    } catch (int) {
      std::printf("caught %ld: %ld\n", i, sum);
    }
  }
  std::printf("%ld %ld\n", result, sum);
}
