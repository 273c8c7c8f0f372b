// Unwind tables of real programs: read, written and read again; compared row by row with readelf's
// own interpreter; replaced in the program, which then runs; and damaged at random.

#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "tests/unit/command.h"
#include "tests/unit/unwind_testing.h"

namespace respike {
namespace {

using namespace unwind_testing;

// ---- Programs

std::string run(const std::string& command) {
  const CommandResult result = run_command(command + " 2>&1");
  return result.status == 0 ? result.output : "failed: " + result.output;
}

bool has_tools() {
  return system(
             "alpha-linux-gnu-g++ --version >/dev/null 2>&1 && "
             "alpha-linux-gnu-readelf --version >/dev/null 2>&1") == 0;
}
bool has_emulator() {
  return system("qemu-alpha --version >/dev/null 2>&1") == 0;
}

constexpr const char* kExceptions = R"(
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct A { std::string s; A(const char* c) : s(c) {} ~A() { printf("~%s\n", s.c_str()); } };
struct E1 : std::runtime_error { using std::runtime_error::runtime_error; };
struct E2 : E1 { using E1::E1; };
int __attribute__((noinline)) f(int n) {
  A a("f");
  if (n % 3 == 0) throw E2("three");
  if (n % 5 == 0) throw n;
  if (n % 7 == 0) throw std::string("seven");
  return n;
}
int __attribute__((noinline)) g(int n) { try { return f(n); } catch (...) { return -1; } }
int __attribute__((noinline)) h(int n) noexcept { A b("h"); return f(n) + 1; }
int __attribute__((noinline)) k(int n) {
  A c("k");
  try { return f(n); }
  catch (const E1& e) { puts(e.what()); return 1; }
  catch (int i) {
    printf("%d\n", i);
    try { A d("inner"); return f(7 * i); } catch (std::string& s) { puts(s.c_str()); }
    return 2;
  }
}
int main() {
  for (int i = 1; i < 20; i++) {
    try { printf("%d\n", k(i) + g(i)); } catch (...) { puts("any"); }
  }
  std::map<std::string, std::vector<int>> m;
  m["a"].push_back(h(1));
  try { m.at("b"); } catch (std::out_of_range& e) { puts("out of range"); }
}
)";

constexpr const char* kSpecifications = R"(
#include <exception>
#include <stdio.h>
struct B { virtual ~B() {} };
struct C : B {};
void my() { puts("unexpected"); throw 5; }
void f(int i) throw(int, B) { if (i == 1) throw 1; if (i == 2) throw C(); if (i == 3) throw "x"; }
void g(int i) throw() { try { f(i); } catch (const char*) { puts("cc"); } catch (B&) { puts("B"); } }
int main() {
  std::set_unexpected(my);
  try { f(1); } catch (int i) { printf("%d\n", i); }
  g(2);
  try { f(3); } catch (int i) { printf("%d\n", i); } catch (...) { puts("..."); }
}
)";

constexpr const char* kPlain = R"(
#include <stdio.h>
#include <stdlib.h>
static int order(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(int argc, char** argv) {
  int a[50];
  char* b = __builtin_alloca(argc * 100);
  for (int i = 0; i < 50; i++) a[i] = i * 37 % 50;
  qsort(a, 50, sizeof a[0], order);
  sprintf(b, "%d %d", a[0], a[49]);
  puts(b);
}
)";

struct Program {
  const char* name;
  const char* source;
  const char* flags;
};

std::ostream& operator<<(std::ostream& out, const Program& program) {
  return out << program.name;
}

constexpr const char* kStatic = "-static -Wl,--defsym=__ehdr_start=0x120000000";

class Programs : public testing::TestWithParam<Program> {
 protected:
  void SetUp() override {
    if (!has_tools()) GTEST_SKIP() << "no Alpha compiler";
    base_ = fmt::format("{}/unwind_{}_{}", testing::TempDir(), getpid(), GetParam().name);
    const std::string source = base_ + ".cc";
    std::ofstream(source) << GetParam().source;
    ASSERT_EQ(run(fmt::format("alpha-linux-gnu-g++ -w -O2 -Wl,-q {} {} -o {}", GetParam().flags,
                              source, base_)),
              "");
    image_ = read_image(base_);
    input_ = read_unwind(image_, &unreadable_);
    EXPECT_TRUE(unreadable_.empty());
    EXPECT_FALSE(input_.fdes.empty());
  }
  void TearDown() override {
    for (const char* suffix : {"", ".cc", ".new"}) unlink((base_ + suffix).c_str());
  }

