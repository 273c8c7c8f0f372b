// Builds of images and the images that were derived from builds.
//
// A build is known by the hash of its file. The database also keeps the identity (size, inode and
// times) of the file at the image's path, so that the file is read only after it changed. Only the
// build that the file contained when last seen has this identity. The time of modification alone is
// not enough: `cp -p` and tools for reproducible builds set it. Only the kernel sets the time of
// change.
//
// Example: `cc` writes a new /usr/bin/app. Its identity fits no build, so the file is read and
// hashed; the hash is new, so build 2 is added with this identity. The next look only needs stat().
//
// A file is put into the store before the row that refers to it is added. The transaction that adds
// the row checks that the file is still there; prune() cannot run at the same time as that
// transaction.

#include <fmt/format.h>
#include <sys/stat.h>

#include <cassert>
#include <cerrno>
#include <cstring>

#include "profiledb/database_state.h"
#include "profiledb/folders.h"

namespace respike {
namespace {

/// `rest`: SQL conditions and order.
template <typename... Values>
std::vector<BuildRow> select_builds(Database::State& state, const std::string& rest,
                                    const Values&... values) {
  std::vector<BuildRow> rows;
  BuildRow row;
  std::string content;
  int number = 0;
  long long file_hash = 0, size = 0, inode = 0;
  for_each_row(state.session.sql(),
               "select id, image, number, content_hash, file_hash, build_id, machine, "
               "file_size, file_modified, file_inode, file_changed, first_seen from build " +
                   rest,
               std::tie(values...),
               std::tie(row.id, row.image, number, content, file_hash, row.build_id, row.machine,
                        size, row.file.modified, inode, row.file.changed, row.first_seen),
               [&] {
                 row.number = static_cast<uint32_t>(number);
                 row.content = state.hash_of(content);
                 row.file_hash = from_column(file_hash);
                 row.file.size = from_column(size);
                 row.file.inode = from_column(inode);
                 rows.push_back(row);
               });
  return rows;
}

std::optional<ImageId> image_id_of(Database::State& state, const std::string& column) {
  if (column.empty()) return std::nullopt;
  return state.hash_of(column).bytes;
}

/// `rest`: SQL conditions. Newest first.
template <typename... Values>
std::vector<DerivedRow> select_derived(Database::State& state, const std::string& rest,
                                       const Values&... values) {
  std::vector<DerivedRow> rows;
  DerivedRow row;
  std::string kind, content, image_id, map;
  long long size = 0, inode = 0;
  for_each_row(
      state.session.sql(),
      "select id, build, kind, options, profile_hash, forecast, content_hash, image_id, map_hash, "
      "made, file_size, file_modified, file_inode, file_changed from derived_image " +
          rest + " order by id desc",
      std::tie(values...),
      std::tie(row.id, row.build, kind, row.options, row.profile_hash, row.forecast, content,
               image_id, map, row.made, size, row.file.modified, inode, row.file.changed),
      [&] {
        row.kind = read_name<DerivedKind>(state.session, kKindNames, kind);
        row.content = state.hash_of(content);
        row.image_id = image_id_of(state, image_id);
        row.map.reset();
        if (!map.empty()) row.map = state.hash_of(map);
        row.file.size = from_column(size);
        row.file.inode = from_column(inode);
        rows.push_back(row);
      });
  return rows;
}

/// Adds a row. An equal row is replaced: its new key makes it the newest.
Id add_derived(Database::State& state, Id build, const DerivedFacts& facts,
               const std::string& image_id, const std::string& map_hash) {
  state.require("build", build);
  if (!state.store.contains(facts.content))
    throw Error("the image is not in the store any more: make it again",
                state.store.path(facts.content));
  soci::session& sql = state.session.sql();
  const std::string kind(name_of(facts.kind)), content = facts.content.hex();
  change(sql,
         "delete from derived_image where build = :b and kind = :k and options = :o and "
         "profile_hash = :p and content_hash = :c",
         build, kind, facts.options, facts.profile_hash, content);
  const Id id = state.next_id("derived_image");
  const int64_t now = current_time();
  const FileIdentity file = file_identity(state.store.path(facts.content));
  change(
      sql,
      "insert into derived_image (id, build, kind, options, profile_hash, forecast, content_hash, "
      "image_id, map_hash, made, file_size, file_modified, file_inode, file_changed) values (:id, "
      ":b, :k, :o, :p, :f, :c, :i, :m, :now, :size, :modified, :inode, :changed)",
      id, build, kind, facts.options, facts.profile_hash, facts.forecast, content, image_id,
      map_hash, now, to_column(file.size), file.modified, to_column(file.inode), file.changed);
  return id;
}

}  // namespace

FileIdentity file_identity(const std::filesystem::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) throw Error("the file does not exist", path);
    throw Error(fmt::format("the file cannot be read: {}", std::strerror(errno)), path);
  }
  if (!S_ISREG(status.st_mode)) throw Error("this is not a regular file", path);
  const auto nanoseconds = [](const timespec& time) {
    return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
  };
  return {static_cast<uint64_t>(status.st_size), nanoseconds(status.st_mtim), status.st_ino,
          nanoseconds(status.st_ctim)};
}

// ---- builds ----

