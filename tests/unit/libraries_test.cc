// The libraries that a program loads: compared with the host's own dynamic linker, for its programs
// and for random graphs of made-up libraries with all kinds of search paths.

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/image/elf/program_headers.h"
#include "tas/libraries.h"
#include "tas/library_cache.h"
#include "tests/unit/command.h"
#include "tests/unit/temporary_folder.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";

/// The entries of a made-up image for the dynamic linker.
struct Made {
  std::string soname = {}, rpath = {}, runpath = {}, interpreter = {};
  std::vector<std::string> needed = {}, auxiliary = {};
  uint16_t machine = EM_X86_64;
  bool no_default_folders = false;
};

std::vector<uint8_t> image_of(const Made& made) {
  constexpr uint64_t kDynamic = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Phdr);
  std::string strings(1, '\0');
  std::vector<Elf64_Dyn> dynamic;
  const auto add = [&](int64_t tag, uint64_t value) {
    Elf64_Dyn entry{};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    dynamic.push_back(entry);
  };
  const auto add_name = [&](int64_t tag, const std::string& name) {
    add(tag, strings.size());
    strings += name + '\0';
  };
  for (const std::string& name : made.needed) add_name(DT_NEEDED, name);
  for (const std::string& name : made.auxiliary) add_name(DT_AUXILIARY, name);
  if (!made.soname.empty()) add_name(DT_SONAME, made.soname);
  if (!made.rpath.empty()) add_name(DT_RPATH, made.rpath);
  if (!made.runpath.empty()) add_name(DT_RUNPATH, made.runpath);
  if (made.no_default_folders) add(DT_FLAGS_1, DF_1_NODEFLIB);
  const uint64_t tables = kDynamic + (dynamic.size() + 7) * sizeof(Elf64_Dyn);
  add(DT_HASH, tables);  // one bucket, one symbol
  add(DT_SYMTAB, tables + 16);
  add(DT_SYMENT, sizeof(Elf64_Sym));
  const uint64_t at = tables + 16 + sizeof(Elf64_Sym);
  add(DT_STRTAB, at);
  add(DT_STRSZ, strings.size());
  add(DT_NULL, 0);
  const uint64_t interpreter = at + strings.size();
  strings += made.interpreter + '\0';

  std::vector<uint8_t> file(at + strings.size());
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = made.machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  const uint64_t size = dynamic.size() * sizeof(Elf64_Dyn), name = made.interpreter.size() + 1;
  std::vector<Elf64_Phdr> segments = {
      {PT_LOAD, PF_R | PF_W, 0, 0, 0, file.size(), file.size(), 0x1000},
      {PT_DYNAMIC, PF_R | PF_W, kDynamic, kDynamic, kDynamic, size, size, 8}};
  if (!made.interpreter.empty()) {
    const Elf64_Phdr phdr = {PT_PHDR,
                             PF_R,
                             sizeof header,
                             sizeof header,
                             sizeof header,
                             4 * sizeof(Elf64_Phdr),
                             4 * sizeof(Elf64_Phdr),
                             8};
    segments.insert(segments.begin(), phdr);
    segments.push_back({PT_INTERP, PF_R, interpreter, interpreter, interpreter, name, name, 1});
  }
  header.e_phnum = uint16_t(segments.size());
  const uint32_t hash[] = {1, 1, 0, 0};
  std::memcpy(&file[0], &header, sizeof header);
  std::memcpy(&file[sizeof header], segments.data(), segments.size() * sizeof(Elf64_Phdr));
  std::memcpy(&file[kDynamic], dynamic.data(), size);
  std::memcpy(&file[tables], hash, sizeof hash);
  std::memcpy(&file[at], strings.data(), strings.size());
  return file;
}

void write(const fs::path& path, const Made& made) {
  fs::create_directories(path.parent_path());
  const std::vector<uint8_t> bytes = image_of(made);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  fs::permissions(path, fs::perms::owner_all);
}

/// Pairs of the name by which a library is needed, and its file; "" if the library is missing. A
/// library may be missing for one object and found for another.
using Found = std::set<std::pair<std::string, std::string>>;

