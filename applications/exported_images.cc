// Copies optimized images out of the database, to be shipped or tried.
//
// Problem: a copy of an image in another folder does not behave like the original. A library has
// several names: programs ask for libfoo.so.1, a symbolic link, while libfoo.so.1.2 is the file.
// And an image with the search path $ORIGIN/../lib looks for libraries relative to its own folder:
// a copy that stands alone in a folder finds no library or, worse, finds the originals without any
// warning.
//
// So the copy keeps its file name, and the symbolic links to the original are made beside the copy.
// All copies go into one folder, except images that find each other by $ORIGIN and images that
// share a name, such as plugins: their copies go to subfolders, placed to each other like the
// originals. With an alternative root each copy and each link has the path of its original below
// that root, as in a package.
//
// In a staged tree, from which a package is made, an image replaces the copy of its original, which
// is found by contents: the tree has links, modes and names already.
//
// Absolute search paths still lead to the originals. So export finds out, by the rules of the
// dynamic linker, which libraries the exported program would load; if these are not the exported
// libraries, a note says what the program needs, e.g. LD_LIBRARY_PATH.
//
//   /app/bin/prog ($ORIGIN/../lib), /app/lib/libfoo.so.1 -> libfoo.so.1.2
//   DIR/bin/prog,                    DIR/lib/libfoo.so.1 -> libfoo.so.1.2

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "applications/descriptions.h"
#include "applications/environment.h"
#include "applications/fault_guard.h"
#include "applications/image_content.h"
#include "applications/staged_tree.h"
#include "host/platform.h"
#include "optimizer/base/disjoint_sets.h"
#include "optimizer/base/error.h"
#include "optimizer/base/files.h"
#include "optimizer/check/broken_rules.h"
#include "optimizer/image/provenance.h"
#include "optimizer/image/without_relocations.h"
#include "tas/libraries.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

using State = ImageOutcome::State;

/// An image to be exported.
struct Export {
  fs::path original;               // as the loader opens it
  fs::path real;                   // its file, symbolic links followed
  fs::path origin;                 // the folder that the loader takes for $ORIGIN
  std::vector<fs::path> links;     // symbolic links that lead to the file
  std::vector<fs::path> searched;  // folders in its search paths that depend on $ORIGIN

  fs::path file;                           // path to be written
  std::map<fs::path, fs::path> new_links;  // links to be made, with their targets
  std::vector<uint8_t> bytes;              // empty: the image has not been optimized
  ContentHash original_content;
  uint64_t original_size = 0;
  size_t outcome = 0;
  bool is_main_program = false;
};

/// The symbolic links that lead to the file of an image: from a path, and from a link with the
/// image's SONAME in the same folder. Links to folders do not count.
std::vector<fs::path> links_to(const ImageRow& image, const fs::path& path) {
  std::vector<fs::path> links;
  const auto follow = [&](const fs::path& start) {
    fs::path at = fs::canonical(start.parent_path()) / start.filename();
    while (fs::is_symlink(at) && std::find(links.begin(), links.end(), at) == links.end()) {
      links.push_back(at);
      const fs::path next = at.parent_path() / fs::read_symlink(at);
      at = fs::canonical(next.parent_path()) / next.filename();
    }
  };
  follow(path);
  std::error_code error;
  const fs::path by_soname = path.parent_path() / fs::path(image.soname).filename();
  if (!image.soname.empty() && fs::equivalent(by_soname, path, error)) follow(by_soname);
  return links;
}

Export export_of(const ApplicationImage& used) {
  const ImageRow& image = used.image;
  Export result;
  std::error_code error;
  const bool leads_there = fs::equivalent(used.loaded_as, image.path, error);
  result.original = leads_there ? used.loaded_as : image.path;
  result.real = fs::canonical(result.original);
  result.origin = (image.program ? result.real : result.original).parent_path();
  result.links = links_to(image, result.original);
  const LoaderView view = read_loader_view(result.original);
  if (view.machine.known)
    result.searched = folders_by_origin(view, result.origin, platform_of(view.machine));
  return result;
}

/// The longest folder that contains both paths.
fs::path common_folder(const fs::path& one, const fs::path& other) {
  fs::path common;
  for (auto a = one.begin(), b = other.begin(); a != one.end() && b != other.end() && *a == *b;
       ++a, ++b)
    common /= *a;
  return common;
}

