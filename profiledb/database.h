#pragma once
// The profile database: applications, the images and builds that applications use, the images
// derived from builds, and counts.
//
// Beside the database `X.db` is the folder `X.db.files` with the image store and the spool. Every
// write is a transaction: after a crash or SIGKILL a row is complete or absent, and the rows
// written by a function that returned are there. Several processes may use a database at once; each
// waits up to a minute for the others. An object belongs to one thread.
//
// Every function throws Error, one sentence, when the database cannot be read or written, is
// damaged, or has no row with a given Id. schema.sql describes the fields.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/counter_map.h"
#include "optimizer/base/error.h"
#include "optimizer/profile/profile.h"
#include "profiledb/image_store.h"

namespace respike {

/// The key of a row; never 0.
using Id = int64_t;

/// write_if_possible: like `read` where the disk is full or the file may not be written; a write
/// then throws Error with the reason.
enum class Access : uint8_t { write, read, write_if_possible };
enum class Mode : uint8_t { original, instrumented, optimized };
enum class Role : uint8_t { main, linked, opened };  // opened: by dlopen
enum class DerivedKind : uint8_t { instrumented, optimized };

std::string_view name_of(Mode mode);
std::string_view name_of(Role role);
std::string_view name_of(DerivedKind kind);
std::optional<Mode> parse_mode(std::string_view text);

/// An image as it is registered, by path.
struct ImageFacts {
  std::string path;     // absolute, without symbolic links
  std::string soname;   // empty: none
  std::string machine;  // as `image info` prints it
  bool optimizable = false;
  std::string reason;    // why it is not optimizable
  bool program = false;  // can be started; else a library
  Id follows = 0;  // the image that an application loaded before through the same link; set when
                   // the image is added; 0: none
  bool operator==(const ImageFacts&) const = default;
};
struct ImageRow : ImageFacts {
  Id id = 0;
};

struct ApplicationRow {
  Id id = 0;
  std::string name;
  Id main_image = 0;  // the first image in role main
  Mode mode = Mode::original;
};

/// How the optimized version of an application died.
struct FaultRow {
  std::string program;        // the path of the program that was started
  std::string images;         // content hashes of the optimized images that ran
  int signal = 0;             // number of the signal
  bool original_too = false;  // the original died of the same signal later
  int64_t noted = 0;          // seconds since 1970
};

// What was done last with an application; `noted`: time in seconds since 1970.
struct LastRun {          // the last run that counted
  std::string arguments;  // as a line of a shell
  std::string folder;     // in which the program ran
  std::string input;      // the file that it read; empty: none
  int64_t noted = 0;
};
/// Whether two runs had equal arguments, folder and input.
inline bool same_work(const LastRun& a, const LastRun& b) {
  return a.arguments == b.arguments && a.folder == b.folder && a.input == b.input;
}
/// The result of a check of an optimized version.
enum class CheckResult : uint8_t {
  faster,
  same,  // it costs the same
  slower,
  differs,  // it behaves differently
  unclear,  // the workload could not compare the versions
};
struct LastCheck {
  std::string images;  // as in FaultRow
  CheckResult result{};
  std::string verdict;  // one line
  double gain = 0;      // share of the costs that the optimized version saves; 0: no measurable
                        // difference; negative: it costs more
  int64_t noted = 0;
};
struct LastExport {
  std::string images;  // as in FaultRow
  std::string folder;
  int64_t noted = 0;
};

struct ApplicationImage {
  ImageRow image;
  Role role = Role::main;
  std::string loaded_as;  // the path that the user named or the loader opens, perhaps through links
};

/// Shows without reading a file that the file did not change.
struct FileIdentity {
  uint64_t size = 0;
  int64_t modified = 0;  // nanoseconds since 1970
  uint64_t inode = 0;
  int64_t changed = 0;  // nanoseconds since 1970, set by the kernel: tools can set `modified` back,
                        // but not `changed`
  bool operator==(const FileIdentity&) const = default;
};
/// The identity of a regular file. Throws Error when there is no regular file of this path.
FileIdentity file_identity(const std::filesystem::path& path);

/// One content of an image.
struct BuildFacts {
  ContentHash content;     // of the file
  uint64_t file_hash = 0;  // hash64 of the file: Profile::image_hash
  std::string build_id;
  FileIdentity file;
  std::string machine;  // as in ImageFacts; profiles are carried over within one machine only
};
struct BuildRow : BuildFacts {
  Id id = 0;
  Id image = 0;
  uint32_t number = 0;     // 1, 2, ... within the image
  int64_t first_seen = 0;  // seconds since 1970
};

/// An image that was derived from a build. The file is in the store under `content`.
struct DerivedFacts {
  DerivedKind kind{};
  std::string options;       // the options that the image was made with, as text to compare
  std::string profile_hash;  // hex, of the profile that the image was made with; empty: none
  std::string forecast;      // optimized: the expected gain, a clause; empty: none
  ContentHash content;
};
struct DerivedRow : DerivedFacts {
  Id id = 0;
  Id build = 0;
  int64_t made = 0;                 // seconds since 1970
  std::optional<ImageId> image_id;  // instrumented: the identity in its counter files
  std::optional<ContentHash> map;   // instrumented: its counter map, also in the store
  FileIdentity file;                // of the file in the store when it was last found intact
};

/// A number for the original program and for the optimized program.
struct ComparedNumber {
  std::string name;  // "instructions"
  uint64_t original = 0, optimized = 0;

