#pragma once
// The contents of an image's file, read once.

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

  /// Why the image cannot be optimized, as a clause; empty when it can.
  std::string why_not_optimizable() const;
  std::string machine() const;  // as `respike image info` prints it
  bool is_program() const { return program_; }
  BuildFacts facts() const;  // for an image that can be optimized
  /// Lifts the image, and warns when much of its code is opaque: the user gets this warning once,
  /// when the image is registered, and not with every image derived from it. Throws Error when the
  /// image cannot be lifted.
  Profile procedures(Diagnostics& diagnostics) const;
  const Image& image() const { return *image_; }

  std::filesystem::path path;
  FileIdentity identity;
  ContentHash hash;

 private:
  std::vector<uint8_t> bytes_;
  std::optional<Image> image_;  // of bytes_
  std::string problem_;         // why the image cannot be optimized
  std::string machine_;
  bool program_ = false;
};

/// A hash of a profile's contents, in hex; empty when nothing was counted.
std::string hash_of(const Profile& profile);

/// Whether an image is a library in a system folder, left alone because its linker did not keep
/// relocations.
bool is_system_library(const ImageRow& image);

/// The text of an error without the file's path in front.
std::string message_without(const std::string& path, const Error& error);

/// The machine of a file, named as by ImageContent::machine(), from the file's first bytes.
std::string machine_of(const std::filesystem::path& file);
/// Why `file` cannot be an image of an application whose main image is `main`, as a clause: the
/// files are for different machines. Empty when they are for the same machine, or when a machine is
/// not known.
std::string foreign_machine(const std::filesystem::path& file, const std::string& application,
                            const std::filesystem::path& main);

/// Whether this process sees an image of a store in place of the file, because this command is part
/// of a run that mounted the image there.
bool is_substituted(const std::filesystem::path& file);
/// The clause for a file that is_substituted().
constexpr const char* kHiddenByRun =
    "this command is part of a run that has put another image in its place";

/// Reads the image of a build. Throws Error when the file does not have the build's contents.
ImageContent content_of(const ImageRow& image, const BuildRow& build);

}  // namespace respike