bool share_a_name(const Export& one, const Export& other) {
  const auto names = [](const Export& image) {
    std::set<fs::path> found = {image.real.filename()};
    for (const fs::path& link : image.links) found.insert(link.filename());
    return found;
  };
  const std::set<fs::path> list = names(other);
  return std::ranges::any_of(names(one), [&](const fs::path& name) { return list.contains(name); });
}

bool searches(const Export& one, const Export& other) {
  return std::ranges::find(one.searched, other.origin) != one.searched.end();
}

/// Places images in a folder under their file names. Images that belong together keep their paths
/// below their common folder.
void place_in_folder(const fs::path& folder, std::vector<Export>& exports) {
  DisjointSets together(exports.size());
  for (uint32_t i = 0; i < exports.size(); ++i)
    for (uint32_t j = 0; j < exports.size(); ++j)
      if (i != j && (share_a_name(exports[i], exports[j]) || searches(exports[i], exports[j])))
        together.unite(i, j);
  std::map<uint32_t, fs::path> common;
  for (uint32_t i = 0; i < exports.size(); ++i) {
    const auto [at, first] = common.emplace(together.find(i), exports[i].origin);
    if (!first) at->second = common_folder(at->second, exports[i].origin);
  }
  for (uint32_t i = 0; i < exports.size(); ++i) {
    Export& image = exports[i];
    const fs::path below = image.origin.lexically_relative(common.at(together.find(i)));
    const fs::path place = below == "." ? folder : folder / below;
    const fs::path name = image.real.filename();
    image.file = place / name;
    for (const fs::path& link : image.links)
      if (link.filename() != name) image.new_links[place / link.filename()] = name;
  }
}

/// Gives images the paths of their originals below a root.
void place_below_root(const fs::path& root, std::vector<Export>& exports) {
  for (Export& image : exports) {
    image.file = root / image.real.relative_path();
    for (const fs::path& link : image.links)
      image.new_links[root / link.relative_path()] = fs::read_symlink(link);
  }
}

/// Gives images the places of the copies of their originals in a staged tree: one image for each
/// copy.
std::vector<Export> place_of_copies(const StagedTree& tree, const std::vector<Export>& exports) {
  std::vector<StagedTree::Version> versions;
  for (const Export& image : exports)
    versions.push_back({image.original_size, image.original_content, image.bytes});
  const auto copies = tree.find_copies(versions);
  std::vector<Export> placed;
  for (size_t i = 0; i < exports.size(); ++i)
    for (const fs::path& copy : copies[i]) {
      placed.push_back(exports[i]);
      placed.back().file = copy;
    }
  return placed;
}

bool same_contents(const fs::path& file, const std::vector<uint8_t>& bytes) {
  std::error_code error;
  return !fs::is_symlink(file, error) && fs::file_size(file, error) == bytes.size() && !error &&
         read_file(file) == bytes;
}

/// Whether there is a file that Respike did not make.
bool is_foreign(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return false;
  try {
    return !read_provenance(read_image(file)).has_value();
  } catch (const Error&) {
    return true;
  }
}

void make_export_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(fmt::format("the folder cannot be made: {}", error.message()), folder);
}

/// Makes a symbolic link in one step (rename), replacing a file of that name. Returns false when
/// the link was there already.
bool make_link(const fs::path& link, const fs::path& target) {
  std::error_code error;
  if (fs::is_symlink(link, error) && fs::read_symlink(link, error) == target) return false;
  std::string folder = (link.parent_path() / ".respike-XXXXXX").string();
  const bool made = mkdtemp(folder.data()) != nullptr;
  if (!made) error = std::error_code(errno, std::generic_category());
  const fs::path fresh = fs::path(folder) / "link";
  if (made) fs::create_symlink(target, fresh, error);
  if (!error) fs::rename(fresh, link, error);
  std::error_code ignored;
  if (made) fs::remove_all(folder, ignored);
  if (error)
    throw Error(fmt::format("the symbolic link cannot be made: {}", error.message()), link);
  return true;
}

/// Exported images that a program does not load, because it finds their originals or nothing.
std::vector<const Export*> not_loaded(const ProgramImage& program, const LibrarySearch& search,
                                      const std::vector<Export>& exports) {
  const Libraries libraries = find_libraries(program, search);
  std::vector<const Export*> result;
  for (const Export& image : exports) {
    std::error_code error;
    const auto is_name = [&](const MissingLibrary& library) {
      return fs::path(library.name).filename() == image.original.filename();
    };
    const bool original_loaded =
        std::ranges::any_of(libraries.loaded, [&](const LoadedLibrary& library) {
          return fs::equivalent(library.path, image.original, error);
        });
    if (original_loaded || std::ranges::any_of(libraries.missing, is_name))
      result.push_back(&image);
  }
  return result;
}

