// Signatures depend only on the flow of control; counts find their places again.

#include "optimizer/profile/signature.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "elf_test_files.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"
#include "optimizer/profile/annotate.h"
#include "tests/unit/flow_testing.h"
#include "tests/unit/folders.h"

namespace respike {
namespace {

Program lifted(const Image& image) {
  Diagnostics diagnostics;
  return lift(image, diagnostics);
}

/// Signature, and strict and loose hashes of the nodes.
using Looks = std::pair<uint64_t, std::vector<std::pair<uint16_t, uint16_t>>>;

/// Signatures by name. A name may stand for several procedures; a procedure without a name has its
/// address as its name.
std::map<std::string, std::multiset<Looks>> signatures_of(const Program& program) {
  std::map<std::string, std::multiset<Looks>> result;
  const auto signatures = sign(program);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const std::string& name = program[id].name;
    Looks looks{signatures[id].value, {}};
    for (const NodeHash& node : signatures[id].nodes)
      looks.second.emplace_back(node.strict, node.loose);
    result[name.starts_with("code_") ? "" : name].insert(std::move(looks));
  }
  return result;
}

void expect_same_in_any_layout(const std::filesystem::path& path) {
  const Image image = read_image(path);
  const auto before = signatures_of(lifted(image));
  for (const auto order : {OptimizeOptions::Order::random, OptimizeOptions::Order::scatter,
                           OptimizeOptions::Order::original, OptimizeOptions::Order::profiled}) {
    OptimizeOptions options;
    options.order = order;
    Diagnostics diagnostics;
    const OptimizeResult result = optimize(image, options, diagnostics);
    const Image written = view_image(result.bytes, "written");
    EXPECT_EQ(signatures_of(lifted(written)), before) << path;
  }
}

TEST(Signature, IsTheSameInAnyLayout) {
  expect_same_in_any_layout(tiny_program());
  expect_same_in_any_layout(throwing_program());
}

/// Real programs, if they were built (tests/programs).
TEST(Signature, IsTheSameInAnyLayoutOfRealPrograms) {
  int programs = 0;
  const char* folder = std::getenv("RESPIKE_PROGRAMS");
  const std::filesystem::path built =
      folder != nullptr ? std::filesystem::path(folder) : build_folder() / "programs";
  for (const char* name : {"images/sqlite3.static", "images/lua.dynamic", "images/modern.dynamic",
                           "images/switches.static", "x86_64/images/lua.pie",
                           "x86_64/images/modern.pie", "x86_64/images/switches.dynamic"}) {
    if (!std::filesystem::exists(built / name)) continue;
    expect_same_in_any_layout(built / name);
    ++programs;
  }
  if (programs == 0) GTEST_SKIP() << "no programs were built";
}

uint64_t signature_of(const std::string& name, const std::string& body) {
  const auto path = compile(name + ".c",
                            "int g(int); int h(int);\n"
                            "__attribute__((noinline)) int f(int a, int b) {" +
                                body + "}\nint main(int c, char** v) { return f(c, *v[0]); }\n" +
                                "int g(int a) { return a; } int h(int a) { return -a; }\n",
                            "-fno-if-conversion -fno-if-conversion2 -fno-inline", name);
  const Image image = read_image(path);
  const Program program = lifted(image);
  const auto signatures = sign(program);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    if (program[id].name == "f") return signatures[id].value;
  ADD_FAILURE() << "no f in " << name;
  return 0;
}

TEST(Signature, SeesTheFlowOfControlOnly) {
  const uint64_t loop = signature_of("loop", "int s = 0; while (a-- > 0) s += g(b); return s;");
  EXPECT_EQ(signature_of("loop2", "int s = 0; while (a-- > 0) s += h(b); return s;"), loop);
  EXPECT_NE(signature_of("twice", "int s = 0; while (a-- > 0) s += g(g(b)); return s;"), loop);
  EXPECT_NE(signature_of("straight", "return g(b) + a;"), loop);
  EXPECT_EQ(signature_of("straight2", "return g(b) * 5 - a * a;"),
            signature_of("straight", "return g(b) + a;"));
}

TEST(Signature, NumbersOfNodesAreCompact) {
  const Image image = read_image(throwing_program());
  const Program program = lifted(image);
  const auto signatures = sign(program);
  ASSERT_EQ(signatures.size(), program.procedures.size());
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    ASSERT_EQ(signatures[id].node.size(), program[id].blocks.size());
    std::set<uint32_t> nodes(signatures[id].node.begin(), signatures[id].node.end());
    nodes.erase(kNone);
    if (!nodes.empty()) {
      EXPECT_EQ(*nodes.rbegin() + 1, nodes.size());
    }
  }
}

TEST(Annotate, CountsFindTheirPlaces) {
  const Image image = read_image(throwing_program());
  Program program = lifted(image);
  Random random(1);
  for (Procedure& procedure : program.procedures)
    for (BasicBlock& block : procedure.blocks) {
      block.count = below(random, 1000);
      for (Edge& edge : block.successors) edge.count = below(random, 1000);
    }
  const Profile profile = profile_of(program);
  Program fresh = lifted(image);
  const AnnotateResult result = annotate(fresh, decode_profile(encode_profile(profile), "p"));
  EXPECT_EQ(result.matched, program.procedures.size());
  EXPECT_EQ(result.entered_matched, result.entered);
  EXPECT_EQ(result.instructions_matched, result.instructions);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    for (BlockId b = 0; b < program[id].blocks.size(); ++b) {
      const BasicBlock &x = program[id].blocks[b], &y = fresh[id].blocks[b];
      EXPECT_EQ(x.count, y.count);
      for (uint32_t e = 0; e < x.successors.size(); ++e)
        EXPECT_EQ(x.successors[e].count, y.successors[e].count);
    }
  EXPECT_EQ(profile_of(fresh), profile);
}

TEST(Annotate, WhatDoesNotFitIsLeftOut) {
  const Image image = read_image(throwing_program());
  Program program = lifted(image);
  Profile profile = profile_of(program);
  for (auto& procedure : profile.procedures)
    for (auto& block : procedure.blocks) block.count = 1;
  const size_t all = profile.procedures.size();
  ASSERT_GT(all, 4u);
  profile.procedures[0].name += "x";
  profile.procedures[1].signature ^= 1;
  profile.procedures[2].blocks.pop_back();
  profile.procedures[2].edges.clear();
  for (auto& block : profile.procedures[3].blocks) block.address += 4;
  const AnnotateResult result = annotate(program, profile);
  EXPECT_EQ(result.procedures, all);
  EXPECT_EQ(result.matched, all - 4);
  EXPECT_LT(result.instructions_matched, result.instructions);
  EXPECT_EQ(program[0].blocks[0].count, 0u);
  EXPECT_EQ(program[4].blocks[0].count, 1u);
}

}  // namespace
}  // namespace respike
