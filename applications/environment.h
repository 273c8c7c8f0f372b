#pragma once
// The optimization environment: what a user does with applications. The command line and the
// manager call the same functions; nothing here prints or exits.
//
// An application is one or more programs, or a library, with the images that they load. Each image
// is a file, known by its path without symbolic links, and has builds: the contents that the file
// has had. Instrumented and optimized images are derived from builds and kept beside the database;
// original files are never changed. Every operation looks at the files first: a file that changed
// is a new build, which gets the older build's profile as far as the profile fits. An image derived
// from an older build is neither run nor exported. An operation whose work is already done does
// nothing.
//
// Images of one application are for one machine, since they share a process. Operations that make,
// run or export images first collect counts, and then refuse to continue when the application's
// files are for two machines now.
//
// An operation that fails throws Error, one sentence; work that it has done by then stays.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/counters.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/steps.h"
#include "optimizer/profile/profile_set.h"
#include "profiledb/database.h"
#include "profiledb/merging.h"
#include "tas/attendant.h"
#include "tas/fault_place.h"
#include "tas/interception.h"
#include "tas/live_sessions.h"
#include "tas/session.h"

namespace respike {

class FileLock;
struct ImageContent;
struct LoaderView;
struct ProgramImage;

/// A file has new contents, but the database was opened only for reading.
class BuildNotNoted : public Error {
 public:
  using Error::Error;
};

/// What an operation did with an image, or why it left the image alone.
struct ImageOutcome {
  enum class State { made, up_to_date, left_out, not_optimizable };
  std::string path;
  Role role{};
  State state = State::left_out;
  std::string reason;              // of the last two states
  std::string file;                // exported: the new file
  std::vector<std::string> links;  // exported: symbolic links to the new file
  uint64_t procedures = 0;         // made: procedures that have counters, or that moved
  uint64_t of_procedures = 0;      // made: all procedures
  uint64_t unused = 0;             // instrumented: number of these to which nothing refers
  double runs = 0;                 // optimized: runs of this build in the profile
  double confidence = 0;           // optimized: in the profile; 0: only static estimates
  double carried_runs = 0;         // optimized: runs of older builds in the profile
  double carried_confidence = 0;
  std::string gain;  // optimized by a profile: the expected gain (describe() of report/gain.h)
};

/// Profiles that are used instead of the database's, and the file that they were read from.
struct GivenProfiles {
  std::string file;
  ProfileSet profiles;
};

struct OptimizeRequest {
  std::vector<std::string> images;     // by path, file name or SONAME; empty: all images
  ProfileOptions profile;              // how counts of the database are added up
  std::optional<GivenProfiles> given;  // used instead of the database's counts
  bool dynamic_fragments = false;      // as in OptimizeOptions
};

struct ExportPlace {
  enum class Names {
    file_names,  // images get their file names below `folder`
    paths,       // images keep their paths, below `folder`
    replaced,    // images replace the copies of their originals below `folder`
  };
  std::filesystem::path folder;
  Names names = Names::file_names;
  bool replaces = true;     // may replace files that Respike did not make
  bool relocations = true;  // images keep their relocations; without relocations they are as small
                            // as `strip` makes them, and cannot be optimized again
};

struct RegisterResult {
  std::string name;
  bool added = false;  // the application was not registered before
  struct RegisteredImage {
    ImageRow image;
    Role role{};
  };
  std::vector<RegisteredImage> images;
  std::vector<std::string> missing;  // names of libraries that the loader would not find
};

struct ProfileView {
  double runs = 0;          // weighted, of this build
  double coverage = 0;      // share of the procedures that were entered
  double confidence = 0;    // 1: this build was counted; less: counts of older builds only
  double carried_runs = 0;  // runs of older builds whose counts were carried over; not in `runs`
  double carried_confidence = 0;
  std::optional<int64_t> age_days;
  uint64_t version = 0;  // a hash, which changes when counts change
};

struct ImageView {
  ImageRow image;
  Role role{};
  std::string loaded_as;          // as in ApplicationImage
  std::string problem;            // the file cannot be read, or is for another machine than the
                                  // main image; else empty
  bool changed = false;           // the problem is a new build, which this process may not record
  std::optional<BuildRow> build;  // the present build, if the image can be optimized
  unsigned builds = 0;
  ProfileView profile;
  std::optional<DerivedRow> instrumented, optimized;  // of the present build
  bool profile_grew = false;                          // since `optimized` was made
};

struct ApplicationView {
  std::string name;
  std::string main;  // path of the program that was named first, or of the library
  Mode mode{};
  std::vector<ImageView> images;  // main, linked, opened
  std::optional<FaultRow> fault;  // of the optimized version
  std::optional<LastRun> last_run;
  std::optional<LastCheck> last_check;
  std::optional<LastExport> last_export;
  bool guarded = false;  // mode optimized: the original runs, because of the fault