/// The libraries that the dynamic linker itself finds.
Found ask_loader(const fs::path& program, const std::string& library_path) {
  const std::string command = "LD_TRACE_LOADED_OBJECTS=1 LD_LIBRARY_PATH='" + library_path + "' '" +
                              program.string() + "' 2>/dev/null";
  Found found;
  std::istringstream lines(run_command(command).output);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.find("linux-vdso") != line.npos || line.find(kLoader) != line.npos)
      continue;
    const size_t arrow = line.find(" => "), address = line.rfind(" (0x");
    const std::string name = line.substr(1, std::min(arrow, address) - 1);
    std::string file = arrow == line.npos ? name : line.substr(arrow + 4, address - arrow - 4);
    if (line.ends_with("not found")) file.clear();
    found.emplace(name, file.empty() ? "" : fs::canonical(file).string());
  }
  return found;
}

Found ask_us(const fs::path& program, const std::string& library_path) {
  const Libraries libraries =
      find_libraries(read_program(program), {library_path, "", "/etc/ld.so.cache"});
  Found found;
  for (const LoadedLibrary& library : libraries.loaded)
    if (library.name != kLoader)  // listed only if a library needs it
      found.emplace(library.name, fs::canonical(library.path));
  for (const MissingLibrary& library : libraries.missing) found.emplace(library.name, "");
  return found;
}

bool host_is_known() {
  return fs::exists(kLoader);
}

TEST(Libraries, OfTheHostsPrograms) {
  if (!host_is_known()) GTEST_SKIP();
  int compared = 0;
  std::vector<fs::path> programs;
  for (const auto& entry : fs::directory_iterator("/usr/bin")) programs.push_back(entry.path());
  std::sort(programs.begin(), programs.end());
  for (size_t i = 0; i < programs.size() && compared < 150; i += 3) {
    ProgramImage program;
    try {
      program = read_program(programs[i]);
    } catch (const Error&) {
      continue;  // a script
    }
    struct stat status {};
    stat(program.path.c_str(), &status);
    if (!program.view.dynamic || program.view.interpreter.empty() ||
        (status.st_mode & (S_ISUID | S_ISGID)) != 0)
      continue;
    ++compared;
    EXPECT_EQ(ask_us(program.path, ""), ask_loader(program.path, "")) << program.path;
  }
  EXPECT_GT(compared, 10);
}

/// A random world of folders, libraries and a program; several folders may have a library of the
/// same name.
struct World {
  explicit World(unsigned seed) : random(seed) {}

  unsigned below(unsigned limit) { return unsigned(random() % limit); }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::string some_folder() {
    const std::string name(1, char('a' + below(5)));
    switch (below(6)) {
      case 0:
        return "$ORIGIN/../" + name;
      case 1:
        return "${ORIGIN}/../" + name + "/";
      case 2:
        return "$ORIGIN";
      case 3:
        return (root / name).string() + "/$PLATFORM";
      default:
        return (root / name).string();
    }
  }
  std::string some_folders() {
    std::string list;
    for (unsigned i = 0, n = 1 + below(3); i < n; ++i) list += (i ? ":" : "") + some_folder();
    return list;
  }
  std::string name_of(unsigned library) { return "libr" + std::to_string(library) + ".so"; }

  Made some_image() {
    Made made;
    for (unsigned i = 0, n = below(4); i < n; ++i)
      made.needed.push_back(chance(8) ? "$ORIGIN/../a/" + name_of(below(8)) : name_of(below(8)));
    if (chance(15)) made.needed.push_back("libm.so.6");
    if (chance(45)) made.rpath = some_folders();
    if (chance(30)) made.runpath = some_folders();
    if (chance(10)) made.no_default_folders = true;
    return made;
  }

