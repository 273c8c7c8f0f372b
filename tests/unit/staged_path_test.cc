// Files of a staged tree, by the paths that they will have.

#include "tas/staged_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/temporary_folder.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

class StagedPath : public testing::Test {
 protected:
  void put(const fs::path& name) {
    fs::create_directories((root() / name).parent_path());
    std::ofstream(root() / name) << "x";
  }
  void link(const fs::path& name, const fs::path& target) {
    fs::create_directories((root() / name).parent_path());
    fs::create_symlink(target, root() / name);
  }
  fs::path root() const { return folder_.path(); }
  /// Below the root, or as it is when it is elsewhere; "none" when it is not the tree's matter.
  std::string found(const fs::path& path) const {
    const auto file = staged_path(root(), path);
    if (!file) return "none";
    const fs::path below = file->lexically_relative(root());
    return below.string().starts_with("..") ? file->string() : below.string();
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(StagedPath, FilesOfTheTree) {
  put("usr/bin/app");
  EXPECT_EQ(found("/usr/bin/app"), "usr/bin/app");
  EXPECT_EQ(found("/usr/./bin/../bin/app"), "usr/./bin/../bin/app");
  EXPECT_EQ(found("/usr/bin/other"), "none");
}

TEST_F(StagedPath, RelativeLinksKeepTheName) {
  put("usr/lib/libx.so.1.2");
  link("usr/lib/libx.so.1", "libx.so.1.2");
  EXPECT_EQ(found("/usr/lib/libx.so.1"), "usr/lib/libx.so.1");
}

TEST_F(StagedPath, AbsoluteLinksLeadToFilesOfTheTree) {
  put("opt/x/libx.so.1");
  link("usr/lib/libx.so", "/usr/lib/libx.so.1");
  link("usr/lib/libx.so.1", "/opt/x/libx.so.1");
  link("srv/lib", "/opt/x");  // a folder
  EXPECT_EQ(found("/usr/lib/libx.so"), "opt/x/libx.so.1");
  EXPECT_EQ(found("/srv/lib/libx.so.1"), "opt/x/libx.so.1");
  EXPECT_EQ(found("/srv/lib/../y/../x/libx.so.1"), "none");  // there is no folder /opt/y
}

/// A link of the same name on this system leads elsewhere; the tree's comes first.
TEST_F(StagedPath, LinksOutOfTheTree) {
  link("opt/shell", "/bin/sh");
  const std::string shell = found("/opt/shell");
  EXPECT_TRUE(shell.starts_with("/") && fs::equivalent(shell, "/bin/sh")) << shell;
  link("opt/nowhere", "/no/such/file");
  EXPECT_EQ(found("/opt/nowhere"), "none");
  EXPECT_EQ(found("/bin/sh"), "none");
}

/// /bin is a link to usr/bin on this system, and will be when the tree is installed.
TEST_F(StagedPath, LinksOfThisSystemLeadIntoTheTree) {
  if (!fs::is_symlink("/bin")) GTEST_SKIP() << "/bin is no link here";
  put("usr/bin/staged-app");
  EXPECT_EQ(found("/bin/staged-app"), "usr/bin/staged-app");
}

TEST_F(StagedPath, LinksInACircle) {
  link("a", "/b");
  link("b", "a");
  EXPECT_EQ(found("/a"), "none");
}

}  // namespace
}  // namespace respike