  /// The images that can be started, the main image first; empty: the application is a library.
  std::vector<const ImageView*> programs() const;
};

/// What a command counted for an application.
struct CountedRuns {
  std::string name;
  std::vector<std::string> programs;  // paths of the images that count when they are executed or
                                      // loaded
  uint64_t runs = 0;
};

struct RunOptions {
  std::string program;  // which of the application's programs, by path or file name; empty: its
                        // only one
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // NAME=VALUE
  std::function<void(const std::string&)> warn;
  bool guard = false;  // record a fault that kills the optimized version
};

/// An application's program with its optimized images in their places.
struct OptimizedVersion {
  struct Image {
    std::filesystem::path path;  // without symbolic links
    bool optimized = false;
    std::string left_alone;  // why it is not optimized, a clause
  };
  std::filesystem::path program;
  std::vector<Substitution> substitutions;  // originals without symbolic links; not empty
  std::vector<Image> images;                // all of the application
  std::string runs_as_it_is;  // why an optimized version cannot run, a sentence; empty: all of them
                              // can
};

/// What is known about the last fault of an application's optimized version.
struct FaultReport {
  struct Image {
    std::string path;
    std::string original, optimized;  // content hashes
    std::string options;              // that the optimized image was made with
    std::string verdict;              // what a new comparison of both says
  };
  FaultRow fault;
  bool guarded = false;       // in mode optimized the original runs, because of the fault
  std::vector<Image> images;  // images that ran optimized and still exist
};

/// Where the optimized version of an application's program died when it ran again.
struct FaultAgain {
  FaultPlace place;
  std::string image;      // the application's image that holds the instruction; empty: none
  std::string procedure;  // procedure of the original that the instruction comes from; empty: not
                          // known
};

class Environment {
 public:
  /// Opens the database; for writing, creates it if there is none. When it is opened for reading,
  /// list() and show() show what the database holds, without the counts that wait to be merged, and
  /// every operation that writes throws Error.
  explicit Environment(const std::filesystem::path& database, Access access = Access::write);

  // ---- setting up ----

  /// Registers programs, or a library, and the libraries that they load, under `name`; empty: the
  /// file name of the only program. If the application is registered already, these programs
  /// replace its programs, and its libraries are searched for again. Throws Error when an
  /// application without any of these programs has the name. `root`: a staged tree (DESTDIR):
  /// programs and libraries are named by the paths that they will have, and read from below the
  /// root if they are there. Empty: no tree.
  RegisterResult register_application(const std::vector<std::filesystem::path>& main_images,
                                      std::string name, const std::filesystem::path& root = {});
  /// `again`: forgets a fault of the optimized version.
  void set_mode(const std::string& name, Mode mode, bool again = false);
  void unregister(const std::string& name);
  PruneResult prune(unsigned keep, bool dry_run);

  // ---- images ----

  /// Makes instrumented images of all images, or of those that `images` names (path, file name or
  /// SONAME), and sets the mode to instrumented. If no instrumented image can be made, throws Error
  /// and leaves the mode unchanged. Libraries of a program whose threads have counters of their own
  /// get atomic counters.
  std::vector<ImageOutcome> instrument(const std::string& name,
                                       const std::vector<std::string>& images, Counters counters);
  /// Makes optimized images in the same way, from the profiles of the builds or from given
  /// profiles. With given profiles, the same images and profiles give the same files in any folder
  /// and on any machine; then throws Error when no given profile is for an image of the
  /// application, or when a given profile is of another program.
  std::vector<ImageOutcome> optimize(const std::string& name, const OptimizeRequest& request = {});
  /// The profiles of the present builds of all images, or of those that `images` names, without the
  /// folders of the images. Throws Error when nothing was counted for these builds.
  ProfileSet export_profiles(const std::string& name, const std::vector<std::string>& images,
                             const ProfileOptions& use = {});
  /// Copies optimized images and makes the symbolic links to them. If `place` keeps paths, each
  /// image gets its path below the folder. Else an image gets its file name in the folder; images
  /// that find each other by $ORIGIN or share a name go into subfolders, placed to each other like
  /// the originals. A note says when the program would load other libraries than the exported ones.
  /// If `place` replaces copies, the files below the folder that have the contents of an original
  /// become its optimized version, even if they are the registered originals themselves: this is
  /// for staged trees, which the next build makes again. Throws Error, and writes nothing, when an
  /// image changed since it was optimized, no image is optimized, or a file is in the way that may
  /// not be replaced.
  std::vector<ImageOutcome> export_images(const std::string& name,
                                          const std::vector<std::string>& images,
                                          const ExportPlace& place);

  // ---- running ----