  bool operator==(const ComparedNumber&) const = default;
};

/// The original and the optimized program, doing the same work on a model of a processor.
struct ComparisonFacts {
  ContentHash optimized;                // the content of the optimized image
  std::string options;                  // as in DerivedFacts
  std::string workload;                 // as a line of a shell
  std::string model;                    // name of the processor model
  std::string difference;               // difference in behaviour, a clause; empty: none
  std::vector<ComparedNumber> figures;  // events
  std::vector<ComparedNumber> cycles;   // cycles by cause
};
struct ComparisonRow : ComparisonFacts {
  Id id = 0;
  Id build = 0;
  uint32_t build_number = 0;
  int64_t made = 0;  // seconds since 1970
};

enum class RunState : uint8_t { finished, running, lost };
struct RunRow {
  Id id = 0;
  Id build = 0;
  uint64_t process_id = 0;
  uint64_t started = 0;  // nanoseconds since 1970
  int64_t merged = 0;    // seconds since 1970, when the counter file was last read
  std::string ended;     // "exited N", "killed by N", "unknown"
  double weight = 1;
  RunState state{};
};

/// Facts about a build's profile, available without loading the profile.
struct ProfileSummary {
  double runs = 0;                    // weighted runs of this build itself: finished, running and
                                      // given
  uint64_t procedures = 0;            // of the build
  uint64_t entered = 0;               // procedures that runs of this build itself entered
  double confidence = 0;              // 1 where the build itself has runs; else carried_confidence
  double carried_runs = 0;            // of older builds whose counts were carried over
  double carried_confidence = 0;      // highest confidence of carried-over counts; 0: there are
                                      // none
  std::optional<int64_t> newest_day;  // days since 1970 of the newest counts
  uint64_t version = 0;               // a hash, which changes when counts change
};

struct ProfileOptions {
  double half_life_days = 0;  // counts weigh half after so many days; 0: no ageing
  bool own = true;            // counts of the build itself
  double carried_weight = 1;  // factor of carried-over counts, in addition to their confidence; 0:
                              // leave them out
};

struct PruneResult {
  uint64_t builds = 0, images = 0, derived = 0;  // rows removed
  uint64_t bytes = 0;                            // of files removed
  std::vector<std::string> rows;                 // descriptions of these rows, for the user
};

/// $RESPIKE_DB if set, else respike/respike.db in $XDG_DATA_HOME or ~/.local/share. Throws Error
/// when none of these variables is set.
std::filesystem::path default_database_path();

/// Thrown when a row with a known key is gone: another process has removed the row.
class RowGone : public Error {
 public:
  using Error::Error;
};

class Database {
 public:
  /// Opens a database; for writing, makes a new one with its folder if there is none. Throws Error
  /// when the folder or file cannot be made or written, when the file is not a database or is
  /// damaged, or when a newer Respike made the file. A database opened for reading may be on a
  /// read-only file system; every write then throws Error.
  explicit Database(const std::filesystem::path& path, Access access = Access::write);
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;

