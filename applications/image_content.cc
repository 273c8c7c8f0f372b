// Reads images. An image that Respike cannot rewrite is read as well, and listed with the reason
// why it is left alone.

#include "applications/image_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "host/platform.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/base/hash.h"
#include "optimizer/image/loader_view.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machines.h"
#include "optimizer/profile/annotate.h"
#include "optimizer/report/summary.h"
#include "tas/libraries.h"
#include "tas/private_mounts.h"

namespace respike {
namespace {

bool is_rewritable(MachineId machine) {
  try {
    machine_for(machine);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string name_of_machine(const FileMachine& machine) {
  return machine.known ? std::string(platform_of(machine).name)
                       : fmt::format("{} machine {}", machine.windows ? "PE" : "ELF", machine.raw);
}

}  // namespace

std::string machine_of(const std::filesystem::path& file) {
  const auto machine = file_machine_of(file);
  if (!machine || !machine->known) return {};
  return std::string(platform_of(*machine).key);
}

std::string foreign_machine(const std::filesystem::path& file, const std::string& application,
                            const std::filesystem::path& main) {
  const auto machine = file_machine_of(file), wanted = file_machine_of(main);
  if (!machine || !wanted || *machine == *wanted) return {};
  return fmt::format(
      "it is an image for {}, but an application, here {}, has images of one machine, here {}: "
      "unregister it first",
      name_of_machine(*machine), application, name_of_machine(*wanted));
}

std::string hash_of(const Profile& profile) {
  return profile.runs > 0 ? content_hash(encode_profile(profile)).hex() : std::string();
}

bool is_system_library(const ImageRow& image) {
  constexpr const char* kAdvice = "--emit-relocs";  // from the message of require_rewritable()
  const Platform* platform = find_platform(image.machine);
  if (platform == nullptr || image.reason.find(kAdvice) == std::string::npos) return false;
  const std::string sysroot = sysroot_of(*platform);
  // The dynamic linker has a path that its ABI fixes, /lib64/ld-linux-x86-64.so.2, where Debian has
  // a link to the file in one of these folders.
  std::error_code error;
  const std::string file = std::filesystem::canonical(image.path, error).string();
  const auto holds = [&](std::string_view folder) {
    const std::string start = fmt::format("{}{}/", sysroot, folder);
    return image.path.starts_with(start) || file.starts_with(start);
  };
  return std::ranges::any_of(platform->library_folders, holds);
}

std::string message_without(const std::string& path, const Error& error) {
  const std::string text = error.what(), prefix = path + ": ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

ImageContent::ImageContent(const std::filesystem::path& file, const FileIdentity& identity_before)
    : path(file), identity(identity_before), bytes_(read_file(file)) {
  hash = content_hash(bytes_);
  const LoaderView view = view_of(bytes_, path);
  if (view.machine.known) machine_ = platform_of(view.machine).key;
  program_ = view.is_program();
  try {
    image_ = view_image(bytes_, path);
    if (!is_rewritable(image_->machine))
      problem_ = "it is for a machine that Respike cannot rewrite yet";
    else
      require_rewritable(*image_);
  } catch (const Error& error) {
    problem_ = message_without(path, error);
  }
}

std::string ImageContent::why_not_optimizable() const {
  return problem_;
}

std::string ImageContent::machine() const {
  return machine_;
}

BuildFacts ImageContent::facts() const {
  return {hash, hash64(bytes_), image_->build_id, identity, machine_};
}

Profile ImageContent::procedures(Diagnostics& diagnostics) const {
  const Program program = lift(*image_, diagnostics);
  if (const auto text = describe_opaque(program))
    diagnostics.warn(fmt::format("{}: {}", path.string(), *text));
  return profile_of(program);
}

bool is_substituted(const std::filesystem::path& file) {
  const auto seen = mounted_over(file);
  return seen && parse_content_hash(seen->filename().string()) &&
         seen->parent_path().parent_path().filename() == "images";
}

ImageContent content_of(const ImageRow& image, const BuildRow& build) {
  ImageContent content(image.path, file_identity(image.path));
  if (content.hash != build.content) throw Error("it is being changed right now", image.path);
  return content;
}

}  // namespace respike
