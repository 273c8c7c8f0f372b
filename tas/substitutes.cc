// Programs with privileges of their own (set-uid, set-gid, file capabilities) run unchanged: the
// kernel gives the privileges to the original file, not to the substitute. A substitute on a file
// system that forbids execution is also left out.

#include "tas/substitutes.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "optimizer/base/error.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

bool forbids_execution(const fs::path& file) {
  struct statvfs status {};
  return statvfs(file.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0;
}

}  // namespace

bool has_privileges(const fs::path& program) {
  struct stat status {};
  if (stat(program.c_str(), &status) != 0) return false;
  const bool set_group = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
  return (status.st_mode & S_ISUID) != 0 || set_group ||
         getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
}

std::vector<Substitution> usable_substitutions(
    const ProgramImage& program, const std::vector<Substitution>& substitutions,
    const std::function<void(const std::string&)>& warn) {
  std::vector<Substitution> usable;
  const bool native = program.platform->native();
  if (native && !substitutions.empty() && has_privileges(program.path)) {
    if (warn)
      warn(fmt::format("{}: it gets privileges when it is started, so the original is run",
                       program.path.string()));
    return usable;
  }
  for (const Substitution& s : substitutions) {
    std::error_code error;
    const fs::path original = fs::canonical(s.original, error);
    if (error || access(s.substitute.c_str(), R_OK) != 0)
      throw Error(fmt::format("it cannot be substituted: {}",
                              error ? error.message() : std::strerror(errno)),
                  error ? s.original : s.substitute);
    if (!native || !forbids_execution(s.substitute) || forbids_execution(original))
      usable.push_back({original, s.substitute});
    else if (warn)
      warn(fmt::format(
          "{}: the original is run, for {} lies on a file system that is mounted noexec",
          s.original.string(), s.substitute.string()));
  }
  return usable;
}

}  // namespace respike
