// Writing ELF images. The oracle is behaviour: outputs run like their inputs, GNU tools read
// outputs without a message, and outputs still run after strip and objcopy have changed them.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "elf_test_files.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"

namespace respike {
namespace {

constexpr uint8_t kAllocatedCode = Section::kAllocated | Section::kExecutable;
constexpr auto kContents = Section::Kind::contents;

std::filesystem::path write_output(const Image& input, const NewImage& output,
                                   const std::string& name) {
  const auto path = test_directory() / name;
  write_file(path, write_image(input, output), input.path);
  return path;
}

uint32_t index_of(const Image& image, std::string_view name) {
  const Section* section = image.section_named(name);
  return section == nullptr ? 0 : static_cast<uint32_t>(section - image.sections.data());
}

/// Adds a section of code and a section that is not loaded; returns the address after the code.
uint64_t add_sections(const Image& image, NewImage& output) {
  const uint64_t address = plan_added_segment(image).free_address;
  output.added.push_back(
      {".text.hot", kContents, kAllocatedCode, address, 16, std::vector<uint8_t>(100, 0)});
  output.added.push_back({".respike.test", kContents, 0, 0, 1, std::vector<uint8_t>(33, 'x')});
  return address + 100;
}

/// Moves all frame tables by one distance: only their references to other sections need correction.
void move_frames(const Image& image, NewImage& output, uint64_t free) {
  const uint32_t header = index_of(image, ".eh_frame_hdr"), frames = index_of(image, ".eh_frame");
  ASSERT_NE(frames, 0u);
  const uint64_t lowest = image.sections[header != 0 ? header : frames].address;
  const uint64_t distance = align_up(free - lowest, 64);
  for (const uint32_t section : {header, frames}) {
    if (section == 0) continue;
    const Section& old = image.sections[section];
    std::vector<uint8_t> contents(old.contents.begin(), old.contents.end());
    const auto adjust = [&](uint64_t offset) {
      const auto value = load<uint32_t>(contents.data() + offset);
      store<uint32_t>(contents.data() + offset, value - static_cast<uint32_t>(distance));
    };
    for (RelocationTable& table : output.relocations) {
      if (table.target != section) continue;
      for (Relocation& relocation : table.relocations) {
        if (relocation.role == RelocationRole::pc_relative32)
          adjust(relocation.address - old.address);
        relocation.address += distance;
      }
    }
    if (section == header)  // 12 bytes, then pairs: procedure, frame
      for (uint64_t entry = 12; entry + 8 <= contents.size(); entry += 8) adjust(entry);
    for (Symbol& symbol : output.symbols)
      if (symbol.section == section) symbol.value += distance;
    output.moved.push_back({section, old.address + distance, std::move(contents)});
  }
}

/// Expects that GNU tools have no complaints.
void expect_clean(const std::filesystem::path& path) {
  const std::string name = path.string();
  for (const std::string command :
       {"readelf -aW", "readelf --debug-dump=frames", "objdump -x", "objdump -d"}) {
    const std::string said = command == "readelf -aW" ? name + ".said" : "/dev/null";
    const auto result = run("alpha-linux-gnu-" + command + " " + name + " >" + said);
    EXPECT_EQ(result.status, 0) << command;
    EXPECT_EQ(result.output, "") << command;
  }
  const auto warnings = run("grep -iE 'warning:|error:' " + name + ".said");
  EXPECT_EQ(warnings.output, "");
}

using Runner = std::function<CommandResult(const std::filesystem::path&)>;

/// Expects that `path` is clean and runs as `expected`, also after other tools have rewritten it.
void expect_runs(const std::filesystem::path& path, const CommandResult& expected,
                 const Runner& runner) {
  expect_clean(path);
  EXPECT_EQ(runner(path), expected) << path;
  for (const std::string command : {"objcopy", "strip --strip-debug -o", "strip -o"}) {
    const auto copy = path.parent_path() / "rewritten" / path.filename();
    std::filesystem::create_directory(copy.parent_path());
    const bool copies = command == "objcopy";
    const auto result =
        run("alpha-linux-gnu-" + command + " " +
            (copies ? path.string() + " " + copy.string() : copy.string() + " " + path.string()));
    EXPECT_EQ(result, (CommandResult{0, ""})) << command;
    expect_clean(copy);
    EXPECT_EQ(runner(copy), expected) << command << " " << path;
  }
}

/// Writes `input` without changes, with additions, and with moved tables; then writes that output
/// once more. Each output must behave as the input does.
void expect_rewritable(const std::filesystem::path& input, const Runner& runner) {
  const Image image = read_image(input);
  const CommandResult expected = runner(input);
  ASSERT_FALSE(expected.output.empty());
  const std::string name = input.filename().string();

  const auto same = write_output(image, unchanged(image), "same-" + name);
  expect_runs(same, expected, runner);
  EXPECT_LE(std::filesystem::file_size(same), std::filesystem::file_size(input) + 64);
  EXPECT_EQ(read_image(same).segments.size(), image.segments.size());

  NewImage output = unchanged(image);
  add_sections(image, output);
  const auto added = write_output(image, output, "added-" + name);
  expect_runs(added, expected, runner);
  EXPECT_NE(read_image(added).section_named(".text.hot"), nullptr);
  EXPECT_NE(read_image(added).section_named(".respike.test"), nullptr);

  output = unchanged(image);
  move_frames(image, output, add_sections(image, output));
  const auto moved = write_output(image, output, "moved-" + name);
  expect_runs(moved, expected, runner);
  EXPECT_LE(std::filesystem::file_size(moved),
            std::filesystem::file_size(input) + 0x20000 + image.section_named(".eh_frame")->size);

  const Image again = read_image(moved);
  require_rewritable(again);
  output = unchanged(again);
  move_frames(again, output, add_sections(again, output));
  const auto twice = write_output(again, output, "twice-" + name);
  expect_runs(twice, expected, runner);
  EXPECT_EQ(read_image(twice).segments.size(), again.segments.size());
}

CommandResult run_program(const std::filesystem::path& path) {
  return run_alpha(path);
}

TEST(ElfWriter, RewritesAStaticProgram) {
  expect_rewritable(static_program(), run_program);
}
TEST(ElfWriter, RewritesADynamicProgram) {
  expect_rewritable(dynamic_program(), run_program);
}
TEST(ElfWriter, RewritesAPie) {
  expect_rewritable(pie_program(), run_program);
}
TEST(ElfWriter, ExceptionsFindMovedFrames) {
  expect_rewritable(throwing_program(), run_program);
}

struct Library {
  explicit Library(const std::string& name, const std::string& options)
      : path(compile(name + ".c", "int base = 40; int answer(int n) { return base + n; }",
                     "-fPIC -shared -Wl,-soname,lib" + name + ".so " + options,
                     "lib" + name + ".so")),
        user(compile(name + "-user.c",
                     "#include <stdio.h>\nint answer(int);\n"
                     "int main(void) { printf(\"%d\\n\", answer(2)); return 0; }",
                     "-no-pie -L. -l" + name, name + "-user")) {}

