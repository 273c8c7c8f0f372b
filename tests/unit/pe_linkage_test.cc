// Libraries of PE images: reading the tables that name them, and giving them other names.

#include "optimizer/image/pe/linkage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/image/loader_view.h"
#include "optimizer/image/pe/bound_imports.h"
#include "optimizer/image/pe/checksum.h"
#include "optimizer/image/pe/headers.h"
#include "pe_test_files.h"
#include "temporary_folder.h"

namespace respike {
namespace {

constexpr uint32_t kPlace = 0xc000;  // of the new section
constexpr uint32_t kSize = 0x200;
constexpr uint64_t kDescriptor = 20;

/// Offsets in the section: two descriptors of imports and one of delayed imports, with its end.
constexpr uint32_t kDelayed = 0x40, kNames = 0x90, kSlots = 0xc0, kTexts = 0xf0;

/// An image that imports f and number 7 of one.dll, g of two.dll, and h of late.dll with delay.
std::vector<uint8_t> importing_image(bool bound = false) {
  PeFile made{PeOptions{}};
  std::vector<uint8_t> file = made.bytes();
  const pe::Headers headers = pe::read_headers(file, "a.exe");
  // Symbols, which follow the sections, are cut off.
  file.resize(headers.symbols_offset != 0 ? headers.symbols_offset : file.size());
  store(&file[headers.coff_offset + 8], uint64_t{0});
  std::vector<uint8_t> section(kSize);
  const auto word = [&](size_t at, uint32_t value) { store(&section[at], value); };
  const auto text = [&](size_t at, std::string_view value) {
    std::copy(value.begin(), value.end(), section.begin() + static_cast<ptrdiff_t>(at));
  };
  const uint32_t date = bound ? 0x30000000 : 0;
  const uint32_t descriptors[2][5] = {
      {kPlace + kNames, date, date, kPlace + kTexts, kPlace + kSlots},
      {kPlace + kNames + 12, 0, 0, kPlace + kTexts + 0x10, kPlace + kSlots + 12}};
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 5; ++j) word(i * kDescriptor + 4 * j, descriptors[i][j]);
  const uint32_t names[] = {kPlace + kTexts + 0x40, 0x80000007, 0, kPlace + kTexts + 0x50, 0,
                            kPlace + kTexts + 0x60, 0};
  for (size_t i = 0; i < std::size(names); ++i) {
    word(kNames + 4 * i, names[i]);
    word(kSlots + 4 * i, bound && i < 2 ? 0x77001230 : names[i]);
  }
  const uint32_t delayed[] = {1, kPlace + kTexts + 0x20, 0, kPlace + kSlots + 20,
                              kPlace + kNames + 20};
  for (size_t i = 0; i < std::size(delayed); ++i) word(kDelayed + 4 * i, delayed[i]);
  text(kTexts, "one.dll");
  text(kTexts + 0x10, "two.dll");
  text(kTexts + 0x20, "late.dll");
  text(kTexts + 0x42, "f");
  text(kTexts + 0x52, "g");
  text(kTexts + 0x62, "h");