  const std::filesystem::path& path() const;
  /// The access that was possible: write or read.
  Access access() const;
  /// Why a database opened with write_if_possible can only be read; empty: it can be written.
  std::string why_not_written() const;
  /// Throws Error with that reason unless the database can be written.
  void require_writable() const;
  std::filesystem::path files() const;  // X.db.files
  ImageStore& store();
  const ImageStore& store() const;
  /// A number that changes when another process, or another object, writes.
  int64_t version() const;

  /// Several writes as one: commit() does all of them, destruction without commit() none. When
  /// transactions nest, the outermost one decides. Other processes wait for a transaction, so
  /// nothing slow should happen inside.
  class Transaction {
   public:
    explicit Transaction(Database& database);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    Database& database_;
    bool open_ = true;
  };

  // ---- applications ----

  /// Adds an application, in mode original. Throws Error when the name is taken.
  Id add_application(const std::string& name, Id main_image);
  std::vector<ApplicationRow> applications() const;  // by name
  std::optional<ApplicationRow> find_application(const std::string& name) const;
  void set_mode(Id application, Mode mode);
  /// The last fault of the application.
  std::optional<FaultRow> fault_of(Id application) const;
  void put_fault(Id application, const FaultRow& fault);
  void forget_fault(Id application);
  // put_last() records the present time and ignores `noted`.
  std::optional<LastRun> last_run(Id application) const;
  std::optional<LastCheck> last_check(Id application) const;
  std::optional<LastExport> last_export(Id application) const;
  void put_last(Id application, const LastRun& run);
  void put_last(Id application, const LastCheck& check);
  void put_last(Id application, const LastExport& exported);
  /// The application's images and their profiles stay; prune() removes images that no application
  /// uses.
  void remove_application(Id application);

  /// Records that an application uses an image; does nothing when this is recorded already.
  /// `loaded_as`: empty: the image's path.
  void add_application_image(Id application, Id image, Role role,
                             const std::string& loaded_as = {});
  /// The same, but sets role and path of an image that is recorded already.
  void put_application_image(Id application, Id image, Role role, const std::string& loaded_as);
  /// Replaces `before` by `after`. Returns false when the application does not use `before`.
  bool replace_application_image(Id application, Id before, Id after);
  /// Throws Error unless the application uses the image in role main.
  void set_main_image(Id application, Id image);
  /// Throws Error for the main image.
  void remove_application_image(Id application, Id image);
  /// The main image, then other images in role main, linked, opened; within a role sorted by path.
  std::vector<ApplicationImage> images_of(Id application) const;

  // ---- images and builds ----

  /// Adds an image, or updates the image with this path.
  Id put_image(const ImageFacts& facts);
  std::optional<ImageRow> find_image(const std::string& path) const;
  ImageRow image(Id image) const;
  std::vector<ImageRow> images() const;  // by path
  /// Gives the image of the path `from` the path `to`. If there is an image of that path, the two
  /// are merged, with the builds, derived images, counts and applications of both: a run that was
  /// counted for either image is counted once. Does nothing when there is no image of the path
  /// `from`.
  void move_image(const std::string& from, const std::string& to);

