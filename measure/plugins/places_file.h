#pragma once
// The second file that an emulator leaves for each process when places are requested: the events of
// each thread's pieces, by the place of the code. In the byte order of the host, mostly a hole,
// current at every moment.
//
// A place is a file and an offset in the file, as in count_plugin.cc. All memory without a file is
// one place, so that a program that generates code without end does not need unlimited rows.
//
// Example: the loop at 0x120000460 of ./hello, mapped from offset 0x460, ran in two threads: two
// rows, each with offset 0x460 and image 1; images[1] is /home/me/hello.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "models/machine_model.h"

namespace respike::measure {

struct PlaceRow {
  uint64_t offset;  // in the file
  uint32_t image;   // from 1 on; 0: memory without a file
  uint32_t thread;
  Events events;
};

struct PlacesFile {
  static constexpr char kMagic[8] = {'R', 'S', 'P', 'K', 'P', 'L', 'C', '2'};
  static constexpr uint32_t kRows = 1 << 20;
  static constexpr uint32_t kNamesSize = 64 << 10;

  char magic[8];
  uint32_t process;
  uint32_t rows;  // in use
  uint32_t images;
  uint32_t names_size;
  char names[kNamesSize];  // of images, from image 1 on: absolute paths, each ended by a 0 byte
  PlaceRow row[kRows];
};

/// Writes the file. Used under the caller's lock. Ends the process by fail() when the file cannot
/// be written.
class PlaceRows {
 public:
  /// `program`: the plugin's name, for messages. `path`: absolute, without process number.
  PlaceRows(const char* program, std::string path);

  /// The events of `thread` at a place. `image`: the path of the file; empty: memory without a
  /// file. The reference stays valid, also in forked children.
  Events& row(uint32_t thread, const std::string& image, uint64_t offset);

  /// In a forked child: makes the child's file, with the parent's rows, whose events start at 0.
  void start_child();

 private:
  uint32_t image_number(const std::string& path);
  void map_file();

  const char* const program_;
  const std::string path_;
  PlacesFile* file_ = nullptr;
  std::map<std::string, uint32_t> images_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint32_t> rows_;  // thread, image, offset
};

}  // namespace respike::measure
