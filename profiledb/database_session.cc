// A connection to SQLite through SOCI.
//
// Several processes: with the write-ahead log, readers never wait, and writers wait only for other
// writers. A transaction that will write begins as a writer (`begin immediate`): if it began as a
// reader, it could not continue after another process has written. Example: A reads, B reads, B
// writes and commits; SQLite then refuses A's write, because A has read the old state. A waiting
// process gives up after a timeout.
//
// Crashes: a commit returns when the log is on the disk (`synchronous = full`). So a committed
// transaction survives SIGKILL and, as far as the disk keeps its promises, loss of power; counter
// files are removed only after the commit. SQLite moves the log into the database now and then, and
// when the last process closes the database.
//
// SQLite gets the path as a percent-encoded URI: SOCI's connection string cannot quote a blank or a
// `?` in a path.
//
// A database that cannot be written can still be read. Even for reading, SQLite needs a file for
// the memory that processes share, and cannot make it on a read-only file system: there the
// database is opened as immutable, unless its log has contents.
//
// Limits: the log needs memory that all processes share, so a database on a network file system
// must be used from one host only.

#include "profiledb/database_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace respike {
namespace {

constexpr const char* kNoDatabase = "this is not a database, or its beginning is damaged";
constexpr off_t kPageSize = 4096;  // SQLite's page size, unless set otherwise
constexpr int kTimeout = 60'000;   // milliseconds that a process waits for others

sqlite_api::sqlite3* connection_of(soci::session& sql) {
  return static_cast<soci::sqlite3_session_backend*>(sql.get_backend())->conn_;
}

bool has_log(const std::filesystem::path& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path.string() + "-wal", error);
  return !error && size != 0;
}

/// Whether no process can change the file: it is on a read-only file system, and its log is empty.
bool is_immutable(const std::filesystem::path& path) {
  struct statvfs file_system = {};
  return statvfs(path.c_str(), &file_system) == 0 && (file_system.f_flag & ST_RDONLY) != 0 &&
         !has_log(path);
}

std::string uri_of(const std::filesystem::path& path, Access access, bool immutable) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::strchr("/._-", c) != nullptr;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  if (access == Access::write) return uri + "?mode=rwc";
  return uri + (immutable ? "?immutable=1" : "?mode=ro");
}

/// Throws an Error with the file system's objection to the file; SQLite's own message says little.
void check_file(const std::filesystem::path& path, Access wanted) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT || wanted == Access::read)
      throw Error(fmt::format("the database cannot be opened: {}", std::strerror(errno)), path);
    const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      throw Error(fmt::format("the database cannot be made: {}", std::strerror(errno)), path);
    return;
  }
  if (S_ISDIR(status.st_mode)) throw Error("this is a directory, not a database", path);
  if (!S_ISREG(status.st_mode)) throw Error("this is not a regular file", path);
  // SQLite takes a file shorter than a page for an empty file, and would overwrite it.
  if (status.st_size != 0 && status.st_size < kPageSize) throw Error(kNoDatabase, path);
  if (access(path.c_str(), R_OK) != 0)
    throw Error(fmt::format("the database cannot be read: {}", std::strerror(errno)), path);
  if (wanted == Access::write && access(path.c_str(), W_OK) != 0)
    throw Error(fmt::format("the database cannot be written: {}", std::strerror(errno)), path);
}

/// SQLite quotes text that it does not understand; the text may have several lines.
std::string one_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  return text;
}

std::string damage(std::string_view what) {
  return fmt::format("the database is damaged ({}); docs/database.md says what to do",
                     one_line(std::string(what)));
}

/// The system's error for opening a file; 0 when the file can be opened.
int opening_error(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  const int error = file < 0 ? errno : 0;
  if (file >= 0) close(file);
  return error;
}

