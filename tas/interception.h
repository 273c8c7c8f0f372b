#pragma once
// Starts programs with other images in the place of their own wherever they are executed below a
// command, however they are executed.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tas/attendant.h"
#include "tas/kernel_formats.h"
#include "tas/session.h"

namespace respike {

/// A substitution as it was decided on, for the file that the original was then.
struct CheckedSubstitution : Substitution {
  std::string record;  // file_record() of the original
};

struct InterceptedProgram {
  std::filesystem::path path;  // without symbolic links
  std::string record;          // file_record()
  int application = 0;         // programs of an application have the same libraries
  std::vector<CheckedSubstitution> substitutions;  // originals without symbolic links
  std::filesystem::path versions;  // of programs of Windows: the table (windows_versions.h)
  Notes notes;
  std::string state;   // what the attendant is told (start_table.h, d); empty: nothing
  std::string images;  // with `state`: tells versions apart, one word
};

/// A library that is substituted in all programs that load it.
struct InterceptedLibrary {
  const Platform* platform = nullptr;
  CheckedSubstitution substitution;
};

/// What tells whether a file is still the same, also when it was only touched or copied anew. Reads
/// the file. Throws Error when the file cannot be read.
std::string file_record(const std::filesystem::path& file);

/// Lets the kernel call respike-starter for the programs, for this process and its descendants.
class Interception {
 public:
  /// `folder`: where the rules are kept, visible in the session alone; it stays empty outside. Root
  /// has a folder in /run instead, where other users whom root becomes can read the rules.
  Interception(std::vector<InterceptedProgram> programs, std::filesystem::path folder,
               std::vector<InterceptedLibrary> libraries = {});

  /// Enters the session's namespaces. This process must have one thread. `attendant` is told how
  /// programs end and asked for versions of what they open. Returns why libraries cannot be
  /// substituted, a sentence; empty: they are. Throws Error, one sentence, when the system does not
  /// allow it.
  std::string enter(const Attendant& attendant);

  /// The folder of the rules; known after enter().
  const std::filesystem::path& folder() const { return folder_; }

  /// Makes the rules of a running session, whose folder was given, those for the programs. This
  /// process must be in the session's mount namespace. A program that is started meanwhile goes by
  /// old rules or by new ones. Throws Error.
  void update();

  /// Whether programs are intercepted where this process is.
  static bool holds();
  /// Removes from the environment of this process what lets programs below a command see versions
  /// of libraries.
  static void forget_libraries();

  /// Becomes the command, looked for in PATH. Throws Error when it cannot be started.
  [[noreturn]] static void become(const std::vector<std::string>& command);

 private:
  void make_folder();
  void mount_rules();
  std::string put_libraries() const;
  std::string libraries_of(const Platform& platform);
  void put_rules(std::map<std::string, FormatRule> present);
  void recall_originals();
  void keep_originals();
  std::filesystem::path keep(const std::filesystem::path& original);
  void add_machine_rule(const Platform& platform);
  void add_table_rule(FormatRule rule, const std::string& table);
  std::string table_of(const std::string& magic,
                       const std::vector<const InterceptedProgram*>& programs);
  std::filesystem::path distinguishable(const std::filesystem::path& substitute,
                                        const Platform& platform);

  std::vector<InterceptedProgram> programs_;
  std::vector<InterceptedLibrary> libraries_;
  std::filesystem::path folder_;
  std::vector<std::string> magics_;  // of all programs
  struct Kept {
    std::filesystem::path place;  // where the original is shown, too
    std::string owner;            // of a program: its application
  };
  std::map<std::filesystem::path, Kept> kept_;  // originals
  std::vector<FormatRule> before_;              // rules that hold outside, the newest first
  unsigned rules_ = 0;
  unsigned originals_ = 0;
  bool can_mount_ = true;
};

}  // namespace respike
