// A program that counts how often it got past calls that might throw. Its procedures have exception tables; nothing is
// thrown, since there is no runtime.

extern "C" int plain(int value);

struct Guard {
  int& count;
  ~Guard() { count += plain(1); }
};

static __attribute__((noinline)) int caught(int value) {
  int count = 0;
  try {
    count += plain(value);
    Guard guard{count};
    count += plain(value);
    if (count > 2) count += plain(1);
  } catch (int number) {
    count += plain(number);
  } catch (...) {
    count += plain(2);
  }
  return count;
}

static __attribute__((noinline)) int cleaned(int value) {
  int count = 0;
  Guard guard{count};
  for (int i = 0; i < value; ++i) count += plain(i);
  return count;
}

extern "C" int program() { return caught(1) + caught(2) + cleaned(3); }
