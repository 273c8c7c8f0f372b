#pragma once
// Programs of the text cases of tests/ir with everything that the text form leaves out: addresses,
// an image, an order of the code. tests/ir/README.md describes the lines.

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/ir/program.h"
#include "tests/unit/fake_machine.h"

namespace respike {

/// The roles of relocations, by the names that cases use.
std::string_view name_of(RelocationRole role);

/// The machine that the line `program MACHINE` of a case names; `fake` unless that is a real one.
const Machine& machine_of(const std::string& text, const Machine& fake);

/// A program that stands somewhere in an image. Blocks without an address follow each other,
/// procedures without one start at the next multiple of 16, the first at 0x1000.
class TextProgram {
  const Machine fake_;  // before `program`, which refers to it

 public:
  explicit TextProgram(const std::string& text, uint64_t reach = FakeMachine::kReach,
                       uint64_t conditional_reach = FakeMachine::kReach);
  TextProgram(const TextProgram&) = delete;

  Program program;
  Image image;
  std::vector<Layout::Fragment> fragments;  // of lines `with: fragment`

  /// That of the lines `with: fragment`; without them that of the input.
  Layout layout() const;

 private:
  void read_line(std::string_view line);
  void read_section(std::string_view line);
  void give_addresses();
  void give_addresses(ProcedureId id);
  void make_image();
  void make_symbols();
  void write_code();

  std::vector<uint8_t> file_;
  std::deque<std::string> names_;  // of symbols
  struct Word {
    uint64_t address = 0, value = 0;
    unsigned bytes = 4;
  };
  std::vector<Word> words_;
  struct NamedRelocation {
    Relocation relocation;
    std::string symbol;
  };
  std::vector<NamedRelocation> relocations_;
};

/// An image as text: code with its relocations, words of data, symbols.
std::string list_image(const Image& image, const Machine& machine);

}  // namespace respike
