// Decoder, encoder, printer and parser of the IA-64 target against GNU objdump.
//
// RESPIKE_IA64_CODEC_IMAGES, a list of ELF images separated by colons, adds real programs.

#include <gtest/gtest.h>
#include <time.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/text.h"
#include "tests/unit/temporary_folder.h"

namespace respike::ia64 {
namespace {

constexpr const char* kObjdump = "ia64-linux-gnu-objdump";

bool have_objdump() {
  return std::system((std::string(kObjdump) + " --version > /dev/null 2>&1").c_str()) == 0;
}

using BundleBytes = std::array<uint8_t, kBundleSize>;

/// objdump's text of a bundle. objdump prints the X slot of a bundle in place of the L slot.
struct Listed {
  uint64_t address = 0;
  BundleBytes bytes{};
  std::string text[3];  // without the template
  std::string name;     // of the template
};

/// objdump's text without the symbol, which our printer leaves out, and without the 0x that objdump
/// puts before addresses if an image has no symbols.
std::string normalise(std::string text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
  const bool stop = text.ends_with(";;");
  const size_t symbol = text.find(" <");
  if (symbol != std::string::npos) text = text.substr(0, symbol) + (stop ? ";;" : "");
  const size_t mnemonic = text.starts_with("(p") ? text.find(')') + 2 : 0;
  const std::string_view rest = std::string_view(text).substr(mnemonic);
  const bool has_address = (rest.starts_with("br") && !rest.starts_with("break")) ||
                           rest.starts_with("chk") || rest.starts_with("fchkf") ||
                           (rest.starts_with("mov") && rest.find(" b") < rest.find('='));
  for (size_t at = text.find("0x"); has_address && at != std::string::npos; at = text.find("0x"))
    text.erase(at, 2);
  return text;
}

/// Reads lines such as "   4006:\t00 02 30 00 42 20 \t            mov r32=r12".
std::vector<Listed> run_objdump(const std::string& arguments) {
  const std::string command = std::string(kObjdump) + " " + arguments;
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::vector<Listed> bundles;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    char* end = nullptr;
    const uint64_t address = strtoull(buffer, &end, 16);
    if (end == buffer || *end != ':' || end[1] != '\t') continue;
    const size_t offset = address % kBundleSize;
    if (offset == 0) bundles.emplace_back().address = address;
    Listed& bundle = bundles.back();
    const char* at = end + 2;
    for (size_t i = offset; i < std::min<size_t>(kBundleSize, offset + 6); ++i) {
      bundle.bytes[i] = static_cast<uint8_t>(strtoul(at, &end, 16));
      at = end;
    }
    const char* tab = strchr(at, '\t');
    if (tab == nullptr) continue;
    std::string text = tab + 1;
    if (text.starts_with('[')) {
      bundle.name = text.substr(1, 3);
      text = text.substr(5);
    }
    const size_t start = text.find_first_not_of(' ');
    bundle.text[offset / 6] = normalise(text.substr(std::min(start, text.size())));
  }
  return bundles;
}

std::vector<Listed> disassemble(const std::vector<BundleBytes>& bundles) {
  const TemporaryFolder directory;
  const std::string file = directory / "bundles";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bundles.data()),
             static_cast<std::streamsize>(bundles.size() * kBundleSize));
  return run_objdump("-D -z -b binary -m ia64 " + file);
}

std::string hex(const BundleBytes& bytes) {
  std::string text;
  char digits[4];
  for (uint8_t byte : bytes) {
    snprintf(digits, sizeof digits, "%02x ", byte);
    text += digits;
  }
  return text;
}

/// The difference between objdump and us for one bundle, in text and encoding; empty if there is
/// none.
std::string difference(const Listed& listed) {
  Instruction slots[3];
  decode_bundle(listed.bytes.data(), 0, slots);
  BundleBytes encoded{};
  if (!encode_bundle(slots, encoded.data()) || encoded != listed.bytes)
    return "encoded " + hex(encoded);
  if (kTemplates[listed.bytes[0] & 31].name != listed.name) return "template " + listed.name;
  const bool is_long = unit(slots[1]) == Unit::l;
  for (int slot = 0; slot < 3; ++slot) {
    if (is_long && slot == 1) continue;
    const std::string& expected = listed.text[is_long && slot == 2 ? 1 : slot];
    const std::string text = print(slots[slot], slots[1], listed.address);
    if (text != expected) return "objdump \"" + expected + "\", Respike \"" + text + "\"";
  }
  return {};
}