/// One sentence from an error code of SQLite, SQLite's message, and the system's error (0: none).
std::string sentence(int code, const std::string& words, int system_error) {
  const bool system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  const std::string detail = system && system_error != 0 ? std::strerror(system_error) : words;
  if (system && (system_error == ENOSPC || system_error == EDQUOT)) code = SQLITE_FULL;
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format("other processes have kept the database busy for {} s", kTimeout / 1000);
    case SQLITE_READONLY:  // not because of the file: check_file() has seen that it can be written
      if (code != SQLITE_READONLY_DBMOVED)
        return "the database cannot be written: its folder, or its file -wal or -shm, is read-only";
      return fmt::format("the database cannot be written: {}", detail);
    case SQLITE_PERM:
      return fmt::format("the database cannot be written: {}", detail);
    case SQLITE_FULL:
      return "there is no space left for the database";
    case SQLITE_IOERR:
      return fmt::format("the database cannot be read or written: {}", detail);
    case SQLITE_CANTOPEN:
      return fmt::format("the database cannot be opened: {}", detail);
    case SQLITE_NOTADB:
      return kNoDatabase;
    case SQLITE_CONSTRAINT:
      return fmt::format("the database refuses the change: {}", detail);
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // no such table, no such column
      return damage(detail);
    default:
      return fmt::format("the database cannot be used: {}", detail);
  }
}

void read_something(soci::session& sql) {
  long long tables = 0;
  sql << "select count(*) from sqlite_master", soci::into(tables);
}

/// Statements of a script without its comments.
std::vector<std::string> statements_of(std::string_view script) {
  std::vector<std::string> statements(1);
  for (size_t at = 0; at < script.size(); ++at) {
    if (script.substr(at, 2) == "--") at = std::min(script.find('\n', at), script.size() - 1);
    if (script[at] == ';')
      statements.emplace_back();
    else
      statements.back() += script[at];
  }
  std::erase_if(statements, [](const std::string& statement) {
    return statement.find_first_not_of(" \n\t") == std::string::npos;
  });
  return statements;
}

}  // namespace

Session::Session(const std::filesystem::path& path, Access access) : path_(path) {
  static const int uris = sqlite_api::sqlite3_config(SQLITE_CONFIG_URI, 1);
  static_cast<void>(uris);  // fails when SQLite is in use already; opening the file shows that
  if (access != Access::write_if_possible) {
    open(access);
    return;
  }
  try {
    open(Access::write);
    guard([&] { read_something(*sql_); });
  } catch (const Error& error) {
    if (latest_code_ != 0 && !lacks_room()) throw;
    why_not_written_ = error;
    latest_code_ = 0;
    try {
      open(Access::read);
    } catch (const Error&) {
      throw error;
    }
  }
}

/// SQLite makes the memory that processes share when it first reads. If it cannot be made because
/// the disk is full, no other process has the file open, and a copy of its contents is enough.
void Session::open(Access access) {
  access_ = access;
  check_file(path_, access);
  if (access == Access::write) return connect(access, false);
  // SQLite would make that memory with the permissions of the file, which would later keep its
  // owner from writing.
  std::error_code error;
  if (why_not_written_ && !std::filesystem::exists(path_.string() + "-shm", error) &&
      copy_to_memory())
    return;
  try {
    connect(access, is_immutable(path_));
    guard([&] { read_something(*sql_); });
  } catch (const Error&) {
    if (!lacks_room() || !copy_to_memory()) throw;
  }
}

/// Whether the latest error was due to a lack of space or of write permission.
bool Session::lacks_room() const {
  switch (latest_code_ & 0xff) {
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_IOERR:
      return true;
    default:
      return false;
  }
}

