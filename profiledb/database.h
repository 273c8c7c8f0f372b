#pragma once
// The profile database: which applications there are, which images and builds they use, what was
// made of the builds, and what was counted.
//
// Beside the database `X.db` lies the folder `X.db.files` with the image store and the spool. All
// that is written is written in transactions: after a crash or SIGKILL a row is there or it is not,
// and what a function returned from is there. Several processes may use a database at once; one
// that must wait does so for up to a minute. An object belongs to one thread.
//
// Every function throws Error, one sentence, when the database cannot be read or written, is
// damaged, or when a row that an Id names does not exist. schema.sql says more on the fields.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/counter_map.h"
#include "optimizer/profile/profile.h"
#include "profiledb/image_store.h"

namespace respike {

/// The key of a row; never 0.
using Id = int64_t;

enum class Mode : uint8_t { original, instrumented, optimized };
enum class Role : uint8_t { main, linked, opened };  // opened: by dlopen
enum class DerivedKind : uint8_t { instrumented, optimized };

std::string_view name_of(Mode mode);
std::string_view name_of(Role role);
std::string_view name_of(DerivedKind kind);
std::optional<Mode> parse_mode(std::string_view text);

/// An image as it is registered, by path.
struct ImageFacts {
  std::string path;     // absolute, as the loader opens it
  std::string soname;   // empty: none
  std::string machine;  // as `image info` prints it
  bool optimizable = false;
  std::string reason;  // why not
  bool operator==(const ImageFacts&) const = default;
};
struct ImageRow : ImageFacts {
  Id id = 0;
};

struct ApplicationRow {
  Id id = 0;
  std::string name;
  Id main_image = 0;
  Mode mode = Mode::original;
};

struct ApplicationImage {
  ImageRow image;
  Role role = Role::main;
};

/// Tells without reading a file that it is the one seen before.
struct FileIdentity {
  uint64_t size = 0;
  int64_t modified = 0;  // nanoseconds since 1970
  uint64_t inode = 0;
  int64_t changed = 0;  // likewise; tools that set `modified` back cannot hide a change from it
  bool operator==(const FileIdentity&) const = default;
};
/// Of a regular file; throws Error when there is none.
FileIdentity file_identity(const std::filesystem::path& path);

/// One content of an image.
struct BuildFacts {
  ContentHash content;     // of the file
  uint64_t file_hash = 0;  // hash64 of the file: Profile::image_hash
  std::string build_id;
  FileIdentity file;
  std::string machine;  // as ImageFacts has it; profiles stay with it
};
struct BuildRow : BuildFacts {
  Id id = 0;
  Id image = 0;
  uint32_t number = 0;     // 1, 2, ... within the image
  int64_t first_seen = 0;  // seconds since 1970
};

/// An image that was made of a build. Its file is in the store under `content`.
struct DerivedFacts {
  DerivedKind kind{};
  std::string options;       // what it was made with, as text to compare
  std::string profile_hash;  // hex of the profile it was made with; empty: none
  ContentHash content;
};
struct DerivedRow : DerivedFacts {
  Id id = 0;
  Id build = 0;
  int64_t made = 0;                 // seconds since 1970
  std::optional<ImageId> image_id;  // instrumented: its identity in counter files
  std::optional<ContentHash> map;   // instrumented: its counter map, in the store, too
  FileIdentity file;                // of the store, when it was last found to be whole
};

enum class RunState : uint8_t { finished, running, lost };
struct RunRow {
  Id id = 0;
  Id build = 0;
  uint64_t process_id = 0;
  uint64_t started = 0;  // nanoseconds since 1970
  int64_t merged = 0;    // seconds since 1970: when its file was last read
  std::string ended;     // "exited N", "killed by N", "unknown"
  double weight = 1;
  RunState state{};
};

/// What is known of a build's profile without loading it.
struct ProfileSummary {
  double runs = 0;          // weighted, of this build itself: finished, running and given
  uint64_t procedures = 0;  // of the build
  uint64_t entered = 0;     // of them, in runs of this build itself
  double confidence = 0;  // 1 with runs of its own; else that of what was carried over; 0: nothing
  double carried_runs = 0;            // of older builds, in what was carried over
  double carried_confidence = 0;      // the highest of what was carried over; 0: nothing was
  std::optional<int64_t> newest_day;  // days since 1970 of the newest counts
};

struct ProfileOptions {
  double half_life_days = 0;  // counts weigh half after so many days; 0: no ageing
  bool own = true;            // counts of the build itself
  double carried_weight = 1;  // of profiles carried over from older builds, times their confidence;
                              // 0: without
};

struct PruneResult {
  uint64_t builds = 0, images = 0, derived = 0;  // rows removed
  uint64_t bytes = 0;                            // of files removed
  std::vector<std::string> rows;                 // what these rows were, to be read
};

/// $RESPIKE_DB if set, else respike/respike.db in $XDG_DATA_HOME or ~/.local/share. Throws Error
/// when none of them says where.
std::filesystem::path default_database_path();

class Database {
 public:
  /// Opens a database, or makes one with its folder. Throws Error: no folder or file can be made or
  /// written, the file is no database or damaged, or a newer Respike made it.
  explicit Database(const std::filesystem::path& path);
  ~Database();
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;