  /// Adds a build with its procedures, as profile_of(program) returns them; their counts are
  /// ignored. When the image has a build with this content, updates the file identity of that build
  /// and returns it.
  Id put_build(Id image, const BuildFacts& facts, const Profile& procedures);
  BuildRow build(Id build) const;
  std::vector<BuildRow> builds(Id image) const;  // newest number first
  /// The build with this file identity; the highest number when there are several.
  std::optional<BuildRow> find_build(Id image, const FileIdentity& file) const;
  std::optional<BuildRow> find_build(Id image, const ContentHash& content) const;
  void set_file_identity(Id build, const FileIdentity& file);
  /// The registered procedures as a profile without counts (runs 0): input of matching.
  Profile procedures(Id build) const;

  // ---- derived images ----

  /// Records an optimized image that is already in the store.
  Id add_optimized(Id build, const DerivedFacts& facts);
  /// Records an instrumented image that is already in the store, and stores its counter map. The
  /// image must not run earlier: its counter files could not be merged.
  Id add_instrumented(Id build, const DerivedFacts& facts, const Image& instrumented);
  std::vector<DerivedRow> derived(Id build) const;  // newest first
  std::optional<DerivedRow> newest_derived(Id build, DerivedKind kind) const;
  /// Whether the image in the store is intact. Reads the file only if the file's identity has
  /// changed since the file was last found intact.
  bool is_whole(const DerivedRow& derived);
  /// Makes the folder into which instrumented images of a build put their counter files.
  std::filesystem::path make_spool(Id build);
  std::filesystem::path spool() const;  // of all builds

  // ---- profiles ----

  /// The sum over all count sets, with the procedures of these sets. Without counts `runs` is 0 and
  /// the procedures are the registered procedures.
  Profile profile(Id build, const ProfileOptions& options = {}) const;
  ProfileSummary summary(Id build) const;
  /// The newest build of the same image and machine with a lower number and counts of its own. If
  /// there is none, the search continues in the image that this one follows, and so on: identical
  /// content first, else the newest build. Last comes a build of another image with the same
  /// content or build-id.
  std::optional<BuildRow> profiled_build_before(Id build) const;

  /// Adds a profile of exactly this build, e.g. a profile that a user kept in a file. Throws Error
  /// when the profile is of another build (image_hash), or the weight is not positive and finite.
  void add_profile(Id build, const Profile& profile, double weight = 1);
  /// Sets the counts that are carried over from the older build `from`, with a confidence in (0,
  /// 1]; they replace the counts carried over from `from` before. `profile` has the procedures of
  /// `build`.
  void set_carried(Id build, Id from, const Profile& profile, double confidence);
  /// The text of the last set_matched(). If the caller would set the same text again, matching
  /// would have the same result. Empty: nothing was matched.
  std::string matched(Id build) const;
  void set_matched(Id build, const std::string& what);

  // ---- comparisons ----

  /// Keeps a comparison of a build with an image that was optimized from it; that image may be
  /// removed.
  Id add_comparison(Id build, const ComparisonFacts& facts);
  std::vector<ComparisonRow> comparisons(Id image) const;  // of all builds, latest first
  void remove_comparison(Id comparison);

  // ---- runs ----

  std::vector<RunRow> runs(Id build) const;  // latest start first

  // ---- housekeeping ----

  /// Removes, per image, all builds but the newest `keep` (at least 1); images without application;
  /// derived images that a newer image of their kind replaced longer than `age` ago (a run may have
  /// chosen the older image and not counted yet); and files of the store that are older than `age`
  /// and to which no row refers. Builds whose spool holds counter files stay, with their derived
  /// images. With `dry_run`, removes nothing but returns what would be removed.
  PruneResult prune(unsigned keep, std::chrono::seconds age = std::chrono::hours(1),
                    bool dry_run = false);
  /// Checks the file and the references between rows, that blobs can be decoded, and that files
  /// match their hashes. Returns one sentence for each problem.
  std::vector<std::string> check() const;

  struct State;  // internal
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace respike
