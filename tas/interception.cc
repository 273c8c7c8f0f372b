// Intercepts programs by the first bytes of their files.
//
// Problem: `respike run` mounts substitutes for one program that it starts itself. Below a shell, a
// makefile or a test suite it is not known beforehand which process executes the program, and a
// mount for all processes would disturb those that read, replace or remove the file.
//
// Solution: binfmt_misc. The kernel compares the first bytes of each file that is executed with its
// rules, and runs the interpreter of the rule that fits: here respike-starter (runtime/starter.c),
// which makes the mounts in a namespace of only this program. That works for every way of executing
// the program, costs other programs nothing, and needs no privilege: a user namespace may have
// rules of its own. The rules also hold in the namespaces below it, and disappear with the
// namespace.
//
//     system -> U: rules, mounts -> V: the same user, the command
//
// (Root needs no V.) Tables for the starter are in a tmpfs of the session's mount namespace: when
// the last process of the session has ended, in whatever way, the kernel frees all of it.
//
//     FOLDER/respike-start-4026532201-0        a link to respike-starter: the rule's interpreter
//     FOLDER/respike-start-4026532201-0.table  programs with these first bytes
//                                              (runtime/start_table.h)
//     FOLDER/all                               all files that are substituted
//     FOLDER/originals                         these files, where no substitute hides them
//     FOLDER/libraries, FOLDER/libraries.so    libraries that are substituted in all programs that
//                                              load them, and the audit module that does it
//     FOLDER/attendant                         the socket of the attendant (attendant.h)
//     FOLDER/twins, FOLDER/copies              images whose first bytes differ from the originals'
//
// The first bytes of a substitute must differ from those of every program, or the kernel would call
// the starter for the substitute. A layout may leave the first bytes unchanged; then a copy with
// other flags runs.
//
// The rules of the system, or of a surrounding session, do not hold in a namespace with rules of
// its own; so they are copied. A rule of this kind also gives foreign programs that are not
// registered their emulator.
//
// Limits: Linux 6.7. An open file that is closed on execution cannot be executed by its number. In
// another root folder (chroot) the starter finds no tables and refuses. Programs that get
// privileges are not intercepted.

#include "tas/interception.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "host/platform.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/image/elf/program_headers.h"
#include "tas/kernel_formats.h"
#include "tas/libraries.h"
#include "tas/namespaces.h"
#include "tas/processes.h"
#include "tas/runtime/audit_module.h"
#include "tas/runtime/start_table.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStarter = "respike-starter";
constexpr const char* kFolderOfRoot = "/run/respike";
constexpr const char* kList = "all";
constexpr const char* kTable = ".table";
constexpr const char* kAttendant = "attendant";
constexpr const char* kLibraries = "libraries";
constexpr const char* kModule = "libraries.so";

uint64_t nanoseconds(const struct statx_timestamp& time) {
  return uint64_t(time.tv_sec) * 1000000000u + time.tv_nsec;
}

std::string file_start(const fs::path& file) {
  std::string bytes(kMagicSize, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), std::streamsize(bytes.size()));
  bytes.resize(size_t(stream.gcount()));
  return bytes;
}

std::string text_of_file(const fs::path& file) {
  const std::vector<uint8_t> bytes = read_file(file);
  return {bytes.begin(), bytes.end()};
}

/// The number at the end of a name, after the last `mark`; 0: none.
unsigned number_behind(const std::string& name, const std::string& mark) {
  const size_t at = mark.empty() ? 0 : name.rfind(mark) + mark.size();
  return unsigned(std::strtoul(name.c_str() + std::min(at, name.size()), nullptr, 10));
}

void add_field(std::string& table, char letter, const std::string& text) {
  table += letter;
  table += text;
  table += '\0';
}

