// Writes the events at each place of code. See places_file.h.
//
// Rows are plain sums in memory that the kernel keeps, so that no events are lost, however a
// process ends. A row belongs to one thread: no lock is taken to add. A forked child maps its own
// file over its parent's, at the same address, where translated code expects the rows.

#include "measure/plugins/places_file.h"

#include <string.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "measure/plugins/process_file.h"

namespace respike::measure {

PlaceRows::PlaceRows(const char* program, std::string path)
    : program_(program), path_(std::move(path)) {
  map_file();
}

void PlaceRows::map_file() {
  file_ = static_cast<PlacesFile*>(map_process_file(program_, path_, sizeof(PlacesFile), file_));
  reserve_room(program_, file_, offsetof(PlacesFile, row));
  memcpy(file_->magic, PlacesFile::kMagic, sizeof file_->magic);
  file_->process = uint32_t(getpid());
}

Events& PlaceRows::row(uint32_t thread, const std::string& image, uint64_t offset) {
  const uint32_t number = image.empty() ? 0 : image_number(image);
  if (number == 0) offset = 0;
  const auto [known, is_new] = rows_.try_emplace({thread, number, offset}, file_->rows);
  PlaceRow& row = file_->row[known->second];
  if (is_new) {
    if (file_->rows == PlacesFile::kRows)
      fail(program_, "more than %u places of code in all threads", PlacesFile::kRows);
    reserve_room(program_, &row, sizeof row);
    row.offset = offset;
    row.image = number;
    row.thread = thread;
    __atomic_store_n(&file_->rows, file_->rows + 1, __ATOMIC_RELEASE);
  }
  return row.events;
}

uint32_t PlaceRows::image_number(const std::string& path) {
  const auto [known, is_new] = images_.try_emplace(path, file_->images + 1);
  if (is_new) {
    if (path.size() >= PlacesFile::kNamesSize - file_->names_size)
      fail(program_, "too many images");
    memcpy(file_->names + file_->names_size, path.c_str(), path.size() + 1);
    file_->names_size += uint32_t(path.size() + 1);
    ++file_->images;
  }
  return known->second;
}

void PlaceRows::start_child() {
  const uint32_t rows = file_->rows, images = file_->images;
  const std::string names(file_->names, file_->names_size);
  std::vector<PlaceRow> places(file_->row, file_->row + rows);
  map_file();
  reserve_room(program_, file_->row, rows * sizeof(PlaceRow));
  for (uint32_t i = 0; i < rows; ++i) {
    places[i].events = {};
    file_->row[i] = places[i];
  }
  memcpy(file_->names, names.data(), names.size());
  file_->names_size = uint32_t(names.size());
  file_->images = images;
  file_->rows = rows;
}

}  // namespace respike::measure
