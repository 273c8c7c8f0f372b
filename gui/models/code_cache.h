#pragma once
// The code of images, lifted once for many questions.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "applications/environment.h"
#include "applications/image_content.h"
#include "gui/models/source_model.h"
#include "gui/models/source_paths.h"
#include "optimizer/image/image.h"
#include "views/code_sources.h"
#include "views/code_view.h"
#include "views/image_info.h"
#include "views/layout_view.h"
#include "views/source_counts.h"

namespace respike::gui {

/// A version of an image.
enum class Version : uint8_t { original, optimized };

struct ProcedureQuestion {
  std::string application, image;  // name; path
  std::string name;                // of the procedure
  uint64_t address = 0;            // in the original; 0: the first procedure of the name
  Version version = Version::original;
};

struct ProcedureAnswer {
  CodeView view;
  bool counted = false;  // the blocks have counts
};

struct SourceQuestion {
  std::string application, image;  // name; path
  std::string path;                // path of the source, as recorded
  PathSubstitutions substitutions;
};

struct LayoutAnswer {
  LayoutView before, after;  // after: without pieces when there is no optimized image
  std::shared_ptr<const SourceLines> lines_before, lines_after;  // nullptr: none
  std::string not_followed;  // why an existing optimized image has no pieces
};

/// Whether an image has counts and is named by `images` (paths; empty: all images).
bool is_counted(const ImageView& view, const std::vector<std::string>& images);

/// Keeps the image of the last question. Used in one thread (Manager::ask).
class CodeCache {
 public:
  /// Throws Error when there is no such version or procedure, or when the rewriting of the original
  /// cannot be followed (follow_rewriting()).
  ProcedureAnswer ask(Environment& environment, const ProcedureQuestion& question);
  /// The original procedure, with marks for what became of its blocks; the image must be optimized.
  /// Throws as ask() does.
  ProcedureAnswer ask_changes(Environment& environment, const ProcedureQuestion& question);
  /// The source lines of a procedure, in the form in which ask() returns it; empty: the image has
  /// no line tables, or none for the procedure. Throws as ask() does.
  CodeSources ask_sources(Environment& environment, const ProcedureQuestion& question);
  /// A source file with the counts of an image. Throws as ask() does.
  SourceAnswer ask_source(Environment& environment, const SourceQuestion& question);
  /// The line tables of the original. Throws as ask() does.
  const SourceLines& lines(Environment& environment, const std::string& application,
                           const std::string& image);
  /// The layouts of an image before and after. Throws as ask() does.
  LayoutAnswer layouts(Environment& environment, const std::string& application,
                       const std::string& image);
  /// Throws Error when the application has no such image, or the image cannot be optimized.
  ImageInfo info(Environment& environment, const std::string& application,
                 const std::string& image);
  /// The program of the original with the counts of its profile, until the next question. Throws
  /// Error as info() does.
  const Program& counted(Environment& environment, const std::string& application,
                         const std::string& image);

 private:
  struct Original {
    std::string key;  // identifies the build and its counts
    std::optional<ImageContent> content;
    Program program;
    Profile profile;
    std::vector<bool> counted;                       // per procedure
    std::optional<std::vector<SourceFile>> sources;  // counted by line; nullopt: not yet
  };
  struct Optimized {
    std::string key;  // identifies both builds and the counts
    Image image;
    RewrittenProgram program;
  };
  /// Line tables are kept when counts grow.
  struct Lines {
    std::string key;  // identifies the content
    std::shared_ptr<const SourceLines> lines;
  };
  Original& original(Environment& environment, const ImageView& view);
  std::shared_ptr<const SourceLines> original_lines(Environment& environment,
                                                    const ImageView& view);
  std::shared_ptr<const SourceLines> optimized_lines(Environment& environment,
                                                     const ImageView& view);
  const Optimized& optimized(Environment& environment, const ImageView& view);
  ProcedureId find(const Original& code, const ProcedureQuestion& question) const;

  std::unique_ptr<Original> original_;
  std::unique_ptr<Optimized> optimized_;  // of *original_
  Lines original_lines_, optimized_lines_;
};

}  // namespace respike::gui