/// Writes a file that all users may read, in one step.
void put_file(const fs::path& path, std::string_view text, mode_t mode = 0644) {
  const fs::path part = path.string() + ".new";
  std::ofstream stream(part, std::ios::binary);
  stream.write(text.data(), std::streamsize(text.size()));
  stream.close();
  if (!stream || chmod(part.c_str(), mode) != 0 || rename(part.c_str(), path.c_str()) != 0)
    throw Error(fmt::format("it cannot be written: {}", std::strerror(errno)), path);
}

void put_folder(const fs::path& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) != 0 || chmod(path.c_str(), mode) != 0)
    throw Error(fmt::format("the folder cannot be made: {}", std::strerror(errno)), path);
}

/// The start of a table: how programs of the machine differ from their twins, or how they are
/// emulated.
std::string start_of_table(const Platform& platform) {
  std::string table;
  add_field(table, 'n', fmt::format("{:x}", inode_of("/proc/self/ns/mnt")));
  if (platform.native()) {
    add_field(table, 'm', fmt::format("{:x}", elf::kFlagsOffset));
    return table;
  }
  const std::string why = fmt::format("programs for {} run under it", platform.name);
  add_field(table, 'e', find_emulator(platform, why));
  std::vector<std::string> words = emulator_words(platform, "");
  words.pop_back();  // argv[0]: the starter knows it
  for (const std::string& word : words) add_field(table, 'w', word);
  if (!platform.variable_option.empty())
    add_field(table, 'v', std::string(platform.variable_option));
  return table;
}

/// `attendant`: a path that leads to the attendant, or empty.
void add_notes(std::string& table, const Notes& notes, const Platform& platform,
               const fs::path& attendant) {
  if (notes.folder.empty()) return;
  std::error_code error;
  const bool asks = fs::is_socket(attendant, error);
  if (!notes.audit_module.empty()) {
    add_field(table, 'a', notes.audit_module);
    add_field(table, 'f', "RESPIKE_OPENED=" + notes.folder.string());
    if (asks) add_field(table, 'b', "RESPIKE_ATTENDANT=" + attendant.string());
  } else if (!platform.native()) {
    add_field(table, 'x', std::string(platform.opened_option));
    add_field(table, 'x', notes.folder);
    if (!asks || platform.attendant_option.empty()) return;
    add_field(table, 'x', std::string(platform.attendant_option));
    add_field(table, 'x', attendant);
  }
}

/// The programs of a surrounding session that begin with `magic`, as fields of a table.
std::string programs_outside(const std::vector<FormatRule>& rules, const std::string& magic) {
  for (const FormatRule& rule : rules) {
    std::error_code error;
    const fs::path table = rule.interpreter + kTable;
    if (rule.magic != magic || !rule.mask.empty() || !fs::exists(table, error)) continue;
    const std::string text = text_of_file(table);
    const size_t end = text.find(std::string("\0p", 2));
    return end == text.npos ? "" : text.substr(end + 1);
  }
  return "";
}

}  // namespace

std::string file_record(const fs::path& file) {
  struct statx status {};
  const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0 || statx(opened, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &status) != 0) {
    const int error = errno;
    if (opened >= 0) close(opened);
    throw Error(fmt::format("it cannot be read: {}", std::strerror(error)), file);
  }
  void* bytes = status.stx_size == 0
                    ? MAP_FAILED
                    : mmap(nullptr, status.stx_size, PROT_READ, MAP_PRIVATE, opened, 0);
  close(opened);
  const bool mapped = bytes != MAP_FAILED;
  const uint64_t sum = sum_of_contents(bytes, mapped ? status.stx_size : 0);
  if (mapped) munmap(bytes, status.stx_size);
  return fmt::format("{:x} {:x} {:x} {:x} {:x} {:x}",
                     uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor, status.stx_ino,
                     status.stx_size, nanoseconds(status.stx_mtime), nanoseconds(status.stx_ctime),
                     sum);
}

