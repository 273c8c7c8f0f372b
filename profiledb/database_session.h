#pragma once
// Shared by the database's files: one connection, and errors of SOCI and SQLite as Error. Internal
// to database*.cc; the only header that knows SOCI.

#include <soci/soci.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/error.h"
#include "profiledb/database.h"

namespace respike {

class Session {
 public:
  /// Opens the file; for writing, makes it if there is none. Does not read the file.
  explicit Session(const std::filesystem::path& path, Access access = Access::write);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  soci::session& sql() { return *sql_; }
  /// The access that was possible: write or read.
  Access access() const { return access_; }
  /// Why a file opened with write_if_possible can only be read.
  const std::optional<Error>& why_not_written() const { return why_not_written_; }
  const std::filesystem::path& path() const { return path_; }

  /// Runs an action; exceptions of SOCI become Errors.
  template <typename Action>
  auto guard(Action&& action) {
    try {
      return action();
    } catch (const soci::soci_error& error) {
      fail(error);
    }
  }
  [[noreturn]] void fail(const soci::soci_error& error);
  /// Error for contents that Respike did not write.
  [[noreturn]] void damaged(std::string_view what) const;

  /// Transactions. Calls nest: only the outermost calls begin and end a transaction of SQLite. A
  /// transaction that writes waits for others that write; a transaction that reads sees one state
  /// of the database throughout.
  void begin(bool write);
  void commit();
  /// `harmless`: the transaction only read, so the surrounding transaction may continue.
  void roll_back(bool harmless = false) noexcept;

  /// Runs every statement of a script.
  void run(std::string_view script);
  /// Selects the mode in which readers and a writer do not wait for each other.
  void use_write_ahead_log();

 private:
  void open(Access access);
  void connect(Access access, bool immutable);
  bool lacks_room() const;
  bool copy_to_memory();

  std::filesystem::path path_;
  Access access_ = Access::read;
  std::optional<Error> why_not_written_;
  int latest_code_ = 0;  // SQLite's code of the latest error; 0: there was none
  std::unique_ptr<soci::session> sql_;
  unsigned depth_ = 0;   // nesting depth of transactions
  bool failed_ = false;  // an inner transaction was rolled back
  bool writing_ = false;
};

/// A transaction that lasts as long as a C++ block; rolled back unless committed.
class Scope {
 public:
  enum class Kind { read, write };
  Scope(Session& session, Kind kind) : session_(session), kind_(kind) {
    session.begin(kind == Kind::write);
  }
  ~Scope() {
    if (open_) session_.roll_back(kind_ == Kind::read);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  void commit() {
    session_.commit();
    open_ = false;
  }

 private:
  Session& session_;
  Kind kind_;
  bool open_ = true;
};

/// Transfer of blobs to and from statements.
void set_blob(soci::blob& blob, std::span<const uint8_t> bytes);
std::vector<uint8_t> bytes_of(soci::blob& blob);

/// Integer columns are signed: a 64-bit number is kept as the signed number with the same bits.
constexpr long long to_column(uint64_t value) {
  return static_cast<long long>(value);
}
constexpr uint64_t from_column(long long value) {
  return static_cast<uint64_t>(value);
}

/// Seconds since 1970.
int64_t current_time();

}  // namespace respike