  /// Runs the user with the library at `library`, whatever its file name is.
  CommandResult run_with(const std::filesystem::path& library) const {
    const auto directory = test_directory() / "libraries";
    std::filesystem::create_directory(directory);
    std::filesystem::copy_file(library, directory / path.filename(),
                               std::filesystem::copy_options::overwrite_existing);
    return run_alpha(user, "-E LD_LIBRARY_PATH=" + directory.string());
  }

  std::filesystem::path path;
  std::filesystem::path user;
};

TEST(ElfWriter, RewritesALibrary) {
  const Library library("answer", "");
  expect_rewritable(library.path, [&](const auto& path) { return library.run_with(path); });
}

TEST(ElfWriter, MovesTablesOfTheDynamicSectionWhenThereAreNoNotes) {
  for (const std::string style : {"gnu", "sysv", "both"}) {
    const Library library("h" + style, "-Wl,--build-id=none -Wl,--hash-style=" + style);
    expect_rewritable(library.path, [&](const auto& path) { return library.run_with(path); });
  }
}

/// Loaders take the distance between symbols and names for the size of the symbols.
TEST(ElfWriter, MovesSymbolsAndTheirNamesTogether) {
  for (const std::string style : {"gnu", "sysv", "both"}) {
    const Library library("h" + style, "-Wl,--build-id=none -Wl,--hash-style=" + style);
    Image input = read_image(library.path);
    for (const std::string round : {"first-", "second-"}) {
      NewImage changes = unchanged(input);
      add_sections(input, changes);
      Image output = read_image(write_output(input, changes, round + "names-" + style));
      const Section *symbols = output.section_named(".dynsym"),
                    *names = output.section_named(".dynstr");
      EXPECT_EQ(names->address, symbols->address + symbols->size) << style;
      input = std::move(output);
    }
  }
}

TEST(ElfWriter, GivesUpTheNoteHeaderWhenTheNoteIsReferredTo) {
  const std::string source = R"(
    .section .note.test, "a", @note
    .long 4, 4, 1
    .asciz "abc"
note: .long 42
    .section .data
    .quad note
)" + std::string(kTiny);
  const auto input = compile("noted.s", source, "-nostdlib -static -Wl,--build-id=none", "noted");
  const Image image = read_image(input);
  NewImage output = unchanged(image);
  add_sections(image, output);
  const auto path = write_output(image, output, "noted-out");
  const Image result = read_image(path);
  EXPECT_EQ(result.segments.size(), image.segments.size());
  EXPECT_EQ(result.section_named(".note.test")->address,
            image.section_named(".note.test")->address);
  expect_clean(path);
  EXPECT_EQ(run_alpha(path).status, 42 << 8);
}

/// Static programs of glibc refer to the start of the image, which the symbol table counts to the
/// first section: that of a note.
TEST(ElfWriter, MovesNotesWhenTheStartOfTheImageIsReferredTo) {
  const std::string source = R"(
    .section .note.test, "a", @note
    .long 4, 40, 1
    .asciz "abc"
    .space 40
    .section .data
    .quad __ehdr_start
)" + std::string(kTiny);
  const auto input = compile("start.s", source, "-nostdlib -static -Wl,--build-id=none", "start");
  const Image image = read_image(input);
  NewImage output = unchanged(image);
  add_sections(image, output);
  const auto path = write_output(image, output, "start-out");
  const Image result = read_image(path);
  EXPECT_EQ(result.segments.size(), image.segments.size() + 1);
  EXPECT_NE(result.section_named(".note.test")->address,
            image.section_named(".note.test")->address);
  const auto start = std::ranges::find(result.symbols, "__ehdr_start", &Symbol::name);
  ASSERT_NE(start, result.symbols.end());
  EXPECT_EQ(start->value, image.segments.front().address);
  expect_clean(path);
  EXPECT_EQ(run_alpha(path).status, 42 << 8);
}

