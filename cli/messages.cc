#include "cli/messages.h"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "optimizer/base/error.h"
#include "optimizer/target/targets.h"

namespace respike::cli {

void print_warnings(const Diagnostics& diagnostics) {
  for (const std::string& warning : diagnostics.warnings())
    fmt::print(stderr, "respike: warning: {}\n", warning);
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string percent(double part, double whole) {
  return fmt::format("{:.2f}%", whole == 0 ? 0.0 : 100.0 * part / whole);
}

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

void refuse_overwriting(const std::string& written, const std::vector<std::string>& others) {
  std::error_code ignored;
  for (const std::string& other : others)
    if (!written.empty() && !other.empty() &&
        (std::filesystem::equivalent(written, other, ignored) ||
         std::filesystem::weakly_canonical(written, ignored) ==
             std::filesystem::weakly_canonical(other, ignored)))
      throw Error("it would be overwritten, but is needed for something else, too", written);
}

std::string name_problem(const std::string& name) {
  return name.empty() ? "its name is empty" : "";
}

Json notes_to_json(const std::vector<ProcedureNote>& notes) {
  Json list = Json::array();
  for (const ProcedureNote& note : notes)
    list.push_back({{"name", note.name}, {"reason", note.reason}});
  return list;
}

void require_target(const Image& image) {
  try {
    target_for(image.machine);
  } catch (const Error&) {
    throw Error("it is for a machine that Respike cannot rewrite yet", image.path);
  }
}

}  // namespace respike::cli
