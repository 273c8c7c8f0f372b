#pragma once
// What the file of an image holds, read once.

#include <filesystem>
#include <string>

#include "optimizer/base/diagnostics.h"
#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "profiledb/database.h"

namespace respike {

struct ImageContent {
  /// Throws Error when the file cannot be read.
  ImageContent(const std::filesystem::path& file, const FileIdentity& identity_before);

  /// A clause; empty when it can be.
  std::string why_not_optimizable() const;
  std::string machine() const;  // as `respike image info` prints it
  BuildFacts facts() const;     // of an image that can be optimized
  /// Lifts the image, and warns when much of it is opaque: who registers it hears that once, not
  /// whenever something is made of it. Throws Error when it cannot be lifted.
  Profile procedures(Diagnostics& diagnostics) const;
  const Image& image() const { return *image_; }

  std::filesystem::path path;
  FileIdentity identity;
  ContentHash hash;

 private:
  std::vector<uint8_t> bytes_;
  std::optional<Image> image_;  // of bytes_
  std::string problem_;         // why there is none
  std::string machine_;
};

/// Names a profile by what it holds; empty when nothing was counted.
std::string hash_of(const Profile& profile);

/// Whether an image is a library in a folder of the system, and is left alone for what its linker
/// did not keep.
bool is_system_library(const ImageRow& image);

/// What an error says besides the file's name, which stands beside it.
std::string message_without(const std::string& path, const Error& error);

/// The machine that a file is for now, as ImageContent::machine() has it.
std::string machine_of(const std::filesystem::path& file);
/// Why an image, by its file as it is now, cannot be one of an application whose main image is this
/// file, a clause; empty when it can, or when nobody knows its machine.
std::string foreign_machine(const std::filesystem::path& file, const std::string& application,
                            const std::filesystem::path& main);

/// Whether this process sees an image of a store in the place of the file: a run put it there, and
/// this command is part of that run.
bool is_substituted(const std::filesystem::path& file);
/// That, as a clause.
constexpr const char* kHiddenByRun =
    "this command is part of a run that has put another image in its place";

/// The image of a build. Throws Error when its file has changed since.
ImageContent content_of(const ImageRow& image, const BuildRow& build);

}  // namespace respike