TEST(ElfWriter, SaysSoWhenThereIsNoRoomForAHeader) {
  const auto input = compile("tight.s", std::string(kTiny) + "\n.data\n.quad 1\n",
                             "-nostdlib -static -Wl,--build-id=none", "tight");
  const Image image = read_image(input);
  try {
    plan_added_segment(image);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no room for a program header"), std::string::npos);
  }
  // Additions without a segment are possible all the same.
  expect_clean(write_output(image, unchanged(image), "tight-out"));
}

TEST(ElfWriter, GrowsASegmentOfCodeThatIsTheHighest) {
  const auto input = compile("tiny.s", kTiny, "-nostdlib -static", "tiny");
  const Image image = read_image(input);
  NewImage output = unchanged(image);
  add_sections(image, output);
  const auto path = write_output(image, output, "tiny-out");
  EXPECT_EQ(read_image(path).segments.size(), image.segments.size());
  expect_clean(path);
  EXPECT_EQ(run_alpha(path).status, 42 << 8);
}

/// Large .bss: the same distance between addresses and offsets would leave a hole of 100 MB.
TEST(ElfWriter, KeepsFilesSmallBehindALargeBss) {
  const auto input = compile(
      "large.c",
      "#include <stdio.h>\nstatic char buffer[100000000];\n"
      "int main(int argc, char **argv) { buffer[argc * 77777777] = 3; char *p = buffer + argc;\n"
      "  printf(\"%d\\n\", p[77777776]); return 0; }",
      "-no-pie", "large");
  expect_rewritable(input, run_program);
}