  uint8_t* header = &file[headers.sections_offset + 40 * headers.sections.size()];
  const std::string_view name = ".idata";
  std::copy(name.begin(), name.end(), header);
  store(header + 8, kSize);
  store(header + 12, kPlace);
  store(header + 16, kSize);
  store(header + 20, static_cast<uint32_t>(file.size()));
  store(header + 36, uint32_t{0xc0000040});
  store(&file[headers.coff_offset + 2], static_cast<uint16_t>(headers.sections.size() + 1));
  store(&file[headers.optional_offset + 56], kPlace + 0x2000);
  const auto set_directory = [&](size_t number, uint32_t place, uint32_t size) {
    store(&file[headers.directories_offset + 8 * number], place);
    store(&file[headers.directories_offset + 8 * number + 4], size);
  };
  set_directory(pe::kImports, kPlace, 60);
  set_directory(pe::kDelayedImports, kPlace + kDelayed, 64);
  file.insert(file.end(), section.begin(), section.end());
  return file;
}

std::vector<std::string> names_of(std::span<const uint8_t> file) {
  std::vector<std::string> names;
  for (const pe::ImportedLibrary& library : pe::read_linkage(file, "a.exe").libraries)
    names.push_back(library.name);
  return names;
}

/// Contents of all sections that both files have.
void expect_same_sections(std::span<const uint8_t> before, std::span<const uint8_t> after) {
  const pe::Headers old = pe::read_headers(before, "before"),
                    now = pe::read_headers(after, "after");
  ASSERT_LE(old.sections.size(), now.sections.size());
  for (size_t i = 0; i < old.sections.size(); ++i) {
    const pe::SectionHeader &a = old.sections[i], &b = now.sections[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.place, b.place);
    ASSERT_EQ(a.loaded_size(), b.loaded_size());
    size_t differences = 0;
    for (size_t at = 0; at < a.loaded_size(); ++at)
      differences += before[a.offset + at] != after[b.offset + at];
    // Only the place of the name in the descriptor of delayed imports.
    EXPECT_LE(differences, a.name == ".idata" ? 4u : 0u) << a.name;
  }
}

TEST(PeLinkage, ReadsLibraries) {
  const pe::Linkage linkage = pe::read_linkage(importing_image(), "a.exe");
  ASSERT_EQ(linkage.libraries.size(), 3u);
  EXPECT_EQ(linkage.libraries[0].name, "one.dll");
  EXPECT_EQ(linkage.libraries[0].functions, 2u);
  EXPECT_EQ(linkage.libraries[0].by_number, 1u);
  EXPECT_EQ(linkage.libraries[1].name, "two.dll");
  EXPECT_EQ(linkage.libraries[1].functions, 1u);
  EXPECT_EQ(linkage.libraries[2].name, "late.dll");
  EXPECT_TRUE(linkage.libraries[2].delayed);
  EXPECT_FALSE(linkage.thread_data);
  EXPECT_GT(linkage.exports, 0u);
}

TEST(PeLinkage, LoadersNeedLibraries) {
  const LoaderView view = view_of(importing_image(), "a.exe");
  const std::vector<LoaderView::Dependency> expected = {
      {"one.dll", false}, {"two.dll", false}, {"late.dll", true}};
  EXPECT_EQ(view.needed, expected);
  EXPECT_TRUE(view.is_program());
  EXPECT_TRUE(view.machine.windows);
}

/// The program for DOS in front of the headers may have any length.
TEST(PeLinkage, MachineOfAFile) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "a.exe";
  const auto machine_of = [&](uint32_t stub, size_t size) {
    std::vector<uint8_t> file(stub + 24);
    file[0] = 'M', file[1] = 'Z';
    store(&file[0x3c], stub);
    store(&file[stub], uint32_t{0x4550});
    store(&file[stub + 4], uint16_t{0x184});
    file.resize(size);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
    return file_machine_of(path);
  };
  for (const uint32_t stub : {0x40u, 0xfffu, 0x1000u, 0x123456u}) {
    const auto machine = machine_of(stub, stub + 24);
    ASSERT_TRUE(machine.has_value()) << stub;
    EXPECT_EQ(machine->raw, 0x184);
    EXPECT_EQ(machine->known, MachineId::alpha);
    EXPECT_TRUE(machine->windows);
    EXPECT_EQ(machine_of(stub, stub + 23), std::nullopt) << stub;
    EXPECT_EQ(machine_of(stub, 64), std::nullopt) << stub;
  }
}