/// Says what an exported program needs to load the libraries that were exported with it; empty:
/// nothing.
std::string needed_by(const fs::path& file, const std::vector<Export>& exports) {
  const ProgramImage program = read_program(file);
  const LibrarySearch present = present_search(*program.platform);
  LibrarySearch plain = present, helped = present;
  plain.library_path.clear();
  auto missed = not_loaded(program, plain, exports);
  if (missed.empty()) missed = not_loaded(program, present, exports);
  if (missed.empty()) {
    const Libraries libraries = find_libraries(program, present);
    if (libraries.missing.empty()) return {};
    return fmt::format("{} does not find {} from there (export --root keeps paths)", file.string(),
                       libraries.missing.front().name);
  }
  std::vector<std::string> folders;
  for (const Export& image : exports) {
    const std::string folder = fs::absolute(image.file.parent_path()).lexically_normal();
    if (image.file != file && std::ranges::find(folders, folder) == folders.end())
      folders.push_back(folder);
  }
  const std::string path = fmt::format("{}", fmt::join(folders, ":"));
  helped.library_path = path + (present.library_path.empty() ? "" : ":" + present.library_path);
  const std::string what =
      fmt::format("{} does not load {}", file.string(),
                  missed.size() == 1 ? missed[0]->file.string()
                                     : fmt::format("{} of the exported libraries, {} for one",
                                                   missed.size(), missed[0]->file.string()));
  if (not_loaded(program, helped, exports).empty())
    return fmt::format("{} by itself: start it with LD_LIBRARY_PATH={}{}", what, shell_word(path),
                       present.library_path.empty() ? "" : ":\"$LD_LIBRARY_PATH\"");
  return fmt::format(
      "{} from there, whatever LD_LIBRARY_PATH says: it looks for {} (export --root keeps paths)",
      what, missed[0]->original.string());
}

}  // namespace