Interception::Interception(std::vector<InterceptedProgram> programs, fs::path folder,
                           std::vector<InterceptedLibrary> libraries)
    : programs_(std::move(programs)),
      libraries_(std::move(libraries)),
      folder_(std::move(folder)) {}

/// Makes the folder on which the rules are mounted. In a session of the same user it is taken; then
/// the new folder is inside that session's folder.
void Interception::make_folder() {
  std::error_code error;
  if (geteuid() == 0 && (fs::create_directories(kFolderOfRoot, error), !error))
    folder_ = kFolderOfRoot;
  fs::create_directories(folder_, error);
  if (error) throw Error(fmt::format("the folder cannot be made: {}", error.message()), folder_);
  folder_ = fs::canonical(folder_);
  if (!fs::exists(folder_ / kList)) return;
  folder_ /= fmt::format("inner-{}", getpid());
  fs::create_directory(folder_);
}

void Interception::mount_rules() {
  if (mount("respike", folder_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=0711") != 0)
    throw Error(failure("a file system in memory cannot be mounted"), folder_);
  put_folder(folder_ / "twins", 01777);
  put_folder(folder_ / "copies", 0711);
  put_folder(folder_ / "originals", 0711);
  keep_originals();
}

/// Shows an original a second time, for programs that start where the substitutes of other programs
/// hide it. The place is read-only: `rm -r` and `chmod -R` may reach it.
fs::path Interception::keep(const fs::path& original) {
  const fs::path place = folder_ / "originals" / std::to_string(originals_++);
  put_file(place, "");
  mount_read_only(place, original);
  return place;
}

void Interception::keep_originals() {
  for (const InterceptedProgram& program : programs_)
    for (const CheckedSubstitution& s : program.substitutions) {
      std::error_code error;
      Kept& kept = kept_[s.original];
      if (kept.place.empty() || !fs::equivalent(kept.place, s.original, error))
        kept.place = can_mount_ ? keep(s.original) : s.original;
      if (s.original == program.path) kept.owner = fmt::format("{:x}", program.application);
    }
  std::string list;
  for (const auto& [path, kept] : kept_) {
    add_field(list, 'p', path);
    add_field(list, 'k', kept.place);
    add_field(list, 'g', kept.owner);
  }
  put_file(folder_ / kList, list);
}

/// Reads what keep_originals() wrote when the session's rules were last made.
void Interception::recall_originals() {
  std::istringstream list(text_of_file(folder_ / kList));
  std::string path, place, owner;
  while (std::getline(list, path, '\0') && std::getline(list, place, '\0') &&
         std::getline(list, owner, '\0'))
    kept_[path.substr(1)] = {place.substr(1), owner.substr(1)};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ / "originals", error))
    originals_ = std::max(originals_, number_behind(entry.path().filename(), "") + 1);
}

std::string Interception::enter(const Attendant& attendant) {
  if (const auto why = make_root_a_mount())
    throw Error(fmt::format("programs cannot be intercepted: {}", *why));
  before_ = format_rules();
  make_folder();
  Namespace own;
  if (const auto why = own.enter(true))
    throw Error(fmt::format("programs cannot be intercepted: {}", *why));
  keep_mounts_private();
  mount_rules();
  attendant.serve_at(folder_ / kAttendant, true);
  if (!mount_formats())
    throw Error(
        failure("programs cannot be intercepted: that needs a binfmt_misc for the user "
                "namespace, as Linux has since 6.7"));
  for (auto rule = before_.rbegin(); rule != before_.rend(); ++rule)
    add_format(*rule);  // a rule whose interpreter is gone fails, as it would without Respike
  for (const Platform& platform : platforms()) {
    const bool wanted = std::ranges::any_of(libraries_, [&](const InterceptedLibrary& library) {
      return library.platform == &platform;
    });
    if (!platform.native() && (wanted || !are_executed(platform, before_)))
      add_machine_rule(platform);
  }
  put_rules({});
  std::string problem = put_libraries();
  for (const InterceptedLibrary& library : libraries_)
    if (library.platform->windows)
      problem = fmt::format(
          "{} is not substituted: libraries of Windows are substituted in programs that are "
          "registered, not by themselves",
          library.substitution.original.string());
  own.leave();
  return problem;
}

