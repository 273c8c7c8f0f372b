#pragma once
// The code of images, lifted once for many questions.

#include <memory>
#include <string>
#include <vector>

#include "environment/code_view.h"
#include "environment/environment.h"
#include "environment/image_info.h"
#include "optimizer/image/image.h"

namespace respike::gui {

/// Which version of an image.
enum class Version : uint8_t { original, optimized };

struct ProcedureQuestion {
  std::string application, image;  // name; path
  std::string name;                // of the procedure
  uint64_t address = 0;            // in the original; 0, or optimized: the first of the name
  Version version = Version::original;
};

struct ProcedureAnswer {
  CodeView view;
  bool counted = false;  // the blocks have counts
};

/// Whether an image has counts, and `images`, which are paths, name the image; empty: all do.
bool is_counted(const ImageView& view, const std::vector<std::string>& images);

/// Keeps the last image that was asked for. Used in one thread (Manager::ask).
class CodeCache {
 public:
  /// Throws Error when there is no such version or procedure.
  ProcedureAnswer ask(Environment& environment, const ProcedureQuestion& question);
  /// Throws Error when the application has no such image, or the image cannot be optimized.
  ImageInfo info(Environment& environment, const std::string& application,
                 const std::string& image);
  /// The program of the original with the counts of its profile, until the next question. Throws
  /// Error as info() does.
  const Program& counted(Environment& environment, const std::string& application,
                         const std::string& image);

 private:
  struct Lifted {
    std::string key;  // of the build and its counts
    Image image;
    Program program;
    std::vector<bool> counted;  // per procedure
  };
  const Lifted& lifted(Environment& environment, const ImageView& view, Version version);

  std::unique_ptr<Lifted> last_;
};

}  // namespace respike::gui