  /// Makes the files; returns the program.
  fs::path make() {
    for (char letter = 'a'; letter < 'f'; ++letter)
      for (unsigned library = 0; library < 8; ++library) {
        if (!chance(40)) continue;
        Made made = some_image();
        if (chance(70)) made.soname = name_of(library);
        if (chance(10)) made.soname = name_of(below(8));
        if (chance(10)) made.machine = 0x9026;
        fs::path path = root / std::string(1, letter);
        if (chance(10)) path /= chance(50) ? "x86_64" : "tls";
        write(path / name_of(library), made);
      }
    if (chance(50) && fs::exists(root / "a")) fs::create_symlink(root / "a", root / "f");
    Made program = some_image();
    program.interpreter = kLoader;
    if (program.needed.empty()) program.needed = {name_of(0), name_of(1)};
    write(root / "bin" / "program", program);
    if (!chance(30)) return root / "bin" / "program";
    fs::create_directories(root / "other");
    fs::create_symlink("../bin/program", root / "other" / "link");
    return root / "other" / "link";
  }

  std::mt19937 random;
  const TemporaryFolder folder;
  fs::path root = fs::canonical(folder.path());
};

TEST(Libraries, RandomGraphs) {
  if (!host_is_known()) GTEST_SKIP();
  size_t found = 0, missing = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    World world(seed);
    const fs::path program = world.make();
    const std::string library_path = world.chance(50) ? world.some_folders() : "";
    const Found expected = ask_loader(program, library_path);
    ASSERT_EQ(ask_us(program, library_path), expected) << "seed " << seed;
    for (const auto& [name, file] : expected) ++(file.empty() ? missing : found);
  }
  EXPECT_GT(found, 150u);
  EXPECT_GT(missing, 50u);
}

TEST(Libraries, OrderIsBreadthFirst) {
  if (!host_is_known()) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::string here = folder.path();
  write(folder / "p", {.rpath = here, .interpreter = kLoader, .needed = {"a.so", "b.so"}});
  write(folder / "a.so", {.needed = {"c.so"}});
  write(folder / "b.so", {.needed = {"d.so", "c.so"}});
  write(folder / "c.so", {});
  write(folder / "d.so", {});
  const Libraries libraries = find_libraries(read_program(folder / "p"), {});
  std::vector<std::string> names;
  for (const LoadedLibrary& library : libraries.loaded) names.push_back(library.name);
  EXPECT_EQ(names, (std::vector<std::string>{kLoader, "a.so", "b.so", "c.so", "d.so"}));
}

TEST(Libraries, AuxiliaryOnesMayBeMissing) {
  const TemporaryFolder folder;
  write(folder / "p", {.rpath = folder.path(), .interpreter = kLoader, .auxiliary = {"a", "b"}});
  write(folder / "a", {});
  const Libraries libraries = find_libraries(read_program(folder / "p"), {});
  EXPECT_EQ(libraries.loaded.back().name, "a");
  EXPECT_TRUE(libraries.missing.empty());
}

TEST(Libraries, SysrootStandsForTheRoot) {
  const TemporaryFolder folder;
  const fs::path root = folder / "root";
  const uint16_t machine = elf::number_of_machine(MachineId::alpha);
  write(folder / "p",
        {.interpreter = "/lib/ld.so", .needed = {"a.so", "b.so"}, .machine = machine});
  write(root / "lib/ld.so", {.machine = machine});
  write(root / "usr/lib/a.so", {.machine = machine});
  write(root / "lib/b.so", {.machine = EM_X86_64});
  const Libraries libraries = find_libraries(read_program(folder / "p"), {"", root, "/no/cache"});
  ASSERT_EQ(libraries.loaded.size(), 2u);
  EXPECT_EQ(libraries.loaded[0].path, root / "lib/ld.so");
  EXPECT_EQ(libraries.loaded[1].path, root / "usr/lib/a.so");
  ASSERT_EQ(libraries.missing.size(), 1u);
  EXPECT_EQ(libraries.missing[0].name, "b.so");
}

TEST(Libraries, AProgramElsewhereFindsThoseOfTheOriginal) {
  const TemporaryFolder folder;
  const Made program{.rpath = "$ORIGIN/../lib", .interpreter = kLoader, .needed = {"a.so"}};
  write(folder / "bin/p", program);
  write(folder / "some/where/p", program);
  write(folder / "lib/a.so", {});
  const fs::path original = folder / "bin/p";
  EXPECT_TRUE(variables_to_find_libraries(original, original).empty());
  const auto variables = variables_to_find_libraries(folder / "some/where/p", original);
  ASSERT_EQ(variables.size(), 1u);
  EXPECT_TRUE(variables[0].starts_with("LD_LIBRARY_PATH=")) << variables[0];
  EXPECT_NE(variables[0].find((folder / "lib").string()), std::string::npos) << variables[0];
}

