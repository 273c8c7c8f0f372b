// The limits of what lifting may assume: reduced programs, each with one fact that cannot be known
// for sure. Each program is rewritten in random orders and has to run as before.

#include "optimizer/lift/lift.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>

#include "elf_test_files.h"
#include "optimizer/image/image.h"
#include "optimizer/pipeline.h"

namespace respike {
namespace {

using Path = std::filesystem::path;

Path assembled(const std::string& name, const std::string& source, const std::string& options) {
  return compile(name + ".s", source, "-nostdlib -static " + options, name);
}

/// A lifted file with the image that it views.
struct Lifted {
  explicit Lifted(const Path& path) : image(read_image(path)), program(lift(image, diagnostics)) {}

  const Procedure& operator[](std::string_view name) const {
    for (const Procedure& procedure : program.procedures)
      if (procedure.name == name) return procedure;
    ADD_FAILURE() << "there is no procedure " << name;
    return program.procedures.front();
  }
  uint64_t symbol(std::string_view name) const {
    for (const Symbol& symbol : image.symbols)
      if (symbol.name == name) return symbol.value;
    ADD_FAILURE() << "there is no symbol " << name;
    return 0;
  }
  const CodePointer* pointer(uint64_t address) const {
    for (const CodePointer& pointer : program.code_pointers)
      if (pointer.address == address) return &pointer;
    return nullptr;
  }

  Image image;
  Diagnostics diagnostics;
  Program program;
};

void expect_movable(const Lifted& lifted, std::string_view name) {
  EXPECT_TRUE(lifted[name].movable()) << name << ": " << lifted[name].reason;
}

/// `reason`: a part of the reason for which the procedure is left alone.
void expect_left_alone(const Lifted& lifted, std::string_view name, std::string_view reason) {
  EXPECT_FALSE(lifted[name].movable()) << name;
  EXPECT_NE(lifted[name].reason.find(reason), std::string::npos) << lifted[name].reason;
}

/// Rewrites the program twice, in several orders. It must exit with `status` before and after.
void expect_same_behaviour(const Path& path, int status) {
  const CommandResult expected = run_alpha(path);
  EXPECT_EQ(WEXITSTATUS(expected.status), status) << expected.output;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    OptimizeOptions options;
    options.order =
        seed % 2 == 0 ? OptimizeOptions::Order::random : OptimizeOptions::Order::scatter;
    options.seed = seed;
    Path from = path;
    for (const char* generation : {".once", ".twice"}) {
      const Image image = read_image(from);
      Diagnostics diagnostics;
      const OptimizeResult result = optimize(image, options, diagnostics);
      const Path output = path.string() + generation;
      write_file(output, result.bytes, from);
      EXPECT_EQ(run_alpha(output), expected) << output << ", seed " << seed;
      from = output;
    }
  }
}

// ---- several global offset tables ----

/// A procedure that loads so many slots that no other object fits into its table.
std::string many_slots(const std::string& name) {
  constexpr int kSlots = 7000;
  std::string code = " .ent fill_" + name + "\nfill_" + name + ":\n ldgp $29,0($27)\n";
  std::string data;
  for (int i = 0; i < kSlots; ++i) {
    const std::string symbol = name + std::to_string(i);
    code += " ldq $1," + symbol + "($29) !literal\n";
    data += " .globl " + symbol + "\n" + symbol + ": .quad 0\n";
  }
  return ".text\n" + code + " ret\n .end fill_" + name + "\n.data\n" + data;
}

/// A switch of four cases. `address` puts the address of `table` into $1.
std::string switching(const std::string& name, const std::string& address, int first) {
  std::string text = ".text\n.globl " + name + "\n.ent " + name + "\n" + name + ":\n" +
                     " ldgp $29,0($27)\n .prologue 1\n and $16,3,$2\n" + address +
                     " s4addq $2,$1,$1\n ldl $1,0($1)\n addq $1,$29,$1\n jmp ($1)\n";
  for (int i = 0; i < 4; ++i)
    text +=
        name + "_" + std::to_string(i) + ": lda $0," + std::to_string(first + i) + "($31)\n ret\n";
  text += ".end " + name + "\n.section .rodata\n.align 2\ntable_" + name + ":\n";
  for (int i = 0; i < 4; ++i) text += " .gprel32 " + name + "_" + std::to_string(i) + "\n";
  return text;
}

std::string gp_relative(const std::string& name) {
  return " ldah $1," + name + "($29) !gprelhigh\n lda $1," + name + "($1) !gprellow\n";
}
std::string through_slot(const std::string& name) {
  return " ldq $1," + name + "($29) !literal\n";
}

/// Exits with known(2) + other(1).
constexpr const char* kStart = R"(
.text
.globl _start
.ent _start
_start:
 br $29,1f
1: ldgp $29,0($29)
 lda $16,2($31)
 ldq $27,known($29) !literal!1
 jsr $26,($27),known !lituse_jsr!1
 ldgp $29,0($26)
 mov $0,$9
 lda $16,1($31)
 ldq $27,other($29) !literal!2
 jsr $26,($27),other !lituse_jsr!2
 ldgp $29,0($26)
 addq $9,$0,$16
 lda $0,1($31)
 callsys
.end _start
)";

