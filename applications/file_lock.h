#pragma once
// A file that processes lock, exclusively or shared.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

namespace respike {

/// A lock that is held as long as the object lives.
class FileLock {
 public:
  enum class Wait { no, yes };
  enum class Holders { one, many };  // many: shared with all other holders of kind `many`
  FileLock(const std::filesystem::path& path, Wait wait, Holders holders = Holders::one)
      : file_(open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600)),
        held_(file_ >= 0 && flock(file_, (holders == Holders::one ? LOCK_EX : LOCK_SH) |
                                             (wait == Wait::yes ? 0 : LOCK_NB)) == 0) {}
  ~FileLock() {
    if (file_ >= 0) close(file_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return held_; }

 private:
  int file_;
  bool held_;
};

}  // namespace respike
