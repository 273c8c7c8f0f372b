// Measures how long the database takes with one image:
//
//   bench_database IMAGE COUNTING FILES [TIMES]
//
// IMAGE is registered in a new database. COUNTING is the image that `respike image instrument` made
// of IMAGE, and FILES is a folder with counter files of COUNTING. Copies of the first counter file
// are put into the spool and merged: the first copy, another copy, and 20 copies at once, TIMES
// times. Prints milliseconds: minimum, median, maximum.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/files.h"
#include "optimizer/base/hash.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/annotate.h"
#include "profiledb/database.h"
#include "profiledb/merging.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

double milliseconds(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

void print(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  fmt::print("{:32} {:9.2f} {:9.2f} {:9.2f}\n", what, times.front(), times[times.size() / 2],
             times.back());
}

/// Copies a counter file, as if another process had left the copy.
void put_file(const fs::path& from, const fs::path& spool, uint64_t number) {
  std::vector<uint8_t> bytes = read_file(from);
  store(bytes.data() + offsetof(respike_counter_header, process_id), number);
  write_file(spool / fmt::format("copy.{}.counts", number), bytes, {});
}

void run(const fs::path& image_path, const fs::path& counting, const fs::path& files, int times) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("bench_database.{}", getpid());
  fs::create_directories(folder);
  const std::vector<uint8_t> bytes = read_file(image_path);
  const Image image = view_image(bytes, image_path);
  Diagnostics diagnostics;
  const Profile procedures = profile_of(lift(image, diagnostics));
  fmt::print("{} procedures\n{:32} {:>9} {:>9} {:>9}\n", procedures.procedures.size(), "ms",
             "minimum", "median", "maximum");
  std::vector<double> registering, opening, first, again, small, batch, summing;
  uint64_t number = 1;
  const fs::path file = fs::directory_iterator(files)->path();
  for (int time = 0; time < times; ++time) {
    const fs::path path = folder / fmt::format("{}.db", time);
    Database database(path);
    Id build = 0;
    registering.push_back(milliseconds([&] {
      const Id row = database.put_image({image_path, "", "alpha", true, ""});
      const BuildFacts facts = {content_hash(bytes), hash64(bytes), image.build_id, {}, {}};
      build = database.put_build(row, facts, procedures);
    }));
    const fs::path spool = database.make_spool(build);
    const ContentHash content = database.store().put(counting);
    database.add_instrumented(build, {DerivedKind::instrumented, "", "", "", content},
                              read_image(counting));
    const auto merge = [&] { merge_spool(database, {}, diagnostics); };
    put_file(file, spool, number++);
    first.push_back(milliseconds(merge));
    put_file(file, spool, number++);
    again.push_back(milliseconds(merge));
    for (int i = 0; i < 20; ++i) put_file(file, spool, number++);
    batch.push_back(milliseconds(merge) / 20);
    summing.push_back(milliseconds([&] { static_cast<void>(database.profile(build)); }));
    opening.push_back(milliseconds([&] {
      const Database other(path);
      if (anything_to_merge(other)) std::abort();
    }));
  }
  print("registering", registering);
  print("merging the first run", first);
  print("merging another run", again);
  print("merging 20 runs, each", batch);
  print("the profile", summing);
  print("opening, anything to merge?", opening);
  for (const std::string& warning : diagnostics.warnings()) fmt::print("{}\n", warning);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace respike

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "bench_database IMAGE COUNTING FILES [TIMES]\n");
    return 2;
  }
  try {
    respike::run(argv[1], argv[2], argv[3], argc > 4 ? std::atoi(argv[4]) : 5);
    return 0;
  } catch (const respike::Error& error) {
    fmt::print(stderr, "bench_database: {}\n", error.what());
    return 1;
  }
}
