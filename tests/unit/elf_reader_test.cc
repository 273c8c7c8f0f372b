// Reading ELF images: the Image of real programs, and the message for a file that is not an ELF
// image. Damaged files are in elf_damage_test.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "elf_test_files.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"
#include "optimizer/image/provenance.h"

namespace respike {
namespace {

std::string error_of(const std::filesystem::path& path) {
  try {
    read_image(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), path.string());
    return error.what();
  }
  return "no error";
}

std::string error_of(std::vector<uint8_t> bytes) {
  try {
    read_image(std::move(bytes), "input");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal(const Image& image) {
  try {
    require_rewritable(image);
  } catch (const Error& error) {
    return error.what();
  }
  return "rewritable";
}

const Symbol* find_symbol(const Image& image, std::string_view name) {
  const auto symbol = std::find_if(image.symbols.begin(), image.symbols.end(),
                                   [&](const Symbol& s) { return s.name == name; });
  return symbol == image.symbols.end() ? nullptr : &*symbol;
}

TEST(ElfReader, ReadsAStaticProgram) {
  const Image image = read_image(static_program());
  EXPECT_EQ(image.machine, MachineId::alpha);
  EXPECT_EQ(image.kind, Image::Kind::executable);
  EXPECT_FALSE(image.dynamic);
  EXPECT_EQ(image.format, "ELF64");
  EXPECT_EQ(image.build_id.size(), 40u);
  EXPECT_TRUE(image.dynamic_symbols.empty());
  EXPECT_EQ(refusal(image), "rewritable");
  const Symbol* main = find_symbol(image, "main");
  ASSERT_NE(main, nullptr);
  EXPECT_EQ(main->type, Symbol::Type::procedure);
  EXPECT_EQ(image.sections[main->section].name, ".text");
  EXPECT_EQ(image.section_at(main->value), &image.sections[main->section]);
}

TEST(ElfReader, ReadsADynamicProgram) {
  const Image image = read_image(dynamic_program());
  EXPECT_EQ(image.kind, Image::Kind::executable);
  EXPECT_TRUE(image.dynamic);
  EXPECT_FALSE(image.loader_entries.empty());
  EXPECT_FALSE(image.dynamic_symbols.empty());
  ASSERT_FALSE(image.dynamic_relocations.empty());
  const DynamicRelocationTable& table = image.dynamic_relocations.back();
  EXPECT_EQ(image.sections[table.section].name, ".rela.plt");
  EXPECT_EQ(table.relocations.size() * 24, image.sections[table.section].size);
  EXPECT_EQ(refusal(image), "rewritable");
}

/// A program of this host with a table of so many pointers; `options` for the linker.
std::filesystem::path host_program(const std::string& options, const std::string& output) {
  write_text(test_directory() / "table.c",
             "int f(void) { return 1; }\nint (*table[200])(void) = {[3] = f, [4] = f, [66] = f, "
             "[199] = f};\nint main(void) { return table[199]() - 1; }\n");
  const auto path = test_directory() / output;
  const auto result = run(fmt::format("cd {} && gcc -O1 -fPIE -pie -Wl,-q {} table.c -o {}",
                                      test_directory().string(), options, output));
  EXPECT_EQ(result.status, 0) << result.output;
  return path;
}

/// Addresses and addends of the relocations that add the load address to a word.
std::map<uint64_t, int64_t> relative_relocations(const Image& image, bool packed) {
  std::map<uint64_t, int64_t> result;
  for (const DynamicRelocationTable& table : image.dynamic_relocations) {
    if (table.packed != packed) continue;
    for (const Relocation& relocation : table.relocations)
      if (relocation.role == RelocationRole::address64 && relocation.symbol == 0) {
        EXPECT_TRUE(result.emplace(relocation.address, relocation.addend).second);
      }
  }
  return result;
}

TEST(ElfReader, PackedRelocationsAreThoseThatOtherLinksHaveInFull) {
  const auto path = host_program("-Wl,-z,pack-relative-relocs", "packed");
  const Image packed = read_image(path), plain = read_image(host_program("", "plain"));
  EXPECT_TRUE(relative_relocations(plain, true).empty());
  EXPECT_EQ(refusal(packed), "rewritable");
  // Sections of the two lie elsewhere: distances from the table to the targets of its words.
  const auto pointers = [](const Image& image, bool is_packed) {
    const uint64_t table = find_symbol(image, "table")->value;
    const uint64_t f = find_symbol(image, "f")->value;
    std::map<uint64_t, uint64_t> result;
    for (const auto& [address, addend] : relative_relocations(image, is_packed))
      if (address >= table && address < table + 1600)
        result[address - table] = static_cast<uint64_t>(addend) - f;
    return result;
  };
  const std::map<uint64_t, uint64_t> expected = {{24, 0}, {32, 0}, {528, 0}, {1592, 0}};
  EXPECT_EQ(pointers(packed, true), expected);
  EXPECT_EQ(pointers(plain, false), expected);
}

TEST(ElfReader, DamagedPackedRelocationsAreRefused) {
  const std::vector<uint8_t> good = bytes_of(host_program("-Wl,-z,pack-relative-relocs", "packed"));
  const Image image = view_image(good, "packed");
  for (const Section& section : image.sections) {
    if (section.name != ".relr.dyn") continue;
    const auto damaged = [&](uint64_t entry, uint64_t value) {
      std::vector<uint8_t> bytes = good;
      store(&bytes[section.offset + 8 * entry], value);
      return bytes;
    };
    EXPECT_THROW(view_image(damaged(0, 1), "x"), Error);           // no address first
    EXPECT_THROW(view_image(damaged(0, 1ull << 40), "x"), Error);  // outside
    EXPECT_THROW(view_image(damaged(1, 8), "x"), Error);           // not ascending
    const Segment& last =
        *std::ranges::find_if(image.segments.rbegin(), image.segments.rend(), &Segment::loaded);
    const uint64_t end = (last.address + last.file_size) & ~7ull;
    EXPECT_THROW(view_image(damaged(0, end - 8), "x"), Error);  // the words of entry 1 come later
    EXPECT_THROW(view_image(damaged(0, end + 6), "x"), Error);  // half a word at most
    return;
  }
  FAIL() << "there is no .relr.dyn";
}

TEST(ElfReader, TellsProgramsFromLibraries) {
  EXPECT_EQ(read_image(pie_program()).kind, Image::Kind::pie);
  const auto library = compile("lib.c", "int f(void) { return 1; }", "-fPIC -shared", "lib.so");
  EXPECT_EQ(read_image(library).kind, Image::Kind::shared_library);
  // Has an interpreter, but is a library.
  EXPECT_EQ(read_image(std::filesystem::path("/usr/alpha-linux-gnu/lib/libc.so.6.1")).kind,
            Image::Kind::shared_library);
}

TEST(ElfReader, ReadsTheHostsPrograms) {
  const Image image = read_image(std::filesystem::path("/proc/self/exe"));
  EXPECT_EQ(image.machine, MachineId::x86_64);
}

TEST(ElfReader, KeepsRelocationsSortedAndInsideTheirSection) {
  const Image image = read_image(static_program());
  ASSERT_FALSE(image.relocations.empty());
  for (const RelocationTable& table : image.relocations) {
    const Section& target = image.sections[table.target];
    EXPECT_TRUE(target.allocated());
    EXPECT_EQ(image.sections[table.section].name, ".rela" + target.name);
    uint64_t previous = 0;
    for (const Relocation& relocation : table.relocations) {
      EXPECT_LE(previous, relocation.address);
      EXPECT_TRUE(target.contains(relocation.address));
      EXPECT_LT(relocation.symbol, image.symbols.size());
      previous = relocation.address;
    }
  }
}

TEST(ElfReader, LooksUpAddresses) {
  const Image image = read_image(static_program());
  for (const Section& section : image.sections) {
    if (!section.allocated() || section.size == 0 || section.name == ".tbss") continue;
    EXPECT_EQ(image.section_at(section.address), &section);
    EXPECT_EQ(image.section_at(section.address + section.size - 1), &section);
    if (section.contents.empty()) {
      EXPECT_FALSE(image.bytes_at(section.address, section.size)) << section.name;
      continue;
    }
    EXPECT_EQ(image.offset_of(section.address), section.offset);
    const auto bytes = image.bytes_at(section.address, section.size);
    ASSERT_TRUE(bytes) << section.name;
    EXPECT_EQ(bytes->data(), section.contents.data());
  }
  EXPECT_EQ(image.section_at(0), nullptr);
  EXPECT_EQ(image.section_at(~uint64_t{0}), nullptr);
  EXPECT_FALSE(image.offset_of(~uint64_t{0}));
  EXPECT_FALSE(image.bytes_at(image.segments[0].address, ~uint64_t{0}));
  EXPECT_EQ(image.section_named(".nothing"), nullptr);
}

TEST(ElfReader, OutlivesItsFile) {
  const auto copy = test_directory() / "copy";
  std::filesystem::copy_file(static_program(), copy);
  const Image image = read_image(copy);
  std::filesystem::remove(copy);
  EXPECT_NE(find_symbol(image, "main"), nullptr);
}

TEST(ElfReader, SaysWhatAFileIsInstead) {
  const auto directory = test_directory();
  EXPECT_NE(error_of(directory / "missing").find("does not exist"), std::string::npos);
  EXPECT_NE(error_of(directory).find("is a directory"), std::string::npos);
  EXPECT_NE(error_of(std::filesystem::path("/dev/zero")).find("not a regular file"),
            std::string::npos);
  write_text(directory / "empty", "");
  EXPECT_NE(error_of(directory / "empty").find("is empty"), std::string::npos);
  write_text(directory / "text", "#!/bin/sh\n");
  EXPECT_NE(error_of(directory / "text").find("not an ELF, PE or ECOFF file"), std::string::npos);
  const auto object = compile("part.c", "int f(void) { return 1; }", "-c", "part.o");
  EXPECT_NE(error_of(object).find("relocatable object"), std::string::npos);
}

TEST(ElfReader, SaysWhichHeaderFieldIsNotSupported) {
  const auto good = bytes_of(tiny_program());
  const auto with_byte = [&](size_t offset, uint8_t value) {
    auto bytes = good;
    bytes[offset] = value;
    return error_of(std::move(bytes));
  };
  EXPECT_EQ(error_of(good), "no error");
  EXPECT_EQ(with_byte(4, 1), "input: this is a 32-bit ELF file; only 64-bit is supported");
  EXPECT_EQ(with_byte(5, 2),
            "input: this is a big-endian ELF file; only little-endian is supported");
  EXPECT_EQ(with_byte(16, 4), "input: this is a core file, not a linked image");
  auto other = good;
  store<uint16_t>(other.data() + 18, 183);
  EXPECT_EQ(error_of(other),
            "input: the file is for machine 183 (AArch64); supported are Alpha, IA-64 and x86-64 "
            "(at offset 0x12)");
}

TEST(ElfReader, SaysWhyAnImageCannotBeRewritten) {
  const auto bare = test_directory() / "bare";
  ASSERT_EQ(
      run("alpha-linux-gnu-strip -o " + bare.string() + " " + static_program().string()).status, 0);
  EXPECT_NE(refusal(read_image(bare)).find("is stripped"), std::string::npos);
  const auto plain = test_directory() / "plain";
  ASSERT_EQ(run("alpha-linux-gnu-gcc -O2 -o " + plain.string() + " " +
                (test_directory() / "hello.c").string())
                .status,
            0);
  EXPECT_NE(refusal(read_image(plain)).find("has no relocations: link it with -Wl,--emit-relocs"),
            std::string::npos);
}

TEST(ElfReader, RefusesInstrumentedImages) {
  const Image image = read_image(tiny_program());
  for (const NoteType type : {NoteType::rewritten, NoteType::instrumented}) {
    NewImage output = unchanged(image);
    Provenance provenance;
    provenance.type = type;
    output.added.push_back({.name = std::string(kNoteSection),
                            .kind = Section::Kind::note,
                            .alignment = 4,
                            .contents = encode_provenance(provenance)});
    const Image result = read_image(write_image(image, output), "output");
    if (type == NoteType::rewritten)
      EXPECT_EQ(refusal(result), "rewritable");
    else
      EXPECT_NE(refusal(result).find("instrumented image"), std::string::npos);
  }
}

TEST(ElfReader, RefusesOverlappingSections) {
  const Image image = read_image(tiny_program());
  const auto text = std::find_if(image.sections.begin(), image.sections.end(),
                                 [](const Section& s) { return s.name == ".text"; });
  ASSERT_NE(text, image.sections.end());
  auto bytes = bytes_of(tiny_program());
  const auto headers = load<uint64_t>(bytes.data() + 40);
  for (size_t i = 1; i < image.sections.size(); ++i) {
    if (!image.sections[i].allocated() || &image.sections[i] == &*text) continue;
    uint8_t* header = bytes.data() + headers + 64 * i;
    store<uint64_t>(header + 16, text->address);
    store<uint64_t>(header + 24, text->offset);
    EXPECT_NE(error_of(bytes).find("overlaps"), std::string::npos) << error_of(bytes);
    return;
  }
  FAIL() << "the program has one allocated section only";
}

}  // namespace
}  // namespace respike