/// Reads the whole database: if it has a log, in exclusive mode, which needs no shared memory; else
/// as a file that no process changes. Returns false when this is not possible, or when a log
/// appeared in the meantime.
bool Session::copy_to_memory() {
  using namespace sqlite_api;
  std::error_code error;
  const auto journal = std::filesystem::file_size(path_.string() + "-journal", error);
  if (!error && journal != 0) return false;
  const bool log = has_log(path_);
  if (log && ::access(path_.c_str(), W_OK) != 0) return false;
  const std::string uri = uri_of(path_, log ? Access::write : Access::read, true);
  sql_.reset();
  sqlite3* file = nullptr;
  const int flags =
      SQLITE_OPEN_URI | (log ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  bool done = sqlite3_open_v2(uri.c_str(), &file, flags, nullptr) == SQLITE_OK;
  if (log)
    done = done && sqlite3_exec(file, "pragma locking_mode = exclusive", nullptr, nullptr,
                                nullptr) == SQLITE_OK;
  if (done) {
    sql_ = std::make_unique<soci::session>(*soci::factory_sqlite3(), "db=:memory:");
    sqlite3_backup* copy = sqlite3_backup_init(connection_of(*sql_), "main", file, "main");
    done = copy != nullptr && sqlite3_backup_step(copy, -1) == SQLITE_DONE;
    if (copy != nullptr) done = sqlite3_backup_finish(copy) == SQLITE_OK && done;
  }
  sqlite3_close(file);
  return done && (log || !has_log(path_));
}

void Session::connect(Access access, bool immutable) {
  try {
    sql_ = std::make_unique<soci::session>(*soci::factory_sqlite3(),
                                           "db=" + uri_of(path_, access, immutable));
  } catch (const soci::soci_error& error) {
    fail(error);
  }
  guard([&] {
    sqlite_api::sqlite3* connection = connection_of(*sql_);
    std::error_code ignored;
    if (!std::filesystem::equivalent(sqlite_api::sqlite3_db_filename(connection, "main"), path_,
                                     ignored))
      throw Error("SQLite opened another file", path_);
    if (access == Access::write && sqlite_api::sqlite3_db_readonly(connection, "main") != 0)
      throw Error("the database cannot be written", path_);
    sqlite_api::sqlite3_busy_timeout(connection, kTimeout);
    *sql_ << "pragma foreign_keys = on";
    *sql_ << "pragma synchronous = full";
    *sql_ << "pragma cell_size_check = on";  // finds damage when a page is read, not later
    *sql_ << "pragma trusted_schema = off";
  });
}

void Session::fail(const soci::soci_error& error) {
  latest_code_ = SQLITE_CANTOPEN;
  if (sql_ == nullptr) throw Error(sentence(SQLITE_CANTOPEN, "", opening_error(path_)), path_);
  // SOCI itself throws only for values that no column of the schema can hold.
  const auto* own = dynamic_cast<const soci::sqlite3_soci_error*>(&error);
  latest_code_ = own == nullptr ? SQLITE_CORRUPT : own->result();
  if (own == nullptr) damaged("a value is missing, or of another kind");
  sqlite_api::sqlite3* connection = connection_of(*sql_);
  const bool current = sqlite_api::sqlite3_errcode(connection) != SQLITE_OK;
  const char* words =
      current ? sqlite_api::sqlite3_errmsg(connection) : sqlite_api::sqlite3_errstr(own->result());
  throw Error(
      sentence(own->result(), one_line(words), sqlite_api::sqlite3_system_errno(connection)),
      path_);
}

void Session::damaged(std::string_view what) const {
  throw Error(damage(what), path_);
}

void Session::begin(bool write) {
  if (write && why_not_written_) throw *why_not_written_;
  if (write && access_ == Access::read) throw Error("the database was opened to be read", path_);
  if (depth_ == 0) {
    guard([&] { *sql_ << (write ? "begin immediate" : "begin"); });
    writing_ = write;
    failed_ = false;
  }
  assert(writing_ || !write);
  ++depth_;
}

void Session::commit() {
  assert(depth_ > 0);
  if (depth_ > 1) {
    --depth_;
    return;
  }
  if (failed_) throw Error("a part of the change failed, so nothing was changed", path_);
  guard([&] { *sql_ << "commit"; });
  depth_ = 0;
}

void Session::roll_back(bool harmless) noexcept {
  assert(depth_ > 0);
  failed_ = failed_ || !harmless;
  if (--depth_ > 0) return;
  try {
    *sql_ << "rollback";
  } catch (...) {
    // SQLite has already rolled the transaction back, as it does when the disk is full.
  }
}

void Session::run(std::string_view script) {
  guard([&] {
    for (const std::string& statement : statements_of(script)) *sql_ << statement;
  });
}

void Session::use_write_ahead_log() {
  // While other processes read the new file, SQLite says "busy" here without waiting.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kTimeout);
  for (;;) {
    try {
      std::string mode;
      *sql_ << "pragma journal_mode = wal", soci::into(mode);
      if (mode == "wal") return;
      throw Error("the file system does not allow several processes to share a database", path_);
    } catch (const soci::sqlite3_soci_error& error) {
      if ((error.result() & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > end)
        fail(error);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

void set_blob(soci::blob& blob, std::span<const uint8_t> bytes) {
  blob.trim(0);
  if (!bytes.empty()) blob.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::vector<uint8_t> bytes_of(soci::blob& blob) {
  std::vector<uint8_t> bytes(blob.get_len());
  if (!bytes.empty()) blob.read(0, reinterpret_cast<char*>(bytes.data()), bytes.size());
  return bytes;
}

int64_t current_time() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace respike