/// Libraries of the host's machine are substituted by the audit module, which is loaded in all
/// programs that have its variables (runtime/opened.c).
std::string Interception::put_libraries() const {
  std::string table;
  std::span<const uint8_t> module;
  for (const auto& [platform, s] : libraries_) {
    if (!platform->native()) continue;
    module = audit_module(platform->machine);
    add_field(table, 'o', s.original);
    add_field(table, 'i', s.record);
    add_field(table, 's', s.substitute);
  }
  if (table.empty()) return "";
  const fs::path path = folder_ / kModule;
  if (module.empty())
    return "libraries cannot be substituted: Respike was built without the audit module";
  if (path.native().find_first_of(":$") != std::string::npos)
    return fmt::format(
        "libraries cannot be substituted: the dynamic linker cannot read the path {}",
        path.string());
  put_file(folder_ / kLibraries, table);
  put_file(path, {reinterpret_cast<const char*>(module.data()), module.size()});
  const char* others = std::getenv("LD_AUDIT");
  setenv("LD_AUDIT", (path.string() + (others ? ":" : "") + (others ? others : "")).c_str(), 1);
  setenv("RESPIKE_LIBRARIES", (folder_ / kLibraries).c_str(), 1);
  return "";
}

/// The same for programs of another machine, as fields of a table: the starter sees all starts of
/// these programs.
std::string Interception::libraries_of(const Platform& platform) {
  std::string fields;
  for (const auto& [of, s] : libraries_) {
    if (of != &platform) continue;
    if (fields.empty()) {
      add_field(fields, 'p', "*");
      add_field(fields, 'i', "");
    }
    add_field(fields, 'o', s.original);
    add_field(fields, 'i', s.record);
    add_field(fields, 's', s.substitute);
    add_field(fields, 'k', s.original);
  }
  return fields;
}

void Interception::update() {
  const int lock = open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX) != 0)
    throw Error(failure("the session's rules cannot be changed"));
  can_mount_ = may_mount();
  std::map<std::string, FormatRule> present;
  for (FormatRule& rule : format_rules()) {
    if (fs::path(rule.interpreter).parent_path() != folder_) {
      before_.push_back(rule);
      continue;
    }
    rules_ = std::max(rules_, number_behind(rule.name, "-") + 1);
    if (rule.mask.empty()) present[rule.magic] = rule;
  }
  recall_originals();
  keep_originals();
  put_rules(present);
  close(lock);
}

/// Makes the rules for the programs; `present`: existing rules, keyed by the file's first bytes.
void Interception::put_rules(std::map<std::string, FormatRule> present) {
  std::map<std::string, std::vector<const InterceptedProgram*>> programs;
  for (const InterceptedProgram& program : programs_)
    programs[file_start(program.path)].push_back(&program);
  for (const auto& [magic, same] : programs) magics_.push_back(magic);
  for (const auto& [magic, same] : programs) {
    const std::string table = table_of(magic, same);
    const auto known = present.find(magic);
    if (known == present.end()) {
      FormatRule rule;
      rule.magic = magic;
      add_table_rule(rule, table);
    } else {
      put_file(folder_ / (known->second.name + kTable), table);
      present.erase(known);
    }
  }
  for (const auto& [magic, rule] : present) {
    remove_format(rule.name);
    unlink(rule.interpreter.c_str());
  }
}