  std::string base_;
  Image image_;
  UnwindInput input_;
  Ranges unreadable_;
};

/// A row in the form of readelf, as Respike reads it.
std::string row_text(const CfiState& state, const Cie& cie,
                     const std::vector<std::string>& columns) {
  std::string text = state.cfa_is_expression ? "exp" : cfa_text(state);
  for (const std::string& column : columns) {
    const uint64_t number = column == "ra" ? cie.return_register : std::stoul(column.substr(1));
    std::string rule = "u";
    for (const auto& [candidate, candidate_rule] : state.rules)
      if (candidate == number) rule = rule_text(candidate_rule);
    text += " " + rule;
  }
  return text;
}

TEST_P(Programs, AgreeWithReadelf) {
  std::istringstream lines(run("alpha-linux-gnu-readelf -W --debug-dump=frames-interp " + base_));
  std::map<uint64_t, const Fde*> by_start;
  for (const Fde& fde : input_.fdes) by_start[fde.start] = &fde;
  const Fde* fde = nullptr;
  std::vector<std::string> columns;
  size_t rows = 0, fdes = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (const size_t at = line.find(" pc="); at != std::string::npos) {
      const uint64_t start = std::stoull(line.substr(at + 4), nullptr, 16);
      ASSERT_TRUE(by_start.contains(start)) << line;
      fde = by_start[start];
      ASSERT_EQ(fde->end, std::stoull(line.substr(line.find("..") + 2), nullptr, 16));
      ++fdes;
    } else if (line.find(" CIE ") != std::string::npos) {
      fde = nullptr;
    } else if (line.find(" LOC ") != std::string::npos) {
      words >> word >> word;
      for (columns.clear(); words >> word;) columns.push_back(word);
    } else if (fde != nullptr && words >> word && word.size() == 16) {
      const uint64_t address = std::stoull(word, nullptr, 16);
      auto row = fde->rows.rbegin();
      while (row->address > address) ++row;
      const CfiState& state = input_.tables.states[row->state];
      std::string expected;
      while (words >> word) expected += (expected.empty() ? "" : " ") + word;
      ASSERT_EQ(row_text(state, input_.tables.cies[state.cie], columns), expected) << line;
      ++rows;
    }
  }
  EXPECT_EQ(fdes, input_.fdes.size());
  EXPECT_GE(rows, fdes);
}

TEST_P(Programs, SurviveWritingAndReading) {
  const uint64_t address = address_behind(image_);
  const auto ranges = all_ranges(input_);
  const FrameSections written = write_frames(input_.tables, ranges, address, true);
  const FrameSections again = write_frames(input_.tables, ranges, address, true);
  EXPECT_EQ(written.eh_frame, again.eh_frame);
  EXPECT_EQ(written.lsda, again.lsda);
  const Image image = with_tables(image_, written, address);
  Ranges unreadable;
  expect_equal(input_, read_unwind(image, &unreadable));
  EXPECT_TRUE(unreadable.empty());
  // Nothing grows: the tables that stay cost no more than GCC's own tables.
  EXPECT_LE(written.eh_frame.size(), image_.section_named(".eh_frame")->size);
  if (const Section* section = image_.section_named(".gcc_except_table")) {
    EXPECT_LE(written.lsda.size(), section->size + 16);
  }
  // Every fixup names a word that holds target - place.
  const auto check = [](const std::vector<UnwindFixup>& fixups, const Bytes& bytes, uint64_t base) {
    for (const UnwindFixup& fixup : fixups) {
      ASSERT_LE(fixup.address - base + 4, bytes.size());
      ASSERT_EQ(fixup.target - fixup.address,
                static_cast<uint64_t>(load<int32_t>(&bytes[fixup.address - base])));
    }
  };
  check(written.eh_frame_fixups, written.eh_frame, address);
  check(written.lsda_fixups, written.lsda, written.lsda_address);
  // The header's table finds every FDE.
  ASSERT_EQ(written.header.size(), 12 + 8 * input_.fdes.size());
  for (size_t i = 0; i < input_.fdes.size(); ++i)
    ASSERT_EQ(written.header_address + load<int32_t>(&written.header[12 + 8 * i]),
              input_.fdes[i].start);
}