Path two_tables(const std::string& name, const std::string& other_address) {
  const Path second = test_directory() / (name + "_second.s");
  // `other` follows the slots, so the words of its table also lead to code with the other gp.
  write_text(second, many_slots("b") + switching("other", other_address, 40));
  return assembled(name,
                   kStart + switching("known", gp_relative("table_known"), 10) + many_slots("a"),
                   second.string() + " -Wl,--no-relax");
}

TEST(Lift, TablesOfSeveralGps) {
  const Path path = two_tables("gps_known", gp_relative("table_other"));
  const Lifted lifted(path);
  ASSERT_EQ(lifted.program.gp_values.size(), 2u);
  for (const char* name : {"known", "other"}) {
    expect_movable(lifted, name);
    for (uint64_t i = 0; i < 4; ++i) {
      const CodePointer* word = lifted.pointer(lifted.symbol("table_" + std::string(name)) + 4 * i);
      ASSERT_NE(word, nullptr);
      EXPECT_EQ(word->base, lifted[name].gp);
      EXPECT_EQ(&lifted.program[word->target.procedure], &lifted[name]);
    }
  }
  expect_same_behaviour(path, 53);
}

TEST(Lift, TableThatNobodyNamesTheGpOf) {
  const Path path = two_tables("gps_unknown", through_slot("table_other"));
  const Lifted lifted(path);
  ASSERT_EQ(lifted.program.gp_values.size(), 2u);
  expect_movable(lifted, "known");
  EXPECT_EQ(lifted.pointer(lifted.symbol("table_other")), nullptr);
  EXPECT_FALSE(lifted["other"].movable());
  expect_same_behaviour(path, 53);
}

/// `other` has the gp of its only caller, but lies between procedures with other gps.
TEST(Lift, ProcedureWithoutGpOfItsOwn) {
  const Path second = test_directory() / "gps_none_second.s";
  std::string text = switching("other", gp_relative("table_other"), 40);
  text.erase(text.find(" ldgp"), std::string(" ldgp $29,0($27)\n .prologue 1\n").size());
  write_text(second, text +
                         ".text\n.ent forward\n.globl forward\nforward:\n ldgp $29,0($27)\n"
                         " .prologue 1\n br $31,other\n.end forward\n" +
                         many_slots("b"));
  std::string start = kStart;
  for (size_t at; (at = start.find("other")) != std::string::npos;) start.replace(at, 5, "forward");
  const Path path =
      assembled("gps_none",
                ".text\n.ent filler\nfiller:\n.rept 10000\n addq $1,1,$1\n.endr\n ret\n"
                ".end filler\n" +
                    start + switching("known", gp_relative("table_known"), 10) + many_slots("a"),
                second.string() + " -Wl,--no-relax");
  const Lifted lifted(path);
  ASSERT_EQ(lifted.program.gp_values.size(), 2u);
  EXPECT_FALSE(lifted["other"].movable());
  EXPECT_EQ(lifted.pointer(lifted.symbol("table_other")), nullptr);
  expect_movable(lifted, "known");
  expect_movable(lifted, "forward");
  expect_same_behaviour(path, 53);
}

/// `known` uses its table for one jump, `other` uses its table for two. `more`: other procedures.
Path tables_of_jumps(const std::string& name, const std::string& more) {
  const std::string dispatch = " s4addq $2,$1,$1\n ldl $1,0($1)\n addq $1,$29,$1\n jmp ($1)\n";
  std::string other = switching("other", gp_relative("table_other"), 40);
  other.insert(other.find(dispatch), " beq $16,2f\n" + dispatch + "2:");
  return assembled(name, kStart + switching("known", gp_relative("table_known"), 10) + other + more,
                   "");
}