/// The substitute, or a copy of it if its first bytes are those of one of the programs.
fs::path Interception::distinguishable(const fs::path& substitute, const Platform& platform) {
  if (!platform.native() || !std::ranges::binary_search(magics_, file_start(substitute)))
    return substitute;
  std::vector<uint8_t> bytes = read_file(substitute);
  uint32_t flags = 0;
  std::memcpy(&flags, bytes.data() + elf::kFlagsOffset, sizeof flags);
  flags ^= RESPIKE_TWIN_FLAGS;
  std::memcpy(bytes.data() + elf::kFlagsOffset, &flags, sizeof flags);
  const fs::path copy = folder_ / "copies" / substitute.filename();  // the file name is the hash of
                                                                     // the contents
  struct stat status {};
  stat(substitute.c_str(), &status);
  put_file(copy, {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
           status.st_mode & 0777);
  return copy;
}

/// Adds the rule for all unregistered programs of a machine; adds none without an emulator.
void Interception::add_machine_rule(const Platform& platform) {
  if (find_command(platform.emulator, platform.emulator_is_ours).empty()) return;
  if (auto rule = emulation_rule(platform))
    add_table_rule(*rule, start_of_table(platform) + libraries_of(platform));
}

/// Adds a rule that starts programs by a table.
void Interception::add_table_rule(FormatRule rule, const std::string& table) {
  std::error_code error;
  const fs::path starter = own_part(kStarter);
  rule.name = fmt::format("{}{}-{}", kInterceptionRules, inode_of("/proc/self/ns/mnt"), rules_++);
  rule.interpreter = folder_ / rule.name;
  rule.flags = "POF";  // keep argv[0]; pass the open file; open the interpreter now
  put_file(folder_ / (rule.name + kTable), table);
  fs::create_symlink(starter, rule.interpreter, error);
  if (error) throw Error(error.message(), rule.interpreter);
  if (!add_format(rule)) throw Error(failure("the kernel refuses the rule"), rule.interpreter);
}

/// The table of the programs that begin with `magic`.
std::string Interception::table_of(const std::string& magic,
                                   const std::vector<const InterceptedProgram*>& programs) {
  const Platform& platform = *read_program(programs.front()->path).platform;
  std::string table = start_of_table(platform);
  for (const InterceptedProgram* program : programs) {
    add_field(table, 'p', program->path);
    add_field(table, 'i', program->record);
    add_field(table, 'g', fmt::format("{:x}", program->application));
    if (platform.windows) {
      add_field(table, 'x', std::string(platform.versions_option));
      add_field(table, 'x', program->versions);
    }
    for (const CheckedSubstitution& s : program->substitutions)
      if (s.original == program->path && !platform.windows)
        add_field(table, 'r', distinguishable(s.substitute, platform));
    for (const CheckedSubstitution& s : program->substitutions) {
      if (s.original == program->path || platform.windows) continue;
      add_field(table, 'o', s.original);
      add_field(table, 'i', s.record);
      add_field(table, 's', s.substitute);
      add_field(table, 'k', kept_[s.original].place);
    }
    if (!program->state.empty()) {
      add_field(table, 'd', program->state);
      add_field(table, 'h', program->images);
      add_field(table, 't', folder_ / kAttendant);
    }
    add_notes(table, program->notes, platform, folder_ / kAttendant);
  }
  return table + programs_outside(before_, magic);
}

bool Interception::holds() {
  return is_intercepted(format_rules());
}

void Interception::forget_libraries() {
  const char* table = std::getenv("RESPIKE_LIBRARIES");
  const char* modules = std::getenv("LD_AUDIT");
  if (table == nullptr || modules == nullptr) return;
  const std::string own = fs::path(table).parent_path() / kModule;
  std::string others, module;
  for (std::istringstream all(modules); std::getline(all, module, ':');)
    if (module != own) others += (others.empty() ? "" : ":") + module;
  unsetenv("RESPIKE_LIBRARIES");
  if (others.empty())
    unsetenv("LD_AUDIT");
  else
    setenv("LD_AUDIT", others.c_str(), 1);
}

void Interception::become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  throw Error(fmt::format("it cannot be started: {}", std::strerror(errno)), command.front());
}

}  // namespace respike