TEST(ElfWriter, AddedCodeRuns) {
  const Image image = read_image(static_program());
  NewImage output = unchanged(image);
  const uint64_t address = plan_added_segment(image).free_address;
  // lda $0,1; lda $16,9; callsys: exit(9)
  std::vector<uint8_t> code;
  for (const uint32_t word : {0x201f0001u, 0x221f0009u, 0x00000083u})
    for (int i = 0; i < 4; ++i) code.push_back(word >> 8 * i & 0xff);
  output.added.push_back({".text.hot", kContents, kAllocatedCode, address, 16, code});
  output.entry = address;
  const auto path = write_output(image, output, "entry");
  EXPECT_EQ(run_alpha(path).status, 9 << 8);
  EXPECT_EQ(read_image(path).entry, address);
}

TEST(ElfWriter, IsDeterministicAndChangesTheBuildId) {
  const Image image = read_image(dynamic_program());
  NewImage output = unchanged(image);
  add_sections(image, output);
  const auto first = write_image(image, output);
  EXPECT_EQ(first, write_image(image, output));
  const Image result = read_image(std::vector<uint8_t>(first), "first");
  EXPECT_EQ(result.build_id.size(), 40u);
  EXPECT_NE(result.build_id, image.build_id);
  output.added[0].contents[0] = 1;
  EXPECT_NE(read_image(write_image(image, output), "second").build_id, result.build_id);
}

TEST(ElfWriter, AddsSymbolsAndRelocationsToAddedSections) {
  const Image image = read_image(dynamic_program());
  NewImage output = unchanged(image);
  add_sections(image, output);
  const auto first_global = std::find_if(output.symbols.begin(), output.symbols.end(),
                                         [](const Symbol& symbol) { return !symbol.local; });
  const auto locals = static_cast<uint32_t>(first_global - output.symbols.begin());
  for (RelocationTable& table : output.relocations)
    for (Relocation& relocation : table.relocations)
      if (relocation.symbol >= locals) ++relocation.symbol;
  Symbol symbol;
  symbol.name = output.name_storage.emplace_back("main.cold");
  symbol.value = output.added[0].address;
  symbol.size = 100;
  symbol.section = static_cast<uint32_t>(image.sections.size());
  symbol.type = Symbol::Type::procedure;
  symbol.local = true;
  output.symbols.insert(output.symbols.begin() + locals, symbol);
  output.relocations.push_back({0, symbol.section, {{output.added[0].address, 0, locals}}});

  const auto path = write_output(image, output, "symbols");
  expect_runs(path, run_alpha(dynamic_program()), run_program);
  const Image result = read_image(path);
  ASSERT_EQ(result.symbols.size(), image.symbols.size() + 1);
  EXPECT_EQ(result.symbols[locals].name, "main.cold");
  EXPECT_EQ(result.sections[result.symbols[locals].section].name, ".text.hot");
  for (size_t i = 0; i < image.symbols.size(); ++i)
    EXPECT_EQ(result.symbols[i < locals ? i : i + 1].name, image.symbols[i].name);
  const Section* table = result.section_named(".rela.text.hot");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(result.sections[table->raw.info].name, ".text.hot");
  // Every relocation still has its meaning.
  for (size_t t = 0; t < image.relocations.size(); ++t)
    for (size_t i = 0; i < image.relocations[t].relocations.size(); ++i)
      EXPECT_EQ(result.symbols[result.relocations[t].relocations[i].symbol].name,
                image.symbols[image.relocations[t].relocations[i].symbol].name);
}