TEST(Lift, TableThatBelongsToOneJump) {
  const Lifted lifted(tables_of_jumps("own_table", ""));
  const auto &known = lifted["known"].jump_tables, &other = lifted["other"].jump_tables;
  ASSERT_EQ(known.size(), 1u);
  ASSERT_NE(known[0].jump, kNone);
  EXPECT_EQ(lifted["known"].blocks[known[0].jump].successors.size(), 4u);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].jump, kNone);
}

TEST(Lift, TableThatAnotherProcedureNames) {
  const Lifted lifted(tables_of_jumps(
      "named_table", ".text\n.ent names\nnames:\n ldgp $29,0($27)\n .prologue 1\n" +
                         gp_relative("table_known") + " mov $1,$0\n ret\n.end names\n"));
  const auto& known = lifted["known"].jump_tables;
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].jump, kNone);
}

TEST(Lift, TableInARegisterThatACallChanged) {
  // Before the call $0 is the address of a table, after the call an index into another table.
  const Path path = assembled("across_call", R"(
.text
.globl _start
.ent _start
_start:
 br $29,1f
1: ldgp $29,0($29)
 ldah $9,table_right($29) !gprelhigh
 lda $9,table_right($9) !gprellow
 ldah $0,table_wrong($29) !gprelhigh
 lda $0,table_wrong($0) !gprellow
 bsr $26,one
 s4addq $0,$9,$1
 ldl $1,0($1)
 addq $1,$29,$1
 jmp ($1)
first: lda $16,3($31)
 br $31,leave
second: lda $16,5($31)
 br $31,leave
third: lda $16,9($31)
leave: lda $0,1($31)
 callsys
.end _start
.ent one
one: lda $0,1($31)
 ret
.end one
.globl gp
.ent gp
gp: ldgp $29,0($27)
 ret
.end gp
.section .rodata
.align 2
table_wrong: .gprel32 third
 .gprel32 third
table_right: .gprel32 first
 .gprel32 second
)",
                              "");
  const Lifted lifted(path);
  expect_movable(lifted, "_start");
  const auto& tables = lifted["_start"].jump_tables;
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].address, lifted.symbol("table_right"));
  expect_same_behaviour(path, 5);
}

// ---- labels ----

/// `jump` goes to the label `one`, or 12 bytes further to `two`; $17 points to memory. The program
/// exits with 7 if `one` was reached, else with 2. `more`: other procedures.
Path jump_to_label(const std::string& name, const std::string& way, const std::string& more = "") {
  return assembled(name, R"(
.text
.globl _start
.ent _start
_start:
 br $29,1f
1: ldgp $29,0($29)
 lda $30,-32($30)
 lda $16,0($31)
 mov $30,$17
 ldah $27,jump($29) !gprelhigh
 lda $27,jump($27) !gprellow
 jsr $26,($27)
 mov $0,$16
 lda $0,1($31)
 callsys
.end _start
.ent jump
jump:
 ldgp $29,0($27)
 lda $30,-32($30)
 mov $30,$15
 lda $0,0($31)
 ldah $1,one($29) !gprelhigh
 lda $1,one($1) !gprellow
)" + way + R"(
 jmp ($3)
one:
 lda $0,1($0)
 bne $16,two
 lda $0,4($0)
two:
 lda $0,2($0)
 lda $30,32($30)
 ret
.end jump
)" + more,
                   "");
}

/// A routine of one line that returns by the register `link`.
std::string routine(const std::string& name, const std::string& line, int link) {
  return ".globl " + name + "\n.ent " + name + "\n" + name + ":\n.frame $30,0,$" +
         std::to_string(link) + "\n " + line + "\n ret $31,($" + std::to_string(link) +
         "),1\n.end " + name + "\n";
}

TEST(Lift, LabelsThatAreOnlyPassedOn) {
  const std::string ways[] = {" mov $1,$3\n", " stq $1,8($30)\n ldq $3,8($30)\n"};
  int number = 0;
  for (const std::string& way : ways) {
    const Path path = jump_to_label("label_" + std::to_string(number++), way);
    expect_movable(Lifted(path), "jump");
    expect_same_behaviour(path, 7);
  }
  // $17 may point anywhere, so the store may overwrite the label's slot.
  const Path path =
      jump_to_label("label_stored", " stq $1,8($30)\n stq $1,16($17)\n ldq $3,8($30)\n");
  expect_left_alone(Lifted(path), "jump", "unknown indirect jump");
  expect_same_behaviour(path, 7);
}