Id Database::put_build(Id image, const BuildFacts& facts, const Profile& procedures) {
  const Shape shape = shape_of(procedures.procedures);
  const EncodedShape encoded = encode_shape(shape);
  return state_->write([&](soci::session& sql) {
    state_->require("image", image);
    if (const auto found = find_build(image, facts.content)) {
      set_file_identity(found->id, facts.file);
      return found->id;
    }
    const Id id = state_->next_id("build");
    int number = 0;
    sql << "select coalesce(max(number), 0) + 1 from build where image = :image", soci::use(image),
        soci::into(number);
    const std::string content = facts.content.hex();
    const int64_t now = current_time();
    change(sql,
           "insert into build (id, image, number, content_hash, file_hash, build_id, machine, "
           "file_size, file_modified, file_inode, file_changed, first_seen, matched) values (:id, "
           ":image, :number, :content, :hash, :build_id, :machine, :size, :modified, :inode, "
           ":changed, :now, '')",
           id, image, number, content, to_column(facts.file_hash), facts.build_id, facts.machine,
           to_column(facts.file.size), facts.file.modified, to_column(facts.file.inode),
           facts.file.changed, now);
    state_->put_shape(id, shape, encoded, true);
    return id;
  });
}

BuildRow Database::build(Id build) const {
  return state_->read([&](soci::session&) {
    state_->require("build", build);
    return select_builds(*state_, "where id = :id", build).front();
  });
}

std::vector<BuildRow> Database::builds(Id image) const {
  return state_->read([&](soci::session&) {
    state_->require("image", image);
    return select_builds(*state_, "where image = :image order by number desc", image);
  });
}

std::optional<BuildRow> Database::find_build(Id image, const FileIdentity& file) const {
  return state_->read([&](soci::session&) {
    return first_of(select_builds(*state_,
                                  "where image = :image and file_size = :size and file_modified = "
                                  ":modified and file_inode = :inode and file_changed = :changed "
                                  "order by number desc",
                                  image, to_column(file.size), file.modified, to_column(file.inode),
                                  file.changed));
  });
}

std::optional<BuildRow> Database::find_build(Id image, const ContentHash& content) const {
  return state_->read([&](soci::session&) {
    return first_of(select_builds(*state_, "where image = :image and content_hash = :content",
                                  image, content.hex()));
  });
}

/// Clears this identity in the other builds of the image: a file has one content.
void Database::set_file_identity(Id build, const FileIdentity& file) {
  state_->write([&](soci::session& sql) {
    state_->require("build", build);
    const long long size = to_column(file.size), inode = to_column(file.inode);
    change(sql,
           "update build set file_size = 0, file_modified = 0, file_inode = 0, file_changed = 0 "
           "where file_size = :s and file_modified = :m and file_inode = :i and file_changed = :c "
           "and id <> :id and image = (select image from build where id = :id2)",
           size, file.modified, inode, file.changed, build, build);
    change(
        sql,
        "update build set file_size = :s, file_modified = :m, file_inode = :i, file_changed = :c "
        "where id = :id",
        size, file.modified, inode, file.changed, build);
  });
}

// ---- derived images ----

Id Database::add_optimized(Id build, const DerivedFacts& facts) {
  assert(facts.kind == DerivedKind::optimized);
  return state_->write([&](soci::session&) { return add_derived(*state_, build, facts, "", ""); });
}

Id Database::add_instrumented(Id build, const DerivedFacts& facts, const Image& instrumented) {
  assert(facts.kind == DerivedKind::instrumented);
  const ImageId image_id = read_image_id(instrumented);
  const std::vector<uint8_t> map = encode_counter_map(read_counter_map(instrumented));
  const ContentHash map_hash = state_->store.put(map, std::filesystem::perms(0644));
  return state_->write([&](soci::session&) {
    if (!state_->store.contains(map_hash))
      throw Error("the counter map is not in the store any more", state_->store.path(map_hash));
    return add_derived(*state_, build, facts, ContentHash{image_id}.hex(), map_hash.hex());
  });
}

std::vector<DerivedRow> Database::derived(Id build) const {
  return state_->read([&](soci::session&) {
    state_->require("build", build);
    return select_derived(*state_, "where build = :build", build);
  });
}

std::optional<DerivedRow> Database::newest_derived(Id build, DerivedKind kind) const {
  return state_->read([&](soci::session&) {
    const std::string name(name_of(kind));
    return first_of(select_derived(*state_, "where build = :build and kind = :kind", build, name));
  });
}

bool Database::is_whole(const DerivedRow& derived) {
  const std::filesystem::path path = store().path(derived.content);
  if (!store().contains(derived.content)) return false;
  const FileIdentity file = file_identity(path);
  if (file == derived.file) return true;
  if (!store().is_intact(derived.content)) return false;
  state_->write([&](soci::session& sql) {
    const long long size = to_column(file.size), inode = to_column(file.inode);
    change(sql,
           "update derived_image set file_size = :s, file_modified = :m, file_inode = :i, "
           "file_changed = :c where id = :id",
           size, file.modified, inode, file.changed, derived.id);
  });
  return true;
}

std::filesystem::path Database::spool() const {
  return files() / "spool";
}

std::filesystem::path Database::make_spool(Id build) {
  const std::filesystem::path folder = spool() / this->build(build).content.hex();
  make_private_folder(spool());  // private: counts show what a program did
  make_folder(folder);
  return folder;
}

}  // namespace respike
