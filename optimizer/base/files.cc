// A file may grow or shrink while it is read: the result is whatever read(2) returned.

#include "optimizer/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "optimizer/base/error.h"

namespace respike {
namespace {

class Descriptor {
 public:
  /// Non-blocking: a pipe without a writer must not hang.
  explicit Descriptor(const std::filesystem::path& path)
      : value_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int value() const { return value_; }

 private:
  int value_;
};

}  // namespace

std::vector<uint8_t> read_file(const std::filesystem::path& path) {
  const auto fail = [&](int error) {
    throw Error(std::string("the file cannot be read: ") + std::strerror(error), path.string());
  };
  const Descriptor file(path);
  struct stat status = {};
  if (file.value() < 0 && errno == ENOENT) throw Error("the file does not exist", path.string());
  if (file.value() < 0 || fstat(file.value(), &status) != 0) fail(errno);
  if (S_ISDIR(status.st_mode)) throw Error("this is a directory, not a file", path.string());
  if (!S_ISREG(status.st_mode)) throw Error("this is not a regular file", path.string());
  std::vector<uint8_t> bytes(static_cast<size_t>(status.st_size));
  size_t size = 0;
  while (size < bytes.size()) {
    constexpr size_t kMost = size_t{1} << 30;  // as much as read(2) always takes
    const ssize_t got =
        read(file.value(), bytes.data() + size, std::min(kMost, bytes.size() - size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

void occupy_closed_standard_files() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(number, F_GETFD) < 0)
      open("/dev/null", (number == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

}  // namespace respike
