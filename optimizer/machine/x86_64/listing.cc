// x86-64 code as llvm-objdump lists it.
//
// Respike's decoder finds the starts of instructions and the targets of branches; LLVM's printer
// writes the text. Where LLVM takes a prefix for a separate instruction, the texts are joined.
// Bytes that do not decode are listed one by one.
//
// Example: 74 02 at 0x1000 becomes a line with the code "74 02", the text "je\t0x1004" and the
// target 0x1004.

#include "optimizer/machine/x86_64/listing.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "optimizer/base/error.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike {
namespace {

using namespace x86_64;

enum Variant : unsigned { kAtt = 0, kIntel = 1 };  // LLVM's numbers of its printers

const llvm::Triple& triple() {
  static const llvm::Triple kept("x86_64-linux-gnu");
  return kept;
}

/// The form in which most of LLVM's functions take the triple.
const auto& triple_name() {
#if LLVM_VERSION_MAJOR >= 22
  return triple();
#else
  return triple().str();
#endif
}

const llvm::Target& target() {
  static const llvm::Target* const kept = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    std::string message;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple_name(), message);
    if (found == nullptr) throw Error(message);
    return found;
  }();
  return *kept;
}

/// LLVM's disassembler and printer. Each thread needs its own.
class Printer {
 public:
  explicit Printer(Variant variant)
      : registers_(target().createMCRegInfo(triple_name())),
        assembler_(target().createMCAsmInfo(*registers_, triple_name(), options_)),
        subtarget_(target().createMCSubtargetInfo(triple_name(), "", "")),
        instructions_(target().createMCInstrInfo()),
        context_(triple(), assembler_.get(), registers_.get(), subtarget_.get()),
        disassembler_(target().createMCDisassembler(*subtarget_, context_)),
        printer_(target().createMCInstPrinter(triple(), variant, *assembler_, *instructions_,
                                              *registers_)) {
    printer_->setPrintBranchImmAsAddress(true);
    printer_->setPrintImmHex(true);
  }

  /// The text of the instruction that is all of `code`.
  std::string print(std::span<const uint8_t> code, uint64_t address) const;

 private:
  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembler_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

std::string Printer::print(std::span<const uint8_t> code, uint64_t address) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (size_t at = 0; at < code.size();) {
    llvm::MCInst instruction;
    uint64_t size = 0;
    const llvm::ArrayRef<uint8_t> rest(code.data() + at, code.size() - at);
    if (disassembler_->getInstruction(instruction, size, rest, address + at, llvm::nulls()) !=
        llvm::MCDisassembler::Success)
      return "(not known to LLVM)";
    if (at != 0) out << ' ';
    at += size;
    // LLVM computes the targets of branches from the address that is passed here.
    printer_->printInst(&instruction, address + at, "", *subtarget_, out);
  }
  return text.substr(text.find_first_not_of('\t'));
}

std::string bytes_text(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes)
    fmt::format_to(std::back_inserter(text), "{}{:02x}", text.empty() ? "" : " ", byte);
  return text;
}

class X8664Listing final : public Listing {
 public:
  explicit X8664Listing(Variant variant) : variant_(variant) {}

  unsigned unit() const override { return 1; }

  using Listing::list;
  size_t list(std::span<const uint8_t> code, size_t end, uint64_t address,
              std::vector<ListedLine>& lines) const override {
    const Printer printer(variant_);
    size_t at = 0;
    while (at < end) {
      const Decoded decoded = decode_unit(code.subspan(at));
      const auto bytes = code.subspan(at, std::max<size_t>(decoded.length, 1));
      ListedLine line{address + at, bytes_text(bytes), "(bad)", {}};
      if (decoded.valid()) {
        line.text = printer.print(bytes, line.address);
        if (is_direct(form_of(decoded)))
          line.target = line.address + decoded.length +
                        static_cast<uint64_t>(branch_distance(decoded, bytes.data()));
      }
      lines.push_back(std::move(line));
      at += bytes.size();
    }
    return at;
  }

 private:
  Variant variant_;
};

}  // namespace

const Listing& x86_64_listing() {
  static const X8664Listing listing(kAtt);
  return listing;
}

const Listing& x86_64_manual_listing() {
  static const X8664Listing listing(kIntel);
  return listing;
}

}  // namespace respike
