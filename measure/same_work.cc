// Two programs that do the same work: their input and their output.

#include "measure/same_work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "optimizer/base/error.h"

namespace respike::measure {
namespace {

/// The offset of the first byte in which two files differ, if they do.
std::optional<uint64_t> first_difference(int left, int right) {
  std::array<char, 65536> a, b;
  for (uint64_t at = 0;;) {
    const ssize_t in_a = pread(left, a.data(), a.size(), off_t(at));
    const ssize_t in_b = pread(right, b.data(), b.size(), off_t(at));
    if (in_a < 0 || in_b < 0) throw Error(fmt::format("outputs: {}", std::strerror(errno)));
    const size_t common = size_t(std::min(in_a, in_b));
    const auto [end, other] = std::mismatch(a.begin(), a.begin() + common, b.begin());
    if (end != a.begin() + common || in_a != in_b) return at + uint64_t(end - a.begin());
    if (common == 0) return std::nullopt;
    at += common;
  }
}

}  // namespace

OpenFile copy_of_input(int input) {
  OpenFile copy = temporary_file();
  if (isatty(input)) return copy;
  std::array<char, 65536> block;
  for (;;) {
    const ssize_t got = read(input, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EBADF) return copy;  // closed
    if (got < 0) throw Error(fmt::format("standard input: {}", std::strerror(errno)));
    if (got == 0) return copy;
    if (write(copy.number(), block.data(), size_t(got)) != got)
      throw Error(fmt::format("no temporary copy of standard input: {}", std::strerror(errno)));
  }
}

ProgramRun run_of(const Version& version, const std::filesystem::path& argv0,
                  const Workload& workload, const OpenFile& input, const Outputs& outputs) {
  lseek(input.number(), 0, SEEK_SET);
  return {.program = version.program,
          .argv0 = argv0,
          .arguments = workload.arguments,
          .input = input.number(),
          .output = outputs.output.number(),
          .errors = outputs.errors.number(),
          .folder = workload.folder,
          .variables = workload.variables,
          .stop = workload.stop,
          .enter = version.enter,
          .by_own_path = version.by_own_path,
          .name = version.name,
          .places = workload.places,
          .driver = workload.driver};
}

std::string text_of_end(int exit_status, int signal) {
  return signal != 0 ? fmt::format("signal {} ({})", signal, strsignal(signal))
                     : fmt::format("exit status {}", exit_status);
}

/// The end of a server says more than its driver's reaction to it.
static std::string difference_of_servers(const ServerEnd& before, const ServerEnd& after) {
  if (after.fault != before.fault)
    return after.fault == 0
               ? fmt::format("no process of the server dies by {}", text_of_end(0, before.fault))
               : fmt::format("a process of the server dies by {}", text_of_end(0, after.fault));
  if (after.killed != before.killed)
    return after.killed ? "the server does not stop in time" : "the server stops in time";
  if (before.signal == after.signal && before.exit_status == after.exit_status) return {};
  return fmt::format("the server ends by {} instead of {}",
                     text_of_end(after.exit_status, after.signal),
                     text_of_end(before.exit_status, before.signal));
}

std::string difference_of_ends(const ProcessEnd& before, const ProcessEnd& after) {
  const std::string of_server = difference_of_servers(before.server, after.server);
  if (!of_server.empty()) return of_server;
  if (before.signal == after.signal && before.exit_status == after.exit_status) return {};
  if (before.signal == 0 && after.signal == 0)
    return fmt::format("the exit status is {} instead of {}", after.exit_status,
                       before.exit_status);
  return fmt::format("it ends by {} instead of {}", text_of_end(after.exit_status, after.signal),
                     text_of_end(before.exit_status, before.signal));
}

std::string difference_of_outputs(const Outputs& before, const Outputs& after) {
  if (const auto at = first_difference(before.output.number(), after.output.number()))
    return fmt::format("standard output differs from byte {} on", *at);
  if (const auto at = first_difference(before.errors.number(), after.errors.number()))
    return fmt::format("standard error differs from byte {} on", *at);
  return {};
}

std::string difference_of(const ProcessEnd& end_before, const Outputs& before,
                          const ProcessEnd& end_after, const Outputs& after) {
  const std::string difference = difference_of_ends(end_before, end_after);
  return difference.empty() ? difference_of_outputs(before, after) : difference;
}

}  // namespace respike::measure
