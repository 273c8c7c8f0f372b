// Decoder, encoder, printer and parser of the IA-64 target against GNU objdump.
//
// RESPIKE_IA64_CODEC_IMAGES, a list of ELF images separated by colons, adds real programs.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/target/ia64/codec.h"
#include "optimizer/target/ia64/text.h"

namespace respike::ia64 {
namespace {

constexpr const char* kObjdump = "ia64-linux-gnu-objdump";

bool have_objdump() {
  return std::system((std::string(kObjdump) + " --version > /dev/null 2>&1").c_str()) == 0;
}

using BundleBytes = std::array<uint8_t, kBundleSize>;

/// What objdump makes of a bundle. The X slot of a bundle is printed in the place of the L slot.
struct Listed {
  BundleBytes bytes{};
  std::string text[3];  // without the template
  std::string name;     // of the template
};

/// Our printer leaves out the symbol, and the 0x that objdump puts before addresses when an image
/// has no symbols.
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
std::map<uint64_t, Listed> run_objdump(const std::string& arguments) {
  const std::string command = std::string(kObjdump) + " " + arguments;
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::map<uint64_t, Listed> bundles;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    char* end = nullptr;
    const uint64_t address = strtoull(buffer, &end, 16);
    if (end == buffer || *end != ':' || end[1] != '\t') continue;
    Listed& bundle = bundles[address & ~uint64_t{15}];
    const char* at = end + 2;
    for (size_t i = address & 15; i < std::min<size_t>(kBundleSize, (address & 15) + 6); ++i) {
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
    bundle.text[(address & 15) / 6] = normalise(text.substr(std::min(start, text.size())));
  }
  return bundles;
}

std::map<uint64_t, Listed> disassemble(const std::vector<BundleBytes>& bundles) {
  std::string directory = std::filesystem::temp_directory_path() / "respike-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) throw std::runtime_error("no temporary directory");
  const std::string file = directory + "/bundles";
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bundles.data()),
             static_cast<std::streamsize>(bundles.size() * kBundleSize));
  auto listed = run_objdump("-D -z -b binary -m ia64 " + file);
  std::filesystem::remove_all(directory);
  return listed;
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

/// Text and encoding of one bundle; an empty string when all is as it should be.
std::string difference(uint64_t address, const Listed& listed) {
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
    const std::string text = print(slots[slot], slots[1], address);
    if (text != expected) return "objdump \"" + expected + "\", Respike \"" + text + "\"";
  }
  return {};
}

void compare(const std::map<uint64_t, Listed>& bundles) {
  size_t differences = 0;
  for (const auto& [address, listed] : bundles) {
    const std::string problem = difference(address, listed);
    if (problem.empty()) continue;
    if (++differences <= 20)
      ADD_FAILURE() << std::hex << address << ": " << hex(listed.bytes) << problem;
  }
  std::cout << bundles.size() << " bundles compared, " << differences << " differ\n";
}

BundleBytes make_bundle(unsigned code, const uint64_t (&slots)[3]) {
  BundleBytes bytes;
  store(bytes.data(), code | slots[0] << 5 | slots[1] << 46);
  store(bytes.data() + 8, slots[1] >> 18 | slots[2] << 23);
  return bytes;
}

std::vector<BundleBytes> random_bundles(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<BundleBytes> bundles;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t slots[] = {random() & kSlotMask, random() & kSlotMask, random() & kSlotMask};
    bundles.push_back(make_bundle(i % 32, slots));
  }
  return bundles;
}

TEST(Ia64Codec, PrintsRandomBundlesAsObjdump) {
  if (!have_objdump()) GTEST_SKIP() << "no " << kObjdump;
  const auto bundles = random_bundles(200'000, 1);
  const auto listed = disassemble(bundles);
  ASSERT_EQ(listed.size(), bundles.size());
  compare(listed);
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

}  // namespace
}  // namespace respike::ia64