std::vector<ImageOutcome> Environment::export_images(const std::string& name,
                                                     const std::vector<std::string>& images,
                                                     const ExportPlace& place) {
  collect();
  std::vector<Export> exports;
  std::vector<ImageOutcome> outcomes;
  std::vector<std::string> optimized_contents;
  const ApplicationRow application = find(name);
  require_one_machine(application);
  if (const auto distrusted = why_distrusted())
    throw Error(fmt::format("nothing of it is exported: {}", *distrusted), name);
  if (const auto fault = active_fault(application))
    throw Error(fmt::format("it is not exported, since it died of {}: respike report-fault {} says "
                            "more, respike mode {} optimized --again insists",
                            signal_name(fault->signal), name, name),
                name);
  follow_links(application);
  const bool replaces_copies = place.names == ExportPlace::Names::replaced;
  for (ApplicationImage& used : chosen_images(application, images)) {
    ImageRow& image = used.image;
    ImageOutcome outcome;
    outcome.path = image.path;
    outcome.role = used.role;
    outcome.state = State::not_optimizable;
    std::error_code error;
    if (used.role == Role::opened && images.empty() && !fs::exists(image.path, error)) {
      outcome.state = State::left_out;  // perhaps a plugin of one run
      outcome.reason = "the file does not exist any more";
    } else if (const auto build = replaces_copies ? build_of_staged(image) : refresh(image)) {
      outcome.state = State::left_out;
      image.reason = "it has not been optimized";
      exports.push_back(export_of(used));
      exports.back().is_main_program = used.role == Role::main && image.program;
      exports.back().outcome = outcomes.size();
      exports.back().original_content = build->content;
      exports.back().original_size = build->file.size;
      if (const auto optimized = database_.newest_derived(build->id, DerivedKind::optimized)) {
        exports.back().bytes = exported_bytes(*optimized, place);
        optimized_contents.push_back(optimized->content.hex());
      } else if (has_derived(image.id, DerivedKind::optimized)) {
        throw Error(fmt::format("it has changed since it was optimized: optimize {} again", name),
                    image.path);
      }
    }
    if (outcome.reason.empty()) outcome.reason = image.reason;
    outcomes.push_back(std::move(outcome));
  }
  if (std::ranges::all_of(exports, [](const Export& e) { return e.bytes.empty(); }))
    throw Error(fmt::format("no image of {} has been optimized: respike optimize {} makes them",
                            name, name));
  std::optional<StagedTree> tree;
  switch (place.names) {
    case ExportPlace::Names::file_names:
      place_in_folder(place.folder, exports);
      break;
    case ExportPlace::Names::paths:
      place_below_root(place.folder, exports);
      break;
    case ExportPlace::Names::replaced: {
      for (const Export& image : exports)
        if (!image.bytes.empty())
          outcomes[image.outcome].reason = fmt::format(
              "{} has no copy of this build of it: respike register --root registers what is there",
              place.folder.string());
      tree.emplace(place.folder, database_.files());
      exports = place_of_copies(*tree, exports);
      if (exports.empty())
        throw Error(fmt::format("it has no copy of an optimized image of {}: respike register "
                                "--root registers what is there",
                                name),
                    place.folder);
      break;
    }
  }
  std::erase_if(exports, [](const Export& image) { return image.bytes.empty(); });
  if (!tree) {
    for (const Export& image : exports) {
      require_no_original(image.file, application);
      if (!place.replaces && is_foreign(image.file))
        throw Error("a file is there already that Respike did not make", image.file);
      for (const auto& [link, target] : image.new_links) require_no_original(link, application);
    }
    for (const Export& image : exports) {
      make_export_folder(image.file.parent_path());
      for (const auto& [link, target] : image.new_links) make_export_folder(link.parent_path());
    }
  }
  for (const Export& image : exports) {
    ImageOutcome& outcome = outcomes[image.outcome];
    bool is_there = same_contents(image.file, image.bytes);
    if (!is_there && tree)
      tree->replace(image.file, image.bytes);
    else if (!is_there)
      write_file(image.file, image.bytes, image.original);
    for (const auto& [link, target] : image.new_links) {
      is_there = !make_link(link, target) && is_there;
      outcome.links.push_back(link);
    }
    const bool other_made = outcome.state == State::made;  // another copy
    outcome.state = is_there && !other_made ? State::up_to_date : State::made;
    outcome.reason.clear();
    outcome.file += (outcome.file.empty() ? "" : ", ") + image.file.string();
  }
  for (const Export& image : exports)
    if (image.is_main_program && place.names == ExportPlace::Names::file_names)
      if (const std::string need = needed_by(image.file, exports); !need.empty())
        notes_.push_back(need);
  note_export(application, {.images = images_text(std::move(optimized_contents)),
                            .folder = fs::absolute(place.folder)});
  return outcomes;
}

/// A user who may only read the database can export as well.
void Environment::note_export(const ApplicationRow& application, const LastExport& done) try {
  database_.put_last(application.id, done);
} catch (const Error& error) {
  if (access_ == Access::write)
    warnings_.warn(fmt::format("that it was exported is not noted: {}", error.what()));
}

/// The bytes of an image for export.
std::vector<uint8_t> Environment::exported_bytes(const DerivedRow& optimized,
                                                 const ExportPlace& place) const {
  std::vector<uint8_t> bytes = database_.store().read(optimized.content);
  if (place.relocations) return bytes;
  const Image image = view_image(bytes, database_.store().path(optimized.content));
  std::vector<uint8_t> smaller = without_relocations(image);
  if (const auto broken = find_broken_rule(image, view_image(smaller, image.path)))
    throw Error("without relocations it would not work: " + *broken, image.path);
  return smaller;
}

/// The build of an image of a staged tree. If an earlier export put an optimized version into the
/// tree, this is the build that the version was made from; otherwise the present build.
std::optional<BuildRow> Environment::build_of_staged(ImageRow& image) {
  std::optional<std::vector<uint8_t>> contents;
  for (const BuildRow& build : database_.builds(image.id)) {
    const auto optimized = database_.newest_derived(build.id, DerivedKind::optimized);
    if (!optimized) continue;
    if (!contents) contents = read_file(image.path);
    if (content_hash(*contents) == optimized->content ||
        *contents == exported_bytes(*optimized, {.folder = {}, .relocations = false}))
      return build;
  }
  return refresh(image);
}

/// Throws Error when `file`, which is to be written, is an image of the application.
void Environment::require_no_original(const fs::path& file,
                                      const ApplicationRow& application) const {
  for (const ApplicationImage& used : database_.images_of(application.id)) {
    std::error_code error;
    if (fs::equivalent(file, used.image.path, error))
      throw Error(fmt::format("it would be exported over, but is an image of {}", application.name),
                  used.image.path);
  }
}

}  // namespace respike