TEST(Lift, LabelsAcrossDivisions) {
  const Path kept = jump_to_label("division", " mov $1,$3\n bsr $23,__divq\n",
                                  routine("__divq", "lda $27,4($31)", 23));
  expect_movable(Lifted(kept), "jump");
  expect_same_behaviour(kept, 7);
  // Another name; another register; a register that a division does change.
  const std::string other[] = {"bsr $23,divide", "mov $26,$5\n bsr $26,__divq\n mov $5,$26"};
  int number = 0;
  for (const std::string& call : other) {
    const Path path = jump_to_label(
        "no_division_" + std::to_string(number), " mov $1,$3\n " + call + "\n",
        routine(number == 0 ? "divide" : "__divq", "addq $3,12,$3", number == 0 ? 23 : 26));
    expect_left_alone(Lifted(path), "jump", "unknown indirect jump");
    expect_same_behaviour(path, 2);
    ++number;
  }
  const Path changed =
      jump_to_label("division_result", " mov $1,$27\n bsr $23,__divq\n mov $27,$3\n",
                    routine("__divq", "addq $27,12,$27", 23));
  expect_left_alone(Lifted(changed), "jump", "unknown indirect jump");
  expect_same_behaviour(changed, 2);
}

TEST(Lift, LabelsThatAreCompared) {
  const Path same = jump_to_label("compared",
                                  " mov $1,$3\n cmpeq $1,$3,$4\n addq $0,$4,$0\n"
                                  " subq $0,$4,$0\n");
  expect_movable(Lifted(same), "jump");
  expect_same_behaviour(same, 7);
  // Which of two addresses is lower depends on the layout.
  const Path order = jump_to_label("ordered", " mov $1,$3\n cmpult $1,$27,$4\n addq $0,$4,$0\n");
  expect_left_alone(Lifted(order), "jump", "unknown indirect jump");
}

TEST(Lift, LabelsThatAreComputedWithOutOfSight) {
  const std::string ways[] = {
      // stored by one frame register, loaded by the other
      " addq $1,12,$2\n stq $2,8($15)\n ldq $3,8($30)\n",
      " addq $1,12,$2\n stq $2,8($30)\n ldq $3,8($15)\n",
      " stq $1,8($15)\n ldq $2,8($30)\n addq $2,12,$2\n stq $2,0($17)\n ldq $3,0($17)\n",
      // through memory that is not the stack
      " addq $1,12,$2\n stq $2,0($17)\n ldq $3,0($17)\n",
      " stq $1,0($17)\n ldq $2,0($17)\n addq $2,12,$2\n stq $2,0($17)\n ldq $3,0($17)\n",
      // through the stack, but by its address
      " lda $4,8($30)\n stq $1,8($30)\n ldq $2,0($4)\n addq $2,12,$2\n stq $2,0($4)\n"
      " ldq $3,0($4)\n",
  };
  int number = 0;
  for (const std::string& way : ways) {
    SCOPED_TRACE(way);
    const Path path = jump_to_label("computed_" + std::to_string(number++), way);
    expect_left_alone(Lifted(path), "jump", "unknown indirect jump");
    expect_same_behaviour(path, 2);
  }
}

// ---- halves of addresses ----

/// A function in a section of its own: its address is the section's symbol, without an addend.
std::string section_of(const std::string& name, const std::string& body) {
  return ".section .text." + name + ",\"ax\",@progbits\n.align 4\n.globl " + name + "_\n.ent " +
         name + "\n" + name + "_:\n" + name + ":\n" + body + ".end " + name + "\n";
}