  /// Runs a program of the application in its mode. In mode instrumented, with options.guard, or
  /// after a fault of the optimized version, the program is a child of this process and run()
  /// returns how the program ended; otherwise this process becomes the program.
  ProgramEnd run(const std::string& name, const RunOptions& options);
  /// Becomes the command options.arguments. Wherever programs of the named applications are
  /// executed below it, they run in the modes of their applications. Throws Error when the system
  /// does not allow that, or when the command cannot be started.
  [[noreturn]] void exec(const std::vector<std::string>& names, const RunOptions& options);
  /// The same with all applications. Later changes of the applications, including registering and
  /// forgetting, take effect at the next start of a program below the command.
  [[noreturn]] void session(const RunOptions& options);
  /// The commands that session() became and that are still running.
  std::vector<LiveSession> sessions() const;
  /// Ends the interception of programs in the session that this process is in. Throws Error when it
  /// is in none.
  void leave_session();
  /// For the attendant (attending.cc): the instrumented version of a library that a program of the
  /// application is about to open, made if Respike has never seen the library; nullopt: the library
  /// itself is opened. The same holds for a library that was made or changed since `before`
  /// (nanoseconds since 1970).
  std::optional<Substitution> version_of_opened(Id application,
                                                const std::filesystem::path& library,
                                                uint64_t before);
  /// For the attendant, once it has that version: gives later starts the version from the
  /// beginning.
  void tell_of_opened();
  /// For the attendant: merges when so many counter files wait that they might fill the disk.
  void merge_if_many(const std::function<void(std::string)>& warn = {});
  /// For the attendant: how many runs of these applications have been counted since a moment
  /// (nanoseconds since 1970), merged or not, and regardless of who started them.
  std::vector<CountedRuns> counted_since(const std::vector<Id>& applications,
                                         uint64_t moment) const;
  /// For the attendant: notes the end of a program that it has watched.
  void note_announced_fault(const AnnouncedEnd& end);
  /// Merges the counter files that runs left, and registers libraries that runs opened.
  MergeResult collect();

  /// What would run in mode optimized, regardless of the present mode. Throws Error when that is
  /// the original.
  OptimizedVersion optimized_version(const std::string& name);

  // ---- looking ----

  std::vector<ApplicationView> list();
  ApplicationView show(const std::string& name);
  /// Throws Error when no fault is noted.
  FaultReport report_fault(const std::string& name);
  /// Runs the optimized version of a program of this host once more, and finds out where the
  /// program dies; nullopt: it does not die. Throws Error when nothing is optimized, or when the
  /// program cannot be watched.
  std::optional<FaultAgain> run_to_fault(const std::string& name, const RunOptions& options);
  /// Throws Error when no application has the name.
  ApplicationRow find(const std::string& name) const;

  /// Messages for the user: warnings, and notes, e.g. that an image has a new build.
  const Diagnostics& warnings() const { return warnings_; }
  /// Records the result of a check of the application. Warns when it cannot be recorded.
  void note_check(const std::string& name, const LastCheck& check);
  /// Where operations outside this class add warnings.
  Diagnostics& diagnostics() { return warnings_; }
  const std::vector<std::string>& notes() const { return notes_; }

  Database& database() { return database_; }
  /// Called before each step of long work, with the image, the step, and the share of the work that
  /// is done.
  std::function<void(std::string_view image, std::string_view step, double done)> progress;

 private:
  std::vector<ApplicationImage> chosen_images(const ApplicationRow& application,
                                              const std::vector<std::string>& names) const;
  ApplicationImage chosen_program(const ApplicationRow& application, const std::string& file) const;
  std::optional<ApplicationRow> find_registered(const std::string& name,
                                                const std::vector<ProgramImage>& mains) const;
  FileLock keep_rows() const;
  void set_mode_now(const std::string& name, Mode mode);
  RegisterResult register_now(const std::vector<ProgramImage>& mains, const std::string& name,
                              const std::filesystem::path& root);
  void put_application(const std::string& name, const std::vector<ProgramImage>& mains,
                       const std::vector<ApplicationImage>& images, RegisterResult& result);
  Id register_file(const std::filesystem::path& file, const LoaderView& view, Id before);
  void make_paths_canonical();
  void follow_links(const ApplicationRow& application);
  ImageRow present_image(const ApplicationImage& used) const;
  std::optional<BuildRow> refresh(ImageRow& image);
  std::optional<BuildRow> add_build(ImageRow& image, const ImageContent& content);
  void carry_over(const ImageRow& image, const BuildRow& build);
  void register_opened(const ApplicationRow& application);
  Id add_opened(const ApplicationRow& application, const std::filesystem::path& library);
  std::optional<Substitution> version_or_reason(const ApplicationRow& application,
                                                const Platform& platform,
                                                const std::filesystem::path& path);
  std::optional<Substitution> instrumented_version(const ApplicationRow& application,
                                                   const std::filesystem::path& path);
  std::optional<ApplicationRow> application_of(Id number) const;
  bool is_registered(const ApplicationRow& application) const;
  void require_one_machine(const ApplicationRow& application) const;
  std::filesystem::path notes_folder(const ApplicationRow& application) const;