TEST(Libraries, DamagedImages) {
  const TemporaryFolder folder;
  Made made{.soname = "s", .rpath = "r", .interpreter = kLoader, .needed = {"a", "b"}};
  const std::vector<uint8_t> good = image_of(made);
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bytes = good;
    for (int n = 0; n < 1 + i % 3; ++n) bytes[random() % bytes.size()] = uint8_t(random());
    if (i % 7 == 0) bytes.resize(random() % bytes.size());
    try {
      view_of(bytes, "x");
    } catch (const Error&) {
    }
  }
  EXPECT_THROW(read_program(folder / "none"), Error);
  EXPECT_THROW(read_program(folder.path()), Error);
}

TEST(Libraries, OfALibraryByItself) {
  if (!host_is_known()) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::string own = "$ORIGIN/own";
  fs::create_directory(folder / "own");
  write(folder / "liba.so", {.soname = "liba.so", .runpath = own, .needed = {"libb.so", "none"}});
  write(folder / "own" / "libb.so", {.soname = "libb.so", .needed = {"liba.so"}});
  fs::permissions(folder / "liba.so", fs::perms(0644));
  EXPECT_THROW(read_program(folder / "liba.so"), Error);
  const ProgramImage library = read_program_or_library(folder / "liba.so");
  EXPECT_FALSE(library.view.is_program());
  const Libraries libraries = find_libraries(library, {});
  ASSERT_EQ(libraries.loaded.size(), 1u) << "neither a dynamic linker nor itself";
  EXPECT_EQ(libraries.loaded[0].path, folder / "own" / "libb.so");
  ASSERT_EQ(libraries.missing.size(), 1u);
  EXPECT_EQ(libraries.missing[0].name, "none");
  write(folder / "p", {.interpreter = kLoader});
  EXPECT_TRUE(read_program_or_library(folder / "p").view.is_program());
}

std::optional<uint16_t> number_of(const fs::path& path) {
  const auto machine = file_machine_of(path);
  return machine ? std::optional(machine->raw) : std::nullopt;
}

TEST(Libraries, MachineOfAFile) {
  const TemporaryFolder folder;
  const fs::path path = folder / "image.so";
  for (const uint16_t machine : {uint16_t{EM_X86_64}, uint16_t{EM_IA_64}, uint16_t{0x9026}}) {
    write(path, {.machine = machine});
    EXPECT_EQ(number_of(path), machine);
    EXPECT_EQ(read_loader_view(path).machine.raw, machine);
  }
  const std::vector<uint8_t> image = image_of({});
  const auto of = [&](std::vector<uint8_t> bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return number_of(path);
  };
  EXPECT_EQ(of(image), EM_X86_64);
  EXPECT_EQ(of({image.begin(), image.begin() + sizeof(Elf64_Ehdr) - 1}), std::nullopt);
  for (const int place : {0, EI_CLASS, EI_DATA, 16}) {  // 16: e_type
    std::vector<uint8_t> bytes = image;
    bytes[place] = 9;
    EXPECT_EQ(of(bytes), std::nullopt) << place;
  }
  EXPECT_EQ(file_machine_of(folder / "none"), std::nullopt);
  EXPECT_EQ(file_machine_of(folder.path()), std::nullopt);
}

TEST(Libraries, DamagedCaches) {
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::vector<uint8_t> good((std::istreambuf_iterator<char>(file)), {});
  std::mt19937 random(1);
  EXPECT_FALSE(LibraryCache().find("libc.so.6", 3, {}));
  for (int i = 0; i < 200 && !good.empty(); ++i) {
    std::vector<uint8_t> bytes = good;
    for (int n = 0; n < 20; ++n)
      bytes[random() % std::min<size_t>(bytes.size(), 4096)] = uint8_t(random());
    if (i % 3 == 0) bytes.resize(random() % bytes.size());
    LibraryCache(bytes).find("libc.so.6", 0x303, {});
  }
}

}  // namespace
}  // namespace respike