/// Exits with the sum of pick(0) and three times pick(1). `low` returns 11, `high` 22; their
/// addresses differ in both halves, but not in their relocations.
Path two_addresses(const std::string& name, const std::string& pick, const std::string& data = "") {
  return assembled(name,
                   section_of("low", " lda $0,11($31)\n ret\n") + ".space 0x28000\n" +
                       section_of("high", " lda $0,22($31)\n ret\n") + ".space 0x9000\n" +
                       section_of("pick", " ldgp $29,0($27)\n" + pick) + R"(
.text
.globl _start
.ent _start
_start:
 br $29,1f
1: ldgp $29,0($29)
 lda $30,-32($30)
 lda $16,1($31)
 ldq $27,pick_($29) !literal!1
 jsr $26,($27),pick_ !lituse_jsr!1
 ldgp $29,0($26)
 s4subq $0,$0,$9
 lda $16,0($31)
 ldq $27,pick_($29) !literal!2
 jsr $26,($27),pick_ !lituse_jsr!2
 ldgp $29,0($26)
 addq $9,$0,$16
 lda $0,1($31)
 callsys
.end _start
)" + data,
                   "-Wl,--no-relax");
}

/// Each lower half is nearest to the upper half of the other address. `kept` is code after the
/// upper halves, `again` code before the lower halves, `base` the register of the lower halves.
std::string crossed(const std::string& kept, const std::string& again, const std::string& base) {
  return " lda $30,-16($30)\n beq $16,2f\n br $31,1f\n"
         "2: ldah $1,high($29) !gprelhigh\n" +
         kept +
         " br $31,4f\n"
         "3: " +
         again + " lda $27,low(" + base +
         ") !gprellow\n br $31,5f\n"
         "1: ldah $1,low($29) !gprelhigh\n" +
         kept +
         " br $31,3b\n"
         "4: " +
         again + " lda $27,high(" + base +
         ") !gprellow\n"
         "5: lda $30,16($30)\n jmp $31,($27)\n";
}

TEST(Lift, HalvesOfTwoAddresses) {
  const Path path = two_addresses("halves", crossed("", "", "$1"));
  for (const char* name : {"pick", "low", "high"}) expect_movable(Lifted(path), name);
  expect_same_behaviour(path, 55);
  const Path copied = two_addresses("halves_copied", crossed(" mov $1,$2\n", "", "$2"));
  for (const char* name : {"pick", "low", "high"}) expect_movable(Lifted(copied), name);
  expect_same_behaviour(copied, 55);
}

TEST(Lift, HalfThatComesOutOfMemory) {
  const Path path =
      two_addresses("halves_stored", crossed(" stq $1,8($30)\n", "ldq $1,8($30)\n", "$1"));
  const Lifted lifted(path);
  expect_left_alone(lifted, "pick", "which upper half");
  for (const char* name : {"low", "high"})
    expect_left_alone(lifted, name, "by which upper half is not known");
  expect_same_behaviour(path, 55);
}

TEST(Lift, HalvesThatServeSeveral) {
  const Path path = two_addresses("halves_shared", R"(
 beq $16,2f
 cmpeq $16,1,$2
 bne $2,1f
 ldah $1,low($29) !gprelhigh
 br $31,3f
2: ldah $1,high($29) !gprelhigh
 br $31,4f
3: lda $27,low($1) !gprellow
 jmp $31,($27)
1: ldah $1,low($29) !gprelhigh
 bne $16,3b
 lda $27,low($1) !gprellow
 jmp $31,($27)
4: lda $27,high($1) !gprellow
 jmp $31,($27)
)");
  for (const char* name : {"pick", "low", "high"}) expect_movable(Lifted(path), name);
  expect_same_behaviour(path, 55);
}

TEST(Lift, HalvesOfTwoTables) {
  const std::string dispatch = " ldl $1,0($1)\n addq $1,$29,$1\n jmp ($1)\n";
  const Path path = two_addresses("halves_tables",
                                  " beq $16,2f\n br $31,1f\n"
                                  "2: ldah $1,bottom($29) !gprelhigh\n br $31,4f\n"
                                  "3: lda $1,top($1) !gprellow\n" +
                                      dispatch +
                                      "1: ldah $1,top($29) !gprelhigh\n br $31,3b\n"
                                      "4: lda $1,bottom($1) !gprellow\n" +
                                      dispatch +
                                      "case_top: lda $0,11($31)\n ret\n"
                                      "case_bottom: lda $0,22($31)\n ret\n",
                                  ".section .rodata.top,\"a\",@progbits\n.align 2\n"
                                  "top: .gprel32 case_top\n.space 0x18000\n"
                                  ".section .rodata.bottom,\"a\",@progbits\n.align 2\n"
                                  "bottom: .gprel32 case_bottom\n");
  const Lifted lifted(path);
  expect_movable(lifted, "pick");
  std::vector<uint64_t> tables;
  for (const JumpTable& table : lifted["pick"].jump_tables) tables.push_back(table.address);
  std::sort(tables.begin(), tables.end());
  EXPECT_EQ(tables, (std::vector<uint64_t>{lifted.symbol("top"), lifted.symbol("bottom")}));
  expect_same_behaviour(path, 55);
}