  bool is_up_to_date(const BuildRow& build, const DerivedFacts& wanted) const;
  void require_no_original(const std::filesystem::path& file,
                           const ApplicationRow& application) const;
  bool has_derived(Id image, DerivedKind kind) const;
  std::vector<ImageOutcome> make(
      const std::string& name, const std::vector<std::string>& images,
      const std::function<void(ImageRow&, const BuildRow&, ImageOutcome&)>& make_one);
  void instrument_image(const ImageRow& image, const BuildRow& build, Counters counters,
                        ImageOutcome& outcome);
  struct ChosenProfile {
    Profile profile;
    std::string description;  // part of the options that describe the image
  };
  ChosenProfile collected_profile(const ImageRow& image, const BuildRow& build,
                                  const ProfileOptions& use, ImageOutcome& outcome);
  ChosenProfile given_profile(const ImageRow& image, const BuildRow& build,
                              const GivenProfiles& given, ImageOutcome& outcome);
  void optimize_image(const ImageRow& image, const BuildRow& build, const OptimizeRequest& request,
                      ImageOutcome& outcome);
  void note_unused_profiles(const std::string& name, const GivenProfiles& given);
  void require_given_profile(const std::string& name, const OptimizeRequest& request);
  void note_export(const ApplicationRow& application, const LastExport& done);
  std::vector<uint8_t> exported_bytes(const DerivedRow& optimized, const ExportPlace& place) const;
  std::optional<BuildRow> build_of_staged(ImageRow& image);

  std::optional<BuildRow> known_build(const ImageRow& image);
  std::optional<std::filesystem::path> version_of(const ImageRow& image, DerivedKind kind,
                                                  const std::function<void(std::string)>& warn);
  std::optional<std::string> why_distrusted() const;
  void warn_of_others(const ApplicationRow& application, const Launch& launch,
                      const std::function<void(std::string)>& warn) const;
  std::map<std::filesystem::path, std::filesystem::path> loaded_instead(
      const ApplicationRow& application, const std::filesystem::path& program,
      const std::string& library_path) const;
  std::vector<std::filesystem::path> unchanged_images(
      const ApplicationRow& application, const std::vector<Substitution>& substitutions) const;
  std::vector<Substitution> substitutions(const ApplicationRow& application,
                                          const RunOptions& options);
  std::vector<InterceptedProgram> interceptions(const ApplicationRow& application,
                                                const RunOptions& options);
  std::vector<InterceptedProgram> all_interceptions(const RunOptions& options);
  std::filesystem::path sessions_folder() const;
  std::filesystem::path rules_folder() const;
  void tell_sessions();
  std::vector<InterceptedLibrary> intercepted_libraries(const ApplicationRow& application,
                                                        const RunOptions& options);
  void intercept(std::vector<InterceptedProgram> programs, const std::vector<int>& applications,
                 std::vector<InterceptedLibrary> libraries,
                 const std::function<void(const std::string&)>& warn,
                 const std::function<void()>& report = {});
  Attendant start_attendant(bool merges, std::function<void()> report = {},
                            std::map<FileKey, AnnouncedEnd> guarded = {}) const;
  std::function<void()> report_of_counted(const std::vector<Id>& applications) const;
  uint64_t runs_since(Id image, uint64_t moment) const;
  MergeResult collect(bool snapshots);
  static void note_end(const std::filesystem::path& files, const ProgramEnd& end);
  void note_run(const ApplicationRow& application, const std::vector<std::string>& arguments);
  struct Ran {
    std::string program, images;     // as in FaultRow
    std::optional<FaultRow> before;  // the fault because of which the originals ran
  };
  void note_fault(const ApplicationRow& application, const Ran& ran, int signal,
                  const std::function<void(const std::string&)>& warn);
  std::optional<FaultRow> active_fault(const ApplicationRow& application,
                                       const std::vector<Substitution>& optimized) const;
  std::optional<FaultRow> active_fault(ApplicationRow application);
  void warn_of_faults();
  void wait_for_notes() const;
  void leave_message(const std::string& text) const;
  void take_messages();
  std::vector<std::pair<std::filesystem::path, ProcessEnd>> noted_ends() const;
  ApplicationView view(const ApplicationRow& application);

  Database database_;
  Access access_;
  bool opened_ = false;  // a version of an opened library was made
  Diagnostics warnings_;
  std::vector<std::string> notes_;
};

}  // namespace respike