TEST(ElfWriter, DropsDebugSectionsOrKeepsThemRight) {
  const auto input = compile("debug.c", kHello, "-g -no-pie", "debug");
  const Image image = read_image(input);
  NewImage kept = unchanged(image);
  add_sections(image, kept);
  const auto with = write_output(image, kept, "debug-kept");
  expect_runs(with, run_alpha(input), run_program);
  const auto info = [](const std::filesystem::path& path) {
    return run("alpha-linux-gnu-objdump --dwarf=info,decodedline " + path.string() +
               " | tail -n +3");
  };
  EXPECT_EQ(info(with).output, info(input).output);

  NewImage dropped = kept;
  for (uint32_t i = 1; i < image.sections.size(); ++i)
    if (image.sections[i].name.starts_with(".debug")) dropped.dropped_sections.push_back(i);
  ASSERT_FALSE(dropped.dropped_sections.empty());
  const auto without = write_output(image, dropped, "debug-dropped");
  expect_runs(without, run_alpha(input), run_program);
  const Image result = read_image(without);
  for (const Section& section : result.sections)
    EXPECT_EQ(section.name.find("debug"), std::string::npos) << section.name;
  ASSERT_EQ(result.symbols.size(), image.symbols.size());
  for (size_t i = 0; i < image.symbols.size(); ++i) {
    const Symbol& old = image.symbols[i];
    if (!old.defined_in_section()) continue;
    const Symbol& symbol = result.symbols[i];
    const std::string& section = image.sections[old.section].name;
    if (section.starts_with(".debug"))
      EXPECT_EQ(symbol.section, Symbol::kUndefined);
    else
      EXPECT_EQ(result.sections[symbol.section].name, section);
  }
}

TEST(ElfWriter, ChangesWhatTheDynamicLinkerIsTold) {
  const Image image = read_image(dynamic_program());
  NewImage output = unchanged(image);
  output.loader_changes.emplace_back(LoaderEntry::Kind::finalizer, 0x1234);
  auto entries = image.loader_entries;
  std::ranges::find(entries, LoaderEntry::Kind::finalizer, &LoaderEntry::kind)->value = 0x1234;
  EXPECT_EQ(read_image(write_image(image, output), "output").loader_entries, entries);
  output.loader_changes = {{LoaderEntry::Kind::other, 1}};
  EXPECT_THROW(write_image(image, output), Error);
}

TEST(ElfWriter, AddsAnInitializerWhereAnEntryIsSpare) {
  const auto library = [](const std::string& options, const std::string& name) {
    return read_image(
        compile("bare.c", "int one() { return 1; }", "-fPIC -shared -nostdlib " + options, name));
  };
  const auto add = [](const Image& image) {
    NewImage output = unchanged(image);
    output.loader_changes.emplace_back(LoaderEntry::Kind::initializer, 1);
    return write_image(image, output);
  };
  const Image image = library("", "spare-entry.so");
  auto entries = image.loader_entries;
  EXPECT_EQ(std::ranges::count(entries, LoaderEntry::Kind::initializer, &LoaderEntry::kind), 0);
  EXPECT_NO_THROW(require_room_for_initializer(image));
  entries.push_back({LoaderEntry::Kind::initializer, 12, 1});
  EXPECT_EQ(read_image(add(image), "output").loader_entries, entries);

  const Image full = library("-Wl,--spare-dynamic-tags=0", "no-spare-entry.so");
  EXPECT_THROW(require_room_for_initializer(full), Error);
  EXPECT_THROW(add(full), Error);
  EXPECT_THROW(require_room_for_initializer(read_image(static_program())), Error);
}

