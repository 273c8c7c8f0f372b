// Maps files, and asks each file's container for the parts that its loader reads.
//
// Example: pe/loader_view.cc reads a file that starts with "MZ". elf/loader_view.cc reads every
// other file, and reports what is wrong with a file that is neither.

#include "optimizer/image/loader_view.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "optimizer/base/error.h"

namespace respike {
namespace {

/// The bytes of a file, mapped: most pages of a large image are never read.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) {
      const int error = errno;
      if (file >= 0) close(file);
      throw Error(error == ENOENT ? "the file does not exist"
                                  : std::string("the file cannot be read: ") + std::strerror(error),
                  path);
    }
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
      void* memory = mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (memory != MAP_FAILED)
        bytes_ = {static_cast<const uint8_t*>(memory), size_t(status.st_size)};
    }
    close(file);
    if (bytes_.empty()) throw Error("it is not a program or library", path);
  }
  ~MappedFile() { munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size()); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const uint8_t> bytes_;
};

}  // namespace

LoaderView read_loader_view(const std::filesystem::path& path) {
  const MappedFile file(path);
  return view_of(file.bytes(), path);
}

LoaderView view_of(std::span<const uint8_t> bytes, const std::string& name) {
  return pe::is_pe(bytes) ? pe::view_of(bytes, name) : elf::view_of(bytes, name);
}

std::optional<FileMachine> file_machine_of(const std::filesystem::path& path) {
  constexpr size_t kShortest = 64;  // least size of an image; these bytes identify the machine
  std::array<uint8_t, kShortest> bytes;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  const auto read = [&](size_t size, uint64_t offset) {
    const ssize_t done = pread(file, bytes.data(), size, static_cast<off_t>(offset));
    return std::span<const uint8_t>(bytes).first(done < 0 ? 0 : size_t(done));
  };
  std::optional<FileMachine> result;
  if (const auto start = read(kShortest, 0); start.size() == kShortest)
    result = pe::is_pe(start)
                 ? pe::machine_behind(read(pe::kSignatureAndCoff, pe::signature_offset(start)))
                 : elf::file_machine_of(start);
  close(file);
  return result;
}

}  // namespace respike
