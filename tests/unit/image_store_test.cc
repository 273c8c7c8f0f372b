// The store of files by their contents.

#include "profiledb/image_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;
constexpr auto kNow = std::chrono::seconds(0);

TEST(ImageStore, KeepsContentsAndModes) {
  const TemporaryFolder folder;
  ImageStore store(folder / "store");
  const auto bytes = text_bytes("some bytes");
  const ContentHash hash = store.put(bytes, fs::perms(0751));
  EXPECT_EQ(hash, content_hash(bytes));
  EXPECT_EQ(store.read(hash), bytes);
  EXPECT_TRUE(store.contains(hash));
  EXPECT_EQ(fs::status(store.path(hash)).permissions(), fs::perms(0751));
  EXPECT_EQ(store.path(hash), folder / "store" / "images" / hash.hex().substr(0, 2) / hash.hex());

  const fs::path file = folder / "file";
  put_contents(file, text_bytes("others"));
  ASSERT_EQ(chmod(file.c_str(), 04755), 0);
  const ContentHash other = store.put(file);
  EXPECT_EQ(store.read(other), text_bytes("others"));
  EXPECT_EQ(fs::status(store.path(other)).permissions(), fs::perms(04755));
  EXPECT_EQ(store.read(store.put({}, fs::perms(0644))), text_bytes(""));
}

TEST(ImageStore, StoresTheSameOnce) {
  const TemporaryFolder folder;
  ImageStore store(folder.path());
  const ContentHash first = store.put(text_bytes("same"), fs::perms(0644));
  const ContentHash second = store.put(text_bytes("same"), fs::perms(0755));
  EXPECT_EQ(first, second);
  EXPECT_EQ(files_below(folder.path()).size(), 1u);
}

TEST(ImageStore, NamesAreHashes) {
  const ContentHash hash = content_hash(text_bytes("x"));
  EXPECT_EQ(parse_content_hash(hash.hex()), hash);
  EXPECT_EQ(parse_content_hash(hash.hex().substr(1)), std::nullopt);
  EXPECT_EQ(parse_content_hash(std::string(32, 'g')), std::nullopt);
  EXPECT_EQ(parse_content_hash(std::string(32, 'A')), std::nullopt);
  EXPECT_EQ(parse_content_hash(std::string(32, 'a') + "/"), std::nullopt);
}

TEST(ImageStore, SeesDamage) {
  const TemporaryFolder folder;
  ImageStore store(folder.path());
  const ContentHash hash = store.put(text_bytes("contents"), fs::perms(0644));
  put_contents(store.path(hash), text_bytes("c0ntents"));
  EXPECT_NE(error_of([&] { store.read(hash); }).find("damaged"), std::string::npos);
  EXPECT_FALSE(store.is_intact(hash));
  store.put(text_bytes("contents"), fs::perms(0644));
  EXPECT_TRUE(store.is_intact(hash)) << "a file of the right size is compared";
  fs::remove(store.path(hash));
  EXPECT_NE(error_of([&] { store.read(hash); }).find("does not exist"), std::string::npos);
  EXPECT_FALSE(store.is_intact(hash));
  // A file of the wrong size is written again.
  put_contents(store.path(hash), text_bytes("short"));
  store.put(text_bytes("contents"), fs::perms(0644));
  EXPECT_EQ(store.read(hash), text_bytes("contents"));
}

TEST(ImageStore, PrunesWhatNobodyNeeds) {
  const TemporaryFolder folder;
  ImageStore store(folder.path());
  const ContentHash needed = store.put(text_bytes("needed"), fs::perms(0644));
  const ContentHash gone = store.put(text_bytes("unneeded"), fs::perms(0644));
  const auto is_needed = [&](const ContentHash& hash) { return hash == needed; };
  EXPECT_EQ(store.prune(is_needed, std::chrono::hours(1)), 0u) << "it is young";
  EXPECT_TRUE(store.contains(gone));
  EXPECT_EQ(store.prune(is_needed, kNow), 8u);
  EXPECT_FALSE(store.contains(gone));
  EXPECT_TRUE(store.contains(needed));
}

TEST(ImageStore, PutMakesAFileYoungAgain) {
  const TemporaryFolder folder;
  ImageStore store(folder.path());
  const ContentHash hash = store.put(text_bytes("old"), fs::perms(0644));
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, store.path(hash).c_str(), old, 0), 0);
  store.put(text_bytes("old"), fs::perms(0644));
  EXPECT_EQ(store.prune([](const ContentHash&) { return false; }, std::chrono::hours(1)), 0u);
}

TEST(ImageStore, RemovesWhatAnInterruptedPutLeft) {
  const TemporaryFolder folder;
  ImageStore store(folder.path());
  const ContentHash hash = store.put(text_bytes("x"), fs::perms(0644));
  const fs::path left = store.path(hash).parent_path() / "1.0.new";
  put_contents(left, text_bytes("half"));
  const auto all = [](const ContentHash&) { return true; };
  store.prune(all, kNow);
  EXPECT_TRUE(fs::exists(left)) << "it may be in work";
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, left.c_str(), old, 0), 0);
  store.prune(all, kNow);
  EXPECT_FALSE(fs::exists(left));
}

TEST(ImageStore, SaysWhyItCannotStore) {
  const TemporaryFolder folder;
  put_contents(folder / "file", text_bytes("no folder"));
  ImageStore store(folder / "file");
  EXPECT_NE(error_of([&] { store.put(text_bytes("x"), fs::perms(0644)); }).find("cannot be made"),
            std::string::npos);
}

TEST(ImageStore, KilledAtAnyTimeItLeavesNothingHalf) {
  const TemporaryFolder folder;
  std::vector<uint8_t> bytes(1 << 20);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i >> 8);
  Random random(1);
  for (int i = 0; i < 30; ++i) {
    bytes[0] = static_cast<uint8_t>(i);
    const pid_t child = fork();
    if (child == 0) {
      ImageStore(folder.path()).put(bytes, fs::perms(0644));
      _exit(0);
    }
    usleep(below(random, 3000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  ImageStore store(folder.path());
  for (const std::string& name : files_below(folder / "images")) {
    const auto hash = parse_content_hash(fs::path(name).filename().string());
    if (hash) {
      EXPECT_EQ(content_hash(store.read(*hash)), *hash);
    }
  }
}

}  // namespace
}  // namespace respike