TEST(ElfWriter, AddsMemoryBehindDataOrInASegmentOfItsOwn) {
  constexpr uint64_t kSize = 0x4000;
  constexpr uint8_t kWritable = Section::kAllocated | Section::kWritable;
  const auto with_memory = [&](const Image& image, uint64_t lowest, const std::string& name,
                               size_t code_size = 100) {
    const AddedSegment where = plan_added_segment(image, {kSize, 0x2000, lowest});
    NewImage output = unchanged(image);
    output.added.push_back({".text.hot", kContents, kAllocatedCode, where.free_address, 16,
                            std::vector<uint8_t>(code_size)});
    output.added.push_back(
        {".bss.test", Section::Kind::zero, kWritable, where.memory_address, 0x2000, {}, kSize});
    return write_output(image, output, name);
  };
  for (const auto& input : {dynamic_program(), static_program(), pie_program()}) {
    const Image image = read_image(input);
    const CommandResult expected = run_alpha(input);
    const std::string name = input.filename().string();
    const auto extended = with_memory(image, 0, "memory-" + name);
    expect_runs(extended, expected, run_program);

    NewImage output = unchanged(image);
    const uint64_t end = add_sections(image, output);
    const Image rewritten = read_image(write_output(image, output, "before-memory-" + name));
    const auto apart = with_memory(rewritten, end + (1 << 20), "memory-apart-" + name);
    expect_runs(apart, expected, run_program);
    const Image result = read_image(apart);
    const Section* memory = result.section_named(".bss.test");
    ASSERT_NE(memory, nullptr);
    EXPECT_GE(memory->address, end + (1 << 20));
    const auto segment =
        std::find_if(result.segments.begin(), result.segments.end(),
                     [&](const Segment& s) { return s.address == memory->address; });
    ASSERT_NE(segment, result.segments.end());
    EXPECT_TRUE(segment->loaded() && segment->writable() && !segment->executable());
    EXPECT_EQ(segment->memory_size, kSize);
    EXPECT_EQ(segment->file_size, 0u);
    EXPECT_THROW(with_memory(rewritten, 0, "no-room-" + name, 0x20000), Error);
  }
}

TEST(ElfWriter, RefusesMistakenRequests) {
  const Image image = read_image(dynamic_program());
  const auto refused = [&](const std::function<void(NewImage&)>& mistake) {
    NewImage output = unchanged(image);
    mistake(output);
    EXPECT_THROW(write_image(image, output), Error);
  };
  const uint64_t address = plan_added_segment(image).free_address;
  const uint32_t text = index_of(image, ".text");
  refused([&](NewImage& output) { output.contents.resize(image.loaded_end - 1); });
  refused([](NewImage& output) { output.contents.push_back(0); });
  refused([](NewImage& output) { output.symbols.pop_back(); });
  refused([](NewImage& output) { output.symbols.back().section = 1000; });
  refused([](NewImage& output) { output.dynamic_symbols.pop_back(); });
  refused([](NewImage& output) { output.dynamic_relocations[0].relocations.pop_back(); });
  refused([](NewImage& output) { output.relocations[0].relocations[0].symbol = 1 << 30; });
  refused([&](NewImage& output) { output.dropped_sections.push_back(text); });
  refused([&](NewImage& output) { output.dropped_sections.push_back(index_of(image, ".symtab")); });
  refused([&](NewImage& output) { output.moved.push_back({text, address - 16, {1}}); });
  refused([&](NewImage& output) {
    output.added.push_back(
        {".a", kContents, kAllocatedCode, address, 16, std::vector<uint8_t>(32)});
    output.added.push_back({".b", kContents, kAllocatedCode, address + 16, 16, {1}});
  });
}

TEST(WriteFile, KeepsModeBitsAndReplacesTheTarget) {
  const auto like = test_directory() / "like", target = test_directory() / "target";
  write_text(like, "x");
  write_text(target, "old");
  std::filesystem::permissions(like, std::filesystem::perms(0751));
  const std::vector<uint8_t> bytes = {'n', 'e', 'w'};
  write_file(target, bytes, like);
  EXPECT_EQ(bytes_of(target), bytes);
  EXPECT_EQ(std::filesystem::status(target).permissions(), std::filesystem::perms(0751));
}

