// C++ threads: futures that carry exceptions, thread_local objects with destructors, condition
// variables, shared mutexes, call_once with a throwing first call, atomics of several sizes.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> destroyed{0};
std::atomic<long> total{0};

struct PerThread {
  explicit PerThread(int s) : start(s) {}
  ~PerThread() { destroyed += start; }
  int start;
  long calls = 0;
};

long use_local(int id) {
  thread_local PerThread mine(id);
  return ++mine.calls + mine.start;
}

class Queue {
 public:
  void push(int v) {
    {
      std::lock_guard lock(mutex_);
      items_.push_back(v);
    }
    ready_.notify_one();
  }
  int pop() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return !items_.empty(); });
    int v = items_.front();
    items_.pop_front();
    if (v == 66666) throw std::runtime_error("poisoned item");
    return v;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<int> items_;
};

long consume(Queue& queue, int id) {
  long sum = 0;
  use_local(id);
  try {
    for (;;) {
      int v = queue.pop();
      if (v < 0) return sum;
      sum += v;
      total.fetch_add(v, std::memory_order_relaxed);
      use_local(id);
    }
  } catch (const std::runtime_error&) {
    throw std::logic_error("consumer " + std::string(id < 100 ? "small" : "large") + " failed");
  }
}

[[gnu::noinline]] int fail_deep(int depth) {
  PerThread guard(0);
  if (depth == 0) throw std::out_of_range("deep in a thread");
  return fail_deep(depth - 1) + static_cast<int>(guard.calls);
}

}  // namespace

int main() {
  Queue queue;
  std::vector<std::future<long>> consumers;
  for (int i = 0; i < 4; ++i)
    consumers.push_back(std::async(std::launch::async, consume, std::ref(queue), i + 1));
  for (int i = 0; i < 2000; ++i) queue.push(i);
  for (int i = 0; i < 4; ++i) queue.push(-1);
  long sum = 0;
  for (auto& c : consumers) sum += c.get();
  std::cout << "consumed " << sum << " total " << total << " destroyed " << destroyed << std::endl;

  auto broken = std::async(std::launch::async, consume, std::ref(queue), 50);
  queue.push(1);
  queue.push(66666);
  try {
    broken.get();
  } catch (const std::logic_error& e) {
    std::cout << e.what() << std::endl;
  }

  std::vector<std::thread> threads;
  std::mutex print;
  std::map<int, std::string> messages;
  for (int i = 0; i < 5; ++i)
    threads.emplace_back([&, i] {
      try {
        fail_deep(i * 3);
      } catch (const std::exception& e) {
        std::lock_guard lock(print);
        messages[i] = e.what();
      }
    });
  for (auto& t : threads) t.join();
  for (const auto& [id, text] : messages) std::cout << id << ' ' << text << '\n';

  std::once_flag once;
  int attempts = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      std::call_once(once, [&] {
        if (++attempts == 1) throw 1;
      });
    } catch (int) {
      std::cout << "first call failed\n";
    }
  }
  std::cout << "attempts " << attempts << '\n';

  std::shared_mutex shared;
  std::map<int, long> table;
  std::atomic<bool> stop{false};
  std::atomic<unsigned char> tiny{0};
  std::thread writer([&] {
    for (int i = 0; i < 500; ++i) {
      std::unique_lock lock(shared);
      table[i % 17] += i;
      ++tiny;
    }
    stop = true;
  });
  long reads = 0;
  while (!stop) {
    std::shared_lock lock(shared);
    reads += static_cast<long>(table.size());
  }
  writer.join();
  std::cout << table[3] << ' ' << static_cast<int>(tiny) << ' ' << (reads >= 0) << '\n';

  std::promise<int> promise;
  auto future = promise.get_future();
  std::thread setter(
      [&] { promise.set_exception(std::make_exception_ptr(std::string("by promise"))); });
  try {
    future.get();
  } catch (const std::string& s) {
    std::cout << s << std::endl;
  }
  setter.join();
  std::packaged_task<int(int)> task([](int x) {
    if (x > 2) throw x;
    return x;
  });
  auto result = task.get_future();
  std::thread runner(std::move(task), 3);
  runner.join();
  try {
    return result.get();
  } catch (int x) {
    return x + 20;
  }
}