TEST(PeLinkage, LibrariesGetOtherNames) {
  const std::vector<uint8_t> before = importing_image();
  const std::string longer(300, 'x');
  const auto after = pe::with_renamed_libraries(
      before, "a.exe", {{"one.dll", longer}, {"late.dll", "/versions/late.dll"}});
  EXPECT_EQ(names_of(after), (std::vector<std::string>{longer, "two.dll", "/versions/late.dll"}));
  expect_same_sections(before, after);
  const pe::Headers old = pe::read_headers(before, "before"),
                    now = pe::read_headers(after, "after");
  EXPECT_EQ(now.sections.size(), old.sections.size() + 1);
  EXPECT_EQ(now.directories[pe::kImports].place, now.sections.back().place);
  EXPECT_EQ(now.memory_size, now.sections.back().place + 0x2000);
  auto summed = after;
  pe::write_checksum(summed, now.optional_offset + pe::kChecksum);
  EXPECT_EQ(summed, after);
  EXPECT_EQ(read_image(after, "a.exe").sections.size(), now.sections.size() + 1);
}

/// Each time the headers have one section more, until the contents after them have to move.
TEST(PeLinkage, HeadersGetMoreRoom) {
  std::vector<uint8_t> file = importing_image();
  const std::vector<uint8_t> first = file;
  std::string name = "one.dll";
  for (int i = 0; i < 30; ++i) {
    const std::string next = "one-" + std::to_string(i) + ".dll";
    file = pe::with_renamed_libraries(file, "a.exe", {{name, next}});
    name = next;
    ASSERT_EQ(names_of(file).front(), name);
    expect_same_sections(first, file);
  }
  EXPECT_GT(pe::read_headers(file, "a.exe").headers_size,
            pe::read_headers(first, "a.exe").headers_size);
}

TEST(PeLinkage, BoundImportsGetNamesBack) {
  const std::vector<uint8_t> plain = importing_image(), bound = importing_image(true);
  EXPECT_NE(plain, bound);
  auto file = bound;
  EXPECT_TRUE(pe::unbind_imports(file, pe::read_headers(file, "a.exe")));
  EXPECT_EQ(file, plain);
  EXPECT_FALSE(pe::unbind_imports(file, pe::read_headers(file, "a.exe")));
  // The lifter sees the bound image like the unbound image.
  const Image one = read_image(bound, "a.exe"), other = read_image(plain, "a.exe");
  const Section *a = one.section_named(".idata"), *b = other.section_named(".idata");
  EXPECT_TRUE(std::ranges::equal(a->contents, b->contents));
}

/// Whatever the file is, there is an Error or a result.
void read_all(std::vector<uint8_t> file) {
  try {
    const pe::Linkage linkage = pe::read_linkage(file, "a.exe");
    std::map<std::string, std::string> names;
    for (const pe::ImportedLibrary& library : linkage.libraries)
      names.emplace(library.name, "other.dll");
    pe::read_linkage(pe::with_renamed_libraries(file, "a.exe", names), "a.exe");
    view_of(file, "a.exe");
    pe::unbind_imports(file, pe::read_headers(file, "a.exe"));
  } catch (const Error&) {
  }
}

TEST(PeLinkage, DamagedFiles) {
  const std::vector<uint8_t> good = importing_image(true);
  for (size_t size = 0; size < good.size(); size += 7)
    read_all({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)});
  const size_t tables = good.size() - kSize;
  std::mt19937 random(25);
  for (int i = 0; i < 20000; ++i) {
    auto file = good;
    const bool headers = i % 2 == 0;
    for (int flips = 1 + i % 3; flips > 0; --flips) {
      const size_t at = headers ? random() % 0x300 : tables + random() % kSize;
      file[at] = static_cast<uint8_t>(random());
    }
    read_all(std::move(file));
  }
}

/// Tables that overlap do not take time without bounds.
TEST(PeLinkage, OverlappingTables) {
  std::vector<uint8_t> file = importing_image();
  const size_t at = file.size() - kSize;
  // Each word is a descriptor's field, a name, and a place in the same table.
  for (size_t i = 0; i + 8 < kSize; i += 4)
    store(&file[at + i], static_cast<uint32_t>(kPlace + i % 0x40 * 4));
  read_all(file);
}

}  // namespace
}  // namespace respike