TEST(WriteFile, LeavesNothingBehindOnFailure) {
  const auto directory = test_directory() / "failures";
  std::filesystem::create_directories(directory / "sub");
  const auto like = directory / "like";
  write_text(like, "x");
  std::filesystem::create_symlink(like, directory / "link");
  const std::vector<uint8_t> bytes = {1};
  const auto error_of = [&](const std::filesystem::path& path) -> std::string {
    try {
      write_file(path, bytes, like);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(error_of(directory / "missing" / "x").find("No such file"), std::string::npos);
  EXPECT_NE(error_of(directory / "sub").find("Is a directory"), std::string::npos);
  EXPECT_NE(error_of(like).find("never modified"), std::string::npos);
  EXPECT_NE(error_of(directory / "link").find("never modified"), std::string::npos);
  EXPECT_NE(error_of("/dev/null").find("not a regular file"), std::string::npos);
  EXPECT_NE(error_of("/dev/full").find("not a regular file"), std::string::npos);
  EXPECT_NE(error_of("/proc/respike-output").find("cannot be created"), std::string::npos);
  EXPECT_EQ(bytes_of(like), std::vector<uint8_t>{'x'});
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"like", "link", "sub"}));
}

TEST(WriteFile, FollowsLinks) {
  const auto directory = test_directory() / "links";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  std::filesystem::create_symlink("second", directory / "first");
  std::filesystem::create_symlink(directory / "file", directory / "second");
  const std::vector<uint8_t> bytes = {1};
  for (int round = 0; round < 2; ++round) {  // a new file, and an existing file
    write_file(directory / "first", bytes, {});
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "first"));
    EXPECT_TRUE(std::filesystem::is_symlink(directory / "second"));
    EXPECT_EQ(bytes_of(directory / "file"), bytes);
  }
  std::filesystem::create_symlink("loop", directory / "loop");
  try {
    write_file(directory / "loop", bytes, {});
    ADD_FAILURE() << "a loop was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.file(), directory / "loop");
  }
}

TEST(WriteFile, SeveralFilesOrNone) {
  const auto directory = test_directory() / "several";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  write_text(directory / "old", "old");
  const std::vector<uint8_t> one = {1}, two = {2};
  const auto write = [&](const std::filesystem::path& second) {
    write_files(std::vector<OutputFile>{{directory / "old", one, {}}, {second, two, {}}});
  };
  for (const char* second : {"/nowhere/x", "/dev/full", "/proc/x"}) {
    EXPECT_THROW(write(second), Error);
    EXPECT_EQ(bytes_of(directory / "old"), (std::vector<uint8_t>{'o', 'l', 'd'}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  }
  write(directory / "new");
  EXPECT_EQ(bytes_of(directory / "old"), one);
  EXPECT_EQ(bytes_of(directory / "new"), two);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 2);
}

/// A child gets a signal as soon as its temporary file appears.
TEST(WriteFile, LeavesNothingBehindWhenInterrupted) {
  const auto directory = test_directory() / "interrupted";
  const std::vector<uint8_t> bytes(16 << 20);
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(directory), {});
  };
  bool caught = false;
  for (int attempt = 0; attempt < 100 && !caught; ++attempt) {
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    const pid_t child = fork();
    if (child == 0) {
      write_file(directory / "x", bytes, {});
      _exit(0);
    }
    int status = 0;
    for (int look = 0; look < 1'000'000 && files() == 0; ++look) continue;
    caught = !std::filesystem::exists(directory / "x");
    kill(child, SIGTERM);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (!caught) continue;
    EXPECT_TRUE(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)) << status;
    EXPECT_EQ(files(), 1);
    ASSERT_TRUE(std::filesystem::exists(directory / "x"));
    EXPECT_EQ(std::filesystem::file_size(directory / "x"), bytes.size());
  }
  EXPECT_TRUE(caught);
}

/// A limit on the size of files stands in for a full disk.
TEST(WriteFile, LeavesNothingBehindWhenTheDiskIsFull) {
  const auto directory = test_directory() / "full";
  std::filesystem::create_directories(directory);
  const auto like = test_directory() / "full-like";
  write_text(like, "x");
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{4096, old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write_file(directory / "x", std::vector<uint8_t>(10000), like), Error);
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(std::filesystem::is_empty(directory));
}

}  // namespace
}  // namespace respike
