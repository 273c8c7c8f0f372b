// Whether a counter file is in use: by the kernel's leases, and by /proc.

#include "profiledb/spool.h"

#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

class Spool : public testing::Test {
 protected:
  Spool() : file(folder / "program.1.2.counts") { put_contents(file, text_bytes("some contents")); }

  bool in_use() const { return SpoolFile::open(file)->in_use(); }
  /// The slow way: a search of /proc.
  bool used_by_any() const {
    struct stat status = {};
    EXPECT_EQ(stat(file.c_str(), &status), 0);
    return any_process_uses(status, file);
  }

  TemporaryFolder folder;
  fs::path file;
};

TEST_F(Spool, NobodyUsesIt) {
  EXPECT_FALSE(in_use());
  const int reader = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(in_use()) << "another process that merges";
  close(reader);
  if (geteuid() == 0 && std::ifstream("/proc/1/maps").is_open()) {  // may look at all processes
    EXPECT_FALSE(used_by_any());
  }
}

TEST_F(Spool, AMappingIsUse) {
  {
    const RunningFile process(file);
    EXPECT_TRUE(in_use());
    EXPECT_TRUE(used_by_any());
  }
  EXPECT_FALSE(in_use());
}

TEST_F(Spool, SoIsADescriptor) {
  const int writer = open(file.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_TRUE(in_use());
  EXPECT_TRUE(used_by_any());
  close(writer);
  EXPECT_FALSE(in_use());
}

TEST_F(Spool, OfAnotherProcessToo) {
  int ready[2], end[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(end[1]);
    const RunningFile process(file);
    char byte = 0;
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    _exit(read(end[0], &byte, 1) == 0 ? 0 : 1);
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(in_use());
  EXPECT_TRUE(used_by_any());
  fs::rename(file, folder / "elsewhere");
  file = folder / "elsewhere";
  EXPECT_TRUE(in_use());
  EXPECT_TRUE(used_by_any());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(in_use());
}

/// Without the right to a lease, as on another user's file, the search of /proc decides.
TEST_F(Spool, AFileOfSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be two users";
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(file, fs::perms(0644));
  const RunningFile process(file);
  EXPECT_EQ(in_child([&] {
              if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
                _exit(77);
              if (!in_use()) _exit(1);  // processes of the owner are hidden
            }),
            0);
}

TEST_F(Spool, WhatIsNoFile) {
  EXPECT_FALSE(SpoolFile::open(folder / "none.counts"));
  fs::create_directory(folder / "folder.counts");
  EXPECT_NE(error_of([&] { SpoolFile::open(folder / "folder.counts"); }).find("not a regular"),
            std::string::npos);
  ASSERT_EQ(mkfifo((folder / "pipe.counts").c_str(), 0600), 0);
  EXPECT_NE(error_of([&] { SpoolFile::open(folder / "pipe.counts"); }).find("not a regular"),
            std::string::npos);
}

TEST_F(Spool, MovedFilesReplaceNothing) {
  const fs::path to = folder / "aside";
  EXPECT_EQ(move_into(file, to), to / "program.1.2.counts");
  put_contents(file, text_bytes("another"));
  EXPECT_EQ(move_into(file, to), to / "program.1.2.counts.2");
  EXPECT_EQ(move_into(file, to), std::nullopt) << "somebody else moved it";
  EXPECT_EQ(contents_of(to / "program.1.2.counts"), text_bytes("some contents"));
  EXPECT_EQ(contents_of(to / "program.1.2.counts.2"), text_bytes("another"));
}

}  // namespace
}  // namespace respike