// ---- sequences ----

/// Adds 2 to 40 by load-locked and store-conditional, with `border` between the two.
Path lock_across(const std::string& name, const std::string& border) {
  return assembled(name, R"(
.text
.globl _start
.ent _start
_start:
 br $29,1f
1: ldgp $29,0($29)
 lda $30,-32($30)
 lda $1,40($31)
 stq $1,0($30)
 mov $30,$16
 bsr $26,add.cold
 ldq $16,0($30)
 lda $0,1($31)
 callsys
.end _start
.globl gp
.ent gp
gp: ldgp $29,0($27)
 ret
.end gp
.align 4
.type add.cold,@function
add.cold:
 ldq_l $0,0($16)
 addq $0,2,$1
)" + border + R"(
 stq_c $1,0($16)
 beq $1,add.cold
 ret
)",
                   "");
}

TEST(Lift, SequenceThatRunsIntoTheEntry) {
  // The piece that the compiler split off lies before the entry.
  const Path path =
      lock_across("into_entry", ".size add.cold,.-add.cold\n.type add,@function\nadd:\n");
  expect_left_alone(Lifted(path), "add", "must stay contiguous");
  expect_same_behaviour(path, 42);
}

TEST(Lift, SequenceThatRunsIntoAnotherProcedure) {
  for (const std::string branch : {"", " bne $1,next\n"}) {
    const Path path =
        lock_across("into_next" + std::to_string(branch.size() / 10),
                    branch + ".size add.cold,.-add.cold\n.type next,@function\nnext:\n");
    expect_left_alone(Lifted(path), "add.cold", "must stay contiguous");
    expect_left_alone(Lifted(path), "next", "control runs into it");
    expect_same_behaviour(path, 42);
  }
}

// ---- symbols and dynamic relocations ----

TEST(Lift, SymbolInTheMiddleOfAnInstruction) {
  const Path path = lock_across("odd_symbol", "odd = . - 2\n");
  expect_left_alone(Lifted(path), "add.cold", "the symbol odd names the middle of an instruction");
  expect_same_behaviour(path, 42);
}

TEST(Lift, DynamicRelocationToTheMiddleOfAProcedure) {
  const Path library = compile("libmiddle.s", R"(
.text
.globl f
.ent f
f:
 ldgp $29,0($27)
 .prologue 1
 lda $0,1($31)
 ldah $1,labels($29) !gprelhigh
 lda $1,labels($1) !gprellow
 s8addq $16,$1,$1
 ldq $1,0($1)
 jmp ($1)
one:
 lda $0,4($0)
two:
 lda $0,2($0)
 ret
.end f
.globl g
.ent g
g:
 ldgp $29,0($27)
 .prologue 1
 ldq $1,inside($29) !literal
 ldq $0,0($1)
 ret
.end g
.section .data.rel.local,"aw"
labels: .quad one, two
.data
.globl inside
inside: .quad f+36
)",
                               "-shared -Wl,-soname,libmiddle.so", "libmiddle.so");
  const Path original = library.string() + ".original";
  std::filesystem::rename(library, original);
  const Lifted lifted(original);
  expect_left_alone(lifted, "f", "the dynamic relocation");
  std::filesystem::copy(original, library);
  const Path program = compile("middle.c", R"(
long f(long);
long (*g(void))(long);
int main(void) { return f(0) * 16 + f(1) * 4 + ((char*)g() - (char*)f == 36); }
)",
                               "./libmiddle.so -Wl,-rpath," + test_directory().string(), "middle");
  const CommandResult expected = run_alpha(program);
  EXPECT_EQ(WEXITSTATUS(expected.status), 7 * 16 + 3 * 4 + 1);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    OptimizeOptions options;
    options.order = OptimizeOptions::Order::scatter;
    options.seed = seed;
    Diagnostics diagnostics;
    write_file(library, optimize(lifted.image, options, diagnostics).bytes, original);
    EXPECT_EQ(run_alpha(program), expected) << seed;
  }
}

}  // namespace
}  // namespace respike