void compare(const std::vector<Listed>& bundles) {
  size_t differences = 0;
  for (const Listed& listed : bundles) {
    const std::string problem = difference(listed);
    if (problem.empty()) continue;
    if (++differences <= 20)
      ADD_FAILURE() << std::hex << listed.address << ": " << hex(listed.bytes) << problem;
  }
  std::cout << bundles.size() << " bundles compared, " << differences << " differ\n";
}

BundleBytes make_bundle(unsigned code, const uint64_t (&slots)[3]) {
  BundleBytes bytes;
  store(bytes.data(), code | slots[0] << 5 | slots[1] << 46);
  store(bytes.data() + 8, slots[1] >> 18 | slots[2] << 23);
  return bytes;
}

/// Valid templates, with every combination of units.
constexpr unsigned kUsedTemplates[] = {0x00, 0x02, 0x04, 0x08, 0x0a, 0x0c,
                                       0x0e, 0x10, 0x12, 0x16, 0x18, 0x1c};

std::vector<BundleBytes> random_bundles(size_t count) {
  std::mt19937_64 random(1);
  std::vector<BundleBytes> bundles;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t slots[] = {random() & kSlotMask, random() & kSlotMask, random() & kSlotMask};
    bundles.push_back(make_bundle(i % 32, slots));
  }
  return bundles;
}

/// Random bits, but fields are often 0, 1, all ones, or equal to the field before: the values from
/// which pseudo-ops are made. Sometimes two fields add up to 64 or 63.
uint64_t biased_slot(std::mt19937_64& random) {
  uint64_t slot = random() & kSlotMask;
  for (unsigned at = 6; at < 34; at += 7) {
    const uint64_t before = at == 6 ? 0 : slot >> (at - 7) & 127;
    const uint64_t choices[] = {0, 1, 127, before, 0, 1, 2};
    const uint64_t choice = random() % 12;
    if (choice < 7) slot = (slot & ~(uint64_t{127} << at)) | choices[choice] << at;
  }
  if (random() % 4 == 0) slot &= ~uint64_t{63};
  if (random() % 4 == 0) {  // extr and dep.z: length and position
    const uint64_t position = slot >> 14 & 63;
    const unsigned place = random() % 2 == 0 ? 14 : 20;
    slot = (slot & ~(uint64_t{63} << 27)) | (63 - position) << 27;
    slot = (slot & ~(uint64_t{63} << place)) | (place == 14 ? position : 63 - position) << place;
  }
  return slot;
}

std::vector<BundleBytes> biased_bundles(size_t count) {
  std::mt19937_64 random(2);
  std::vector<BundleBytes> bundles;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t slots[] = {biased_slot(random), biased_slot(random), biased_slot(random)};
    bundles.push_back(make_bundle(kUsedTemplates[i % std::size(kUsedTemplates)], slots));
  }
  return bundles;
}

/// All values of bits 40:26, which hold opcodes, on every unit, with different bits below.
std::vector<BundleBytes> systematic_bundles() {
  constexpr unsigned kAllUnits[] = {0x00, 0x04, 0x0c, 0x16};  // MII, MLX, MFI, BBB
  constexpr uint64_t kLow[] = {0, 0x3ffffc0, 0x80000, 0x1000, 0xc40, 0x2000, 0x0101040};
  std::vector<BundleBytes> bundles;
  for (uint64_t high = 0; high < 1 << 15; ++high) {
    for (uint64_t low : kLow) {
      const uint64_t slot = high << 26 | low;
      for (unsigned code : kAllUnits) bundles.push_back(make_bundle(code, {slot, slot, slot}));
    }
  }
  return bundles;
}

/// Bundles of each row, with all fields 0, all ones, and random.
std::vector<BundleBytes> bundles_of_rows() {
  std::mt19937_64 random(3);
  std::vector<BundleBytes> bundles;
  for (size_t op = kFirstRow; op < kOpCount; ++op) {
    const Codec& codec = kEncodings[op].codec;
    for (int i = 0; i < 200; ++i) {
      const uint64_t fields = i == 0    ? 0
                              : i == 1  ? kSlotMask
                              : i < 100 ? biased_slot(random)
                                        : random();
      const uint64_t slot = codec.match | (fields & kSlotMask & ~codec.mask);
      for (unsigned code : {0x00, 0x04, 0x0c, 0x16}) {
        const uint64_t other = code == 0x04 ? random() & kSlotMask : slot;
        bundles.push_back(make_bundle(code, {slot, other, slot}));
      }
    }
  }
  return bundles;
}

