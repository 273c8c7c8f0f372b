#pragma once
// Small Alpha programs for the tests of the ELF reader and writer: compiled once in each test
// process, into a temporary directory, and run under qemu-alpha.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"
#include "tests/unit/command.h"
#include "tests/unit/temporary_folder.h"

namespace respike {

/// `output`: stdout and stderr together.
inline CommandResult run(const std::string& command) {
  return run_command("{ " + command + " ; } 2>&1");
}

/// A directory that lives as long as the process.
inline const std::filesystem::path& test_directory() {
  static const TemporaryFolder directory;
  return directory.path();
}

inline std::vector<uint8_t> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Compiles `source` and returns the output. A `name` that ends in .cc is a C++ file, in .s
/// assembly.
inline std::filesystem::path compile(const std::string& name, const std::string& source,
                                     const std::string& options, const std::string& output) {
  const auto path = test_directory() / output;
  if (std::filesystem::exists(path)) return path;
  write_text(test_directory() / name, source);
  const std::string driver = name.ends_with(".cc") ? "alpha-linux-gnu-g++" : "alpha-linux-gnu-gcc";
  const auto result = run("cd " + test_directory().string() + " && " + driver + " -O2 -Wl,-q -o " +
                          output + " " + name + " " + options);
  EXPECT_EQ(result.status, 0) << result.output;
  return path;
}

inline constexpr const char* kHello = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int table[3] = {1, 2, 3};
static int compare(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
int main(int argc, char **argv) {
  qsort(table, 3, sizeof *table, compare);
  char *copy = strdup("hello");
  printf("%s %d %d\n", copy, table[0], argc);
  return 7;
}
)";

inline constexpr const char* kThrower = R"(
#include <cstdio>
#include <stdexcept>
__attribute__((noinline)) int risky(int n) {
  if (n > 2) throw std::runtime_error("caught");
  return n;
}
int main() {
  int sum = 0;
  for (int i = 0; i < 5; ++i)
    try { sum += risky(i); } catch (const std::exception& e) { std::puts(e.what()); sum += 10; }
  std::printf("%d\n", sum);
  return sum;
}
)";

/// A program without libraries: one page of code, no data.
inline constexpr const char* kTiny = R"(
  .text
  .globl _start
  .ent _start
_start:
  br $29, 1f
1: ldgp $29, 0($29)
  bsr $26, answer
  mov $0, $16
  lda $0, 1($31)
  callsys
  .end _start
  .ent answer
answer:
  lda $0, 42($31)
  ret
  .end answer
)";

inline std::filesystem::path static_program() {
  return compile("hello.c", kHello, "-static -Wl,--defsym=__ehdr_start=0x120000000",
                 "hello.static");
}
inline std::filesystem::path dynamic_program() {
  return compile("hello.c", kHello, "-no-pie", "hello.dynamic");
}
inline std::filesystem::path pie_program() {
  return compile("hello.c", kHello, "-fPIE -pie", "hello.pie");
}
inline std::filesystem::path throwing_program() {
  return compile("thrower.cc", kThrower, "-no-pie", "thrower");
}
inline std::filesystem::path tiny_program() {
  return compile("tiny.s", kTiny, "-nostdlib -static", "tiny");
}

/// Runs an Alpha program.
inline CommandResult run_alpha(const std::filesystem::path& program,
                               const std::string& options = {}) {
  return run("qemu-alpha -L /usr/alpha-linux-gnu " + options + " " + program.string());
}

/// A request for an image without changes.
inline NewImage unchanged(const Image& image) {
  NewImage result;
  result.contents.assign(image.file.begin(), image.file.end());
  result.entry = image.entry;
  result.symbols = image.symbols;
  result.dynamic_symbols = image.dynamic_symbols;
  result.relocations = image.relocations;
  result.dynamic_relocations = image.dynamic_relocations;
  return result;
}

}  // namespace respike
