// Puts finished outputs in their places, all or nothing.
//
// The bytes go to a temporary file in the directory of the target, and a rename puts the file in
// place: readers of the target see the old file or the new one. Several outputs are renamed when
// all of them are complete. Any failure removes the temporary files; signals that would end the
// process wait meanwhile. Only SIGKILL leaves a temporary file behind. Bits that lend the owner's
// identity (setuid) are not copied, since the caller becomes the owner of the output.
//
// Limit: when a rename fails, which after all these checks takes interference by another process,
// the outputs renamed before it stay in place.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "optimizer/base/deferred_signals.h"
#include "optimizer/image/image.h"

namespace respike {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, int error) {
  throw Error(what + ": " + std::strerror(error), path.string());
}

/// A temporary file that disappears unless it was put in place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target) {
    const auto directory = target.has_parent_path() ? target.parent_path() : ".";
    name_ = (directory / ".respike-XXXXXX").string();
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) {
      const int error = errno;
      name_.clear();
      fail(target_, "the output cannot be created", error);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!name_.empty()) unlink(name_.c_str());
  }

  void write_all(std::span<const uint8_t> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(target_, "the output cannot be written", errno);
      bytes = bytes.subspan(written);
    }
  }

  void complete(mode_t mode) {
    if (fchmod(descriptor_, mode) != 0) fail(target_, "the output's mode cannot be set", errno);
    const int closed = close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail(target_, "the output cannot be written", errno);
  }

  void put_in_place() {
    if (rename(name_.c_str(), target_.c_str()) != 0)
      fail(target_, "the output cannot be put in place", errno);
    name_.clear();
  }

 private:
  std::filesystem::path target_;
  std::string name_;
  int descriptor_ = -1;
};

/// The mode that open(2) would give a new file. The mask can be read only by setting it.
mode_t mode_of_new_files() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// The file that is to be replaced. A link stays a link: its target is replaced, or created if it
/// does not exist.
std::filesystem::path target_of(const std::filesystem::path& name) {
  constexpr int kMostLinks = 40;  // as in Linux
  std::error_code error;
  auto target = name;
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == kMostLinks) fail(name, "the output cannot be created", ELOOP);
    const auto next = std::filesystem::read_symlink(target, error);
    if (error) fail(name, "the output cannot be created", error.value());
    target = target.parent_path() / next;
  }
  return target;
}

/// The mode bits of the output. Throws Error when the output cannot be put at `target`.
mode_t check_place(const std::filesystem::path& target, const std::filesystem::path& like) {
  struct stat input = {}, output = {};
  if (!like.empty() && stat(like.c_str(), &input) != 0)
    fail(like, "the input cannot be looked at", errno);
  if (stat(target.c_str(), &output) == 0) {
    if (!like.empty() && output.st_dev == input.st_dev && output.st_ino == input.st_ino)
      throw Error("the output would overwrite the input, which is never modified", target.string());
    if (S_ISDIR(output.st_mode)) fail(target, "the output cannot be created", EISDIR);
    if (!S_ISREG(output.st_mode))
      throw Error("the output cannot be created: this is not a regular file", target.string());
  }
  return like.empty() ? mode_of_new_files() : input.st_mode & 0777;
}

}  // namespace

void write_files(std::span<const OutputFile> outputs) {
  const DeferredSignals signals;
  std::deque<TemporaryFile> files;
  for (const OutputFile& output : outputs) {
    if (output.path.empty()) throw Error("the output has no name");
    const auto target = target_of(output.path);
    const mode_t mode = check_place(target, output.like);
    TemporaryFile& file = files.emplace_back(target);
    file.write_all(output.bytes);
    file.complete(mode);
  }
  for (TemporaryFile& file : files) file.put_in_place();
}

void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes,
                const std::filesystem::path& like) {
  const OutputFile output{path, bytes, like};
  write_files({&output, 1});
}

}  // namespace respike
