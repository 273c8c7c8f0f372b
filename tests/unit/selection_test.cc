// Procedures chosen by name and address.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/procedure_name.h"

namespace respike {
namespace {

using List = std::vector<std::string>;

struct Names {
  explicit Names(const List& names) {
    program.image = &image;
    for (const std::string& name : names) {
      Procedure& procedure = program.procedures.emplace_back();
      procedure.name = name;
      procedure.address = 0x1000 + 0x10 * (program.procedures.size() - 1);
    }
  }
  /// The numbers of the chosen procedures.
  std::string chosen(const List& list) const {
    std::string text;
    const std::vector<bool> named = procedures_named(program, list);
    for (size_t i = 0; i < named.size(); ++i)
      if (named[i]) text += std::to_string(i);
    return text;
  }

  Image image;
  Program program;
};

TEST(Selection, NamesAndAddresses) {
  const Names names({"a", "b", "a", "c@1000", "d@@V1"});
  EXPECT_EQ(names.chosen({}), "");
  EXPECT_EQ(names.chosen({"a", "b"}), "012");
  EXPECT_EQ(names.chosen({"a@1020"}), "2");
  EXPECT_EQ(names.chosen({"a@0x1000", "b@1010"}), "01");
  EXPECT_EQ(names.chosen({"c@1000"}), "3");  // this is its name
  EXPECT_EQ(names.chosen({"d@@V1", "d@@V1@1040"}), "4");
}

TEST(Selection, NameAndAddress) {
  const auto parts = [](std::string_view text) {
    const auto split = split_addressed_name(text);
    return split ? fmt::format("{} {:x}", split->name, split->address) : "none";
  };
  EXPECT_EQ(parts("run@120000ef0"), "run 120000ef0");
  EXPECT_EQ(parts("run@0x120000EF0"), "run 120000ef0");
  EXPECT_EQ(parts("memcpy@@GLIBC_2.4@10"), "memcpy@@GLIBC_2.4 10");
  EXPECT_EQ(parts("@1"), " 1");
  for (const char* text : {"", "run", "run@", "run@0x", "run@x", "run@-1", "run@1 ", "run@0x0x1",
                           "memcpy@@GLIBC_2.4", "run@10000000000000000"})
    EXPECT_EQ(parts(text), "none") << text;
}

TEST(Selection, UnknownOnes) {
  const Names names({"a", "b", "a"});
  for (const char* text : {"x", "a@1010", "a@1001", "a@", "a@0x", "a@xyz", "@1000", "", "a@1020 "})
    EXPECT_THROW(names.chosen({"a", text}), Error) << text;
}

TEST(Selection, ManyOfOneName) {
  constexpr size_t kCount = 100'000;
  const Names names(List(kCount, "same"));
  List list;
  for (size_t i = 0; i < kCount; ++i) list.push_back(fmt::format("same@{:x}", 0x1000 + 0x10 * i));
  const std::vector<bool> named = procedures_named(names.program, list);
  EXPECT_EQ(std::count(named.begin(), named.end(), true), static_cast<ptrdiff_t>(kCount));
}

}  // namespace
}  // namespace respike
