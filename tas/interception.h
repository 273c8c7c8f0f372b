#pragma once
// Starts programs with other images in place of their own, wherever below a command and in whatever
// way the programs are executed.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tas/attendant.h"
#include "tas/kernel_formats.h"
#include "tas/session.h"

namespace respike {

/// A substitution, with the state that the original had when the substitution was chosen.
struct CheckedSubstitution : Substitution {
  std::string record;  // file_record() of the original
};

struct InterceptedProgram {
  std::filesystem::path path;  // without symbolic links
  std::string record;          // file_record()
  int application = 0;         // programs of one application share their libraries
  std::vector<CheckedSubstitution> substitutions;  // originals without symbolic links
  std::filesystem::path versions;  // for programs of Windows: the table (windows_versions.h)
  Notes notes;
  std::string state;   // the message for the attendant (start_table.h, d); empty: none
  std::string images;  // with `state`: identifies the versions, one word
};

/// A library that is substituted in all programs that load it.
struct InterceptedLibrary {
  const Platform* platform = nullptr;
  CheckedSubstitution substitution;
};

/// A record that shows whether a file is still the same, even if it was touched or copied again.
/// Reads the file. Throws Error when the file cannot be read.
std::string file_record(const std::filesystem::path& file);

/// Lets the kernel call respike-starter for the programs, for this process and its descendants.
class Interception {
 public:
  /// `folder`: where the rules are kept, visible only in the session; outside it stays empty. For
  /// root it is a folder in /run instead, where other users that root becomes can read the rules.
  Interception(std::vector<InterceptedProgram> programs, std::filesystem::path folder,
               std::vector<InterceptedLibrary> libraries = {});

  /// Enters the session's namespaces. This process must have one thread. `attendant` learns how
  /// programs end and gives versions of libraries that they open. Returns why libraries cannot be
  /// substituted, a sentence; empty: they are substituted. Throws Error, one sentence, when the
  /// system does not allow it.
  std::string enter(const Attendant& attendant);

  /// The folder of the rules; known after enter().
  const std::filesystem::path& folder() const { return folder_; }

  /// Replaces the rules of a running session, whose folder was given, by the rules for these
  /// programs. This process must be in the session's mount namespace. A program that starts in the
  /// meantime follows either old or new rules. Throws Error.
  void update();

  /// Whether programs are intercepted where this process is.
  static bool holds();
  /// Removes from the environment of this process the variables by which programs below a command
  /// see versions of libraries.
  static void forget_libraries();

  /// Becomes the command, searched for in PATH. Throws Error when the command cannot be started.
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
    std::filesystem::path place;  // where the original is shown a second time
    std::string owner;            // of a program: its application
  };
  std::map<std::filesystem::path, Kept> kept_;  // originals
  std::vector<FormatRule> before_;              // rules that hold outside, the newest first
  unsigned rules_ = 0;
  unsigned originals_ = 0;
  bool can_mount_ = true;
};

}  // namespace respike