  const std::filesystem::path& path() const;
  std::filesystem::path files() const;  // X.db.files
  ImageStore& store();
  const ImageStore& store() const;

  /// Several writes as one: all are done at commit(), none when it is destroyed before. They may
  /// nest, the outermost counts. Others wait for it, so nothing slow should happen inside.
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

  /// Adds one, in mode original. Throws Error when the name is taken.
  Id add_application(const std::string& name, Id main_image);
  std::vector<ApplicationRow> applications() const;  // by name
  std::optional<ApplicationRow> find_application(const std::string& name) const;
  void set_mode(Id application, Mode mode);
  /// Its images and their profiles stay; prune removes those that no application uses.
  void remove_application(Id application);

  /// Notes that an application uses an image; does nothing when it is known to.
  void add_application_image(Id application, Id image, Role role);
  /// Throws Error when it is the main image.
  void remove_application_image(Id application, Id image);
  std::vector<ApplicationImage> images_of(Id application) const;  // main, linked, opened; by path

  // ---- images and builds ----

  /// Adds an image, or updates the one with this path.
  Id put_image(const ImageFacts& facts);
  std::optional<ImageRow> find_image(const std::string& path) const;
  ImageRow image(Id image) const;

  /// Adds a build with its procedures, as of profile_of(program): their counts are not looked at.
  /// When the image has a build with this content that one is returned, its file identity updated.
  Id put_build(Id image, const BuildFacts& facts, const Profile& procedures);
  BuildRow build(Id build) const;
  std::vector<BuildRow> builds(Id image) const;  // newest number first
  /// The build whose file this was; the highest number when there are several.
  std::optional<BuildRow> find_build(Id image, const FileIdentity& file) const;
  std::optional<BuildRow> find_build(Id image, const ContentHash& content) const;
  void set_file_identity(Id build, const FileIdentity& file);
  /// The registered procedures as a profile without counts (runs 0): input of matching.
  Profile procedures(Id build) const;

  // ---- derived images ----

  /// Notes an optimized image that is in the store already.
  Id add_optimized(Id build, const DerivedFacts& facts);
  /// Notes an instrumented image that is in the store already, and stores its counter map. From
  /// then on its counter files can be merged: the program may run.
  Id add_instrumented(Id build, const DerivedFacts& facts, const Image& instrumented);
  std::vector<DerivedRow> derived(Id build) const;  // newest first
  std::optional<DerivedRow> newest_derived(Id build, DerivedKind kind) const;
  /// Whether the image in the store is the one that was made. It is read only when its file is not
  /// the one that was last found to be whole.
  bool is_whole(const DerivedRow& derived);
  /// Where instrumented images of a build have to put their counter files; exists afterwards.
  std::filesystem::path make_spool(Id build);
  std::filesystem::path spool() const;  // of all builds

  // ---- profiles ----

  /// What was counted: the sum over all count sets. Without counts `runs` is 0. The procedures are
  /// those of the counts; with none, the registered ones.
  Profile profile(Id build, const ProfileOptions& options = {}) const;
  ProfileSummary summary(Id build) const;
  /// The newest build of the image with a lower number, for the same machine, that has counts of
  /// its own.
  std::optional<BuildRow> profiled_build_before(Id build) const;

  /// Adds a profile of this very build, e.g. one that a user kept in a file. Throws Error when it
  /// is of another one (image_hash), or the weight is not positive and finite.
  void add_profile(Id build, const Profile& profile, double weight = 1);
  /// Sets what was carried over from an older build, with a confidence in (0, 1]; it takes the
  /// place of what was carried over from that one before. `profile` is in terms of the new build.
  void set_carried(Id build, Id from, const Profile& profile, double confidence);
  /// What was last matched to a build, as set_matched() noted it: tells that matching would find
  /// the same again. Empty: nothing.
  std::string matched(Id build) const;
  void set_matched(Id build, const std::string& what);

  // ---- runs ----

  std::vector<RunRow> runs(Id build) const;  // latest start first

  // ---- housekeeping ----

  /// Removes, per image, all builds but the newest `keep` (at least 1), images without application,
  /// derived images that a newer one of their kind has replaced, and files of the store that
  /// nothing refers to, both for longer than `age`: a run may have chosen one and not counted yet.
  /// Builds whose spool holds counter files stay, with all that was made of them.
  /// With `dry_run` it removes nothing, and says what it would.
  PruneResult prune(unsigned keep, std::chrono::seconds age = std::chrono::hours(1),
                    bool dry_run = false);
  /// Checks everything: the file, references between rows, that blobs can be decoded and files are
  /// those of their hashes. One sentence for each problem.
  std::vector<std::string> check() const;

  struct State;  // internal
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace respike