/// Replaces the tables in the file: unwinders of the emulated system use them.
TEST_P(Programs, RunWithNewTables) {
  if (!has_emulator()) GTEST_SKIP() << "no qemu-alpha";
  const Section* header = image_.section_named(".eh_frame_hdr");
  const Section* frame = image_.section_named(".eh_frame");
  const Section* except = image_.section_named(".gcc_except_table");
  uint64_t address = header == nullptr ? frame->address : align_up(header->address, 8);
  // The part of .eh_frame from crt1.o lies before the tables that static programs register.
  for (const Symbol& symbol : image_.symbols)
    if (header == nullptr && symbol.name == "__EH_FRAME_BEGIN__") address = symbol.value;
  const Section* last = except == nullptr ? frame : except;
  auto ranges = all_ranges(input_);
  // This makes room for alignment: nothing unwinds out of _start, the only code with another return
  // register.
  constexpr uint64_t kReturnAddress = 26;
  std::erase_if(ranges, [&](const UnwindRange& range) {
    const CfiState& state = input_.tables.states[range.state];
    return input_.tables.cies[state.cie].return_register != kReturnAddress;
  });
  const FrameSections written = write_frames(input_.tables, ranges, address, header != nullptr);
  const uint64_t end = header == nullptr ? written.lsda_address + written.lsda.size()
                                         : written.header_address + written.header.size();
  ASSERT_LE(end, last->address + last->size);

  Bytes file(image_.file.begin(), image_.file.end());
  const auto put = [&](uint64_t place, const Bytes& bytes) {
    std::copy(bytes.begin(), bytes.end(), file.begin() + image_.offset_of(place).value());
  };
  put(address, Bytes(last->address + last->size - address, 0xee));
  put(address, written.eh_frame);
  if (!written.lsda.empty()) put(written.lsda_address, written.lsda);
  if (header != nullptr) {
    put(written.header_address, written.header);
    for (size_t i = 0; i < load<uint16_t>(&file[56]); ++i) {
      uint8_t* segment = &file[load<uint64_t>(&file[32]) + i * 56];
      if (load<uint32_t>(segment) != 0x6474e550) continue;  // PT_GNU_EH_FRAME
      store<uint64_t>(segment + 8, image_.offset_of(written.header_address).value());
      store<uint64_t>(segment + 16, written.header_address);
      store<uint64_t>(segment + 32, written.header.size());
    }
  }
  std::ofstream(base_ + ".new", std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), file.size());
  const auto emulate = [](const std::string& path) {
    return run(fmt::format("chmod +x {0} && qemu-alpha -L /usr/alpha-linux-gnu {0}", path));
  };
  const std::string before = emulate(base_);
  EXPECT_EQ(before.find("failed"), std::string::npos);
  EXPECT_EQ(before, emulate(base_ + ".new"));
}

TEST_P(Programs, DamagedTablesAreNoCrash) {
  const Section* frame = image_.section_named(".eh_frame");
  const Section* except = image_.section_named(".gcc_except_table");
  if (frame->size > 20'000) GTEST_SKIP() << "small programs are enough";
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    FrameSections damaged;
    damaged.eh_frame.assign(frame->contents.begin(), frame->contents.end());
    damaged.lsda_address = 0x120f00000;
    if (except != nullptr) {
      damaged.lsda.assign(except->contents.begin(), except->contents.end());
      damaged.lsda_address = except->address;
    }
    const bool in_frame = round % 2 == 0 || damaged.lsda.empty();
    Bytes& bytes = in_frame ? damaged.eh_frame : damaged.lsda;
    if (round % 10 == 0) bytes.resize(random() % bytes.size());
    for (size_t i = 0; i <= random() % 4 && !bytes.empty(); ++i)
      bytes[random() % bytes.size()] ^= 1 << random() % 8;
    const Image image = with_tables(image_, damaged, frame->address);
    try {
      const UnwindInput input = read_unwind(image);
      write_frames(input.tables, all_ranges(input), address_behind(image_), true);
    } catch (const Error&) {
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Alpha, Programs,
    testing::Values(Program{"plain", kPlain, "-xc"}, Program{"exceptions", kExceptions, ""},
                    Program{"pie", kExceptions, "-pie -fPIE"},
                    Program{"exceptions_static", kExceptions, kStatic},
                    Program{"specifications", kSpecifications, "-std=c++98"},
                    Program{"unoptimized", kExceptions, "-O0 -fasynchronous-unwind-tables"}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace respike