void compare_with_objdump(const std::vector<BundleBytes>& bundles) {
  if (!have_objdump()) GTEST_SKIP() << "no " << kObjdump;
  const auto listed = disassemble(bundles);
  ASSERT_EQ(listed.size(), bundles.size());
  compare(listed);
}

TEST(Ia64Codec, PrintsEveryOpcodeAsObjdump) {
  compare_with_objdump(systematic_bundles());
}

TEST(Ia64Codec, PrintsEveryRowAsObjdump) {
  compare_with_objdump(bundles_of_rows());
}

TEST(Ia64Codec, PrintsRandomBundlesAsObjdump) {
  compare_with_objdump(random_bundles(200'000));
}

TEST(Ia64Codec, PrintsBiasedBundlesAsObjdump) {
  compare_with_objdump(biased_bundles(400'000));
}

TEST(Ia64Codec, PrintsImagesAsObjdump) {
  const char* images = getenv("RESPIKE_IA64_CODEC_IMAGES");
  if (images == nullptr || !have_objdump()) GTEST_SKIP() << "RESPIKE_IA64_CODEC_IMAGES is not set";
  std::istringstream list(images);
  for (std::string image; std::getline(list, image, ':');) {
    const auto listed = run_objdump("-d -z " + image);
    EXPECT_FALSE(listed.empty()) << image;
    compare(listed);
  }
}

TEST(Ia64Codec, RoundTripsEveryBundle) {
  std::vector<BundleBytes> bundles = systematic_bundles();
  for (const auto& more : {random_bundles(1'000'000), biased_bundles(500'000)})
    bundles.insert(bundles.end(), more.begin(), more.end());
  std::vector<Instruction> slots(3 * bundles.size());
  decode_bundles(bundles[0].data(), bundles.size(), 0x100, slots.data());
  size_t wrong = 0;
  for (size_t i = 0; i < bundles.size(); ++i) {
    BundleBytes encoded{};
    wrong += !encode_bundle(&slots[3 * i], encoded.data()) || encoded != bundles[i];
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(slots[3].origin, 0x110u);
  EXPECT_EQ(slots[5].origin, 0x112u);
}

/// The instruction without the parts that its text does not show: ignored bits, and the unit of
/// type A.
Instruction shown(Instruction instruction) {
  const Codec& codec = encoding_of(instruction).codec;
  if (op_of(instruction) == Op::long_half) instruction.registers[0] = 0;
  for (unsigned field = 0; field < 4; ++field)
    if ((codec.spare_fields & 1u << field) != 0) instruction.registers[field] = 0;
  if (codec.spare != 0 && (codec.spare_fields & 1u << kImmediateField) != 0)
    instruction.immediate = 0;
  instruction.flags &= kStop;
  instruction.origin = kNone;
  return instruction;
}

/// objdump prints neither the tag of `mov b0=r2` nor the number of a slot without an instruction.
bool loses_bits(const std::string& text) {
  return text.find("mov b") != std::string::npos && text.find(',') == std::string::npos;
}

TEST(Ia64Codec, ParsesWhatItPrints) {
  std::vector<BundleBytes> bundles = bundles_of_rows();
  const auto more = biased_bundles(50'000);
  bundles.insert(bundles.end(), more.begin(), more.end());
  const uint64_t address = 0x4000000000001000;
  size_t differences = 0;
  for (const BundleBytes& bundle : bundles) {
    Instruction slots[3];
    decode_bundle(bundle.data(), 0, slots);
    for (int slot = 0; slot < 3; ++slot) {
      if (op_of(slots[slot]) == Op::invalid) continue;
      const std::string text = print(slots[slot], slots[1], address + slot);
      const Parsed parsed = parse(text, address + slot);
      const bool is_long = unit(slots[slot]) == Unit::x;
      const bool same = shown(parsed.instruction) == shown(slots[slot]) &&
                        (!is_long || parsed.high.immediate == slots[1].immediate);
      if (print(parsed.instruction, parsed.high, address) == text && (same || loses_bits(text)))
        continue;
      if (++differences <= 20) {
        ADD_FAILURE() << hex(bundle) << text << " became "
                      << print(parsed.instruction, parsed.high, address);
      }
    }
  }
  EXPECT_EQ(differences, 0u);
}

Instruction parse_one(std::string_view text) {
  return parse(text, 0x1000).instruction;
}

TEST(Ia64Codec, ParsesWhatPeopleWrite) {
  const Instruction add = parse_one("  (p6)  add r14 = r2 , r3 ;; ");
  EXPECT_EQ(op_of(add), Op::add);
  EXPECT_EQ(add.predicate, 6);
  EXPECT_TRUE(has_stop(add));
  EXPECT_EQ(unit(add), Unit::none);
  EXPECT_EQ(parse_one("mov r8=5"), parse_one("addl r8=5,r0"));
  EXPECT_EQ(parse_one("mov r8=r9"), parse_one("adds r8=0,r9"));
  EXPECT_EQ(parse_one("shl r8=r9,0x3"), parse_one("dep.z r8=r9,3,61"));
  EXPECT_EQ(parse_one("br.few 1040"), parse_one("br.cond.sptk.few 0x1040"));
  EXPECT_EQ(parse_one("br.few 1040").immediate, 0x40);
  EXPECT_EQ(op_of(parse_one("br.few b6")), Op::br_cond_ind);
  EXPECT_EQ(parse_one("mov.i ar65=r2"), parse_one("mov.i ar.lc=r2"));
  EXPECT_EQ(op_of(parse_one("(p7) br.cond.dptk.many.clr 2000")), Op::br_cond);
  const Parsed movl = parse("movl r3=0x123456789abcdef0;;", 0);
  EXPECT_EQ(movl.instruction.immediate, static_cast<int32_t>(0x9abcdef0));
  EXPECT_EQ(movl.high.immediate, 0x12345678);
}

TEST(Ia64Codec, RefusesWhatIsNoInstruction) {
  for (const char* text : {"",
                           ";;",
                           "(p6)",
                           "frobnicate r1",
                           "add r1=r2",
                           "add r1=r2,r128",
                           "add r1=r2,f3",
                           "adds r1=8192,r2",
                           "adds r1=-8193,r2",
                           "adds r1=0x100000001,r2",
                           "addl r1=1,r4",
                           "(p64) nop.m 0",
                           "(p6) br.cloop.sptk.few 0",
                           "br.few 1008",
                           "br.few 1001000",
                           "ld16 r1=[r2]",
                           "ld3 r1=[r2]",
                           "ld8.bogus r1=[r2]",
                           "fetchadd4.acq r1=[r2],3",
                           "dep.z r1=r2,3,65",
                           "shladd r1=r2,5,r3",
                           "mux1 r1=r2,@bogus",
                           "nop.m 0x200000",
                           "data8 0x20000000000",
                           "movl r1=0x10000000000000000",
                           "mov r1=r2 r3",
                           "cmp.eq p64,p0=r1,r2",
                           "brp.sptk 0,99999999999"}) {
    EXPECT_THROW(parse(text, 0x1000), Error) << text;
  }
}

TEST(Ia64Codec, ParserSurvivesDamagedText) {
  std::mt19937_64 random(4);
  const std::string letters = "abcdeflmnoprstuvxz0123456789.,=[]() @-;%#";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "(p6) ld8.acq.nta r14=[r2],8;;";
    for (int k = 0; k < 3; ++k) text[random() % text.size()] = letters[random() % letters.size()];
    try {
      const Parsed parsed = parse(text, 0);
      EXPECT_EQ(parse(print(parsed.instruction, parsed.high, 0), 0).instruction, parsed.instruction)
          << text;
    } catch (const Error&) {
    }
  }
}

TEST(Ia64Codec, ChoosesTheTemplate) {
  const auto slot = [](Op op, Unit unit, bool stop) {
    Instruction instruction{.opcode = opcode(op)};
    set_unit(instruction, unit);
    set_stop(instruction, stop);
    return instruction;
  };
  BundleBytes bytes{};
  const auto code = [&](std::vector<Instruction> slots) -> int {
    return encode_bundle(slots.data(), bytes.data()) ? bytes[0] & 31 : -1;
  };
  const Instruction m = slot(Op::add, Unit::m, false), i = slot(Op::add, Unit::i, false);
  const Instruction m_stop = slot(Op::add, Unit::m, true), i_stop = slot(Op::add, Unit::i, true);
  const Instruction b_stop = slot(Op::nop_b, Unit::b, true), b = slot(Op::nop_b, Unit::b, false);
  const Instruction f = slot(Op::nop_f, Unit::f, false);
  EXPECT_EQ(code({m, i, i}), 0x00);
  EXPECT_EQ(code({m, i_stop, i_stop}), 0x03);
  EXPECT_EQ(code({m_stop, m, i}), 0x0a);
  EXPECT_EQ(code({m, m, f}), 0x0e);
  EXPECT_EQ(code({m, b, b_stop}), 0x13);
  EXPECT_EQ(code({b, b, b}), 0x16);
  EXPECT_EQ(code({m, slot(Op::long_half, Unit::l, false), slot(Op::movl, Unit::x, true)}), 0x05);
  EXPECT_EQ(code({m_stop, i, i}), -1);  // there is no such template
  EXPECT_EQ(code({i, m, i}), -1);
  EXPECT_EQ(code({m, slot(Op::nop_b, Unit::i, false), i}), -1);  // not on this unit
  EXPECT_EQ(code({m, slot(Op::long_half, Unit::l, false), slot(Op::invalid, Unit::x, false)}), -1);
  EXPECT_EQ(code({slot(Op::add, Unit::none, false), m, i}), -1);
}

TEST(Ia64Codec, ExpandsLongNumbers) {
  const Unit units[] = {Unit::m, Unit::l, Unit::x};
  const auto round_trip = [&](const char* text, uint64_t address) {
    const Parsed parsed = parse(text, address);
    Instruction slots[] = {parse("nop.m 0", 0).instruction, parsed.high, parsed.instruction};
    BundleBytes bytes{};
    EXPECT_TRUE(encode_bundle(slots, bytes.data()));
    Instruction decoded[3];
    decode_bundle(bytes.data(), 0, decoded);
    EXPECT_EQ(print(decoded[2], decoded[1], address), text);
    return expand(decoded[2], decoded[1]).immediate;
  };
  EXPECT_TRUE(find_template(units, {false, false, true}).has_value());
  EXPECT_EQ(round_trip("movl r4=0x8000000000000001;;", 0), INT64_MIN + 1);
  EXPECT_EQ(round_trip("movl r4=0xffffffffffffffff;;", 0), -1);
  EXPECT_EQ(round_trip("movl r4=0x123456789abcdef", 0), 0x123456789abcdef);
  EXPECT_EQ(round_trip("break.x 0x3fffffffffffffff", 0), 0x3fffffffffffffff);
  EXPECT_EQ(round_trip("brl.call.sptk.many b0=10;;", 0x4000000000001000),
            0x10 - 0x4000000000001000);
  EXPECT_EQ(round_trip("(p03) brl.cond.dpnt.few c000000000000000", 0x10),
            static_cast<int64_t>(0xc000000000000000 - 0x10));
  const Instruction rotating = parse("mov pr.rot=0xfffffff000010000", 0).instruction;
  EXPECT_EQ(expand(rotating, {}).immediate, -0xfffff0000);
}

/// Prints the speed of decoding and encoding. A codec that is a hundred times slower has lost its
/// tables.
TEST(Ia64Codec, Speed) {
  std::vector<BundleBytes> bundles = biased_bundles(300'000);
  std::vector<Instruction> slots(3 * bundles.size());
  const auto seconds = [](auto&& work) {
    const clock_t start = clock();
    work();
    return static_cast<double>(clock() - start) / CLOCKS_PER_SEC;
  };
  const double decoding =
      seconds([&] { decode_bundles(bundles[0].data(), bundles.size(), 0, slots.data()); });
  BundleBytes out;
  const double encoding = seconds([&] {
    for (size_t i = 0; i < bundles.size(); ++i) encode_bundle(&slots[3 * i], out.data());
  });
  const double millions = 1e-6 * static_cast<double>(slots.size());
  std::cout << millions / decoding << " M slots/s decoded, " << millions / encoding << " encoded\n";
  EXPECT_GT(millions / decoding, 0.5);
  EXPECT_GT(millions / encoding, 0.5);
}

}  // namespace
}  // namespace respike::ia64
