#pragma once
// A linked executable or shared library, independent of container and machine.
//
// A reader turns the container's numbers into kinds and properties, and the core uses nothing else.
// The numbers themselves are kept in fields called `raw`: only the folder of the container reads
// them, and its writer passes them on.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/diagnostics.h"
#include "optimizer/base/error.h"
#include "optimizer/base/machine_id.h"
#include "optimizer/image/relocation_role.h"

namespace respike {

struct Container;  // container.h

struct Section {
  enum class Kind : uint8_t {
    contents,  // code or data of the program, which the file holds
    zero,      // memory without contents in the file
    note,
    table,  // of the container's: symbols, names, relocations ...
  };
  enum Property : uint8_t { kAllocated = 1, kExecutable = 2, kWritable = 4, kThreadLocal = 8 };

  std::string name;
  Kind kind = Kind::contents;
  uint8_t properties = 0;  // of Property
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;  // bytes in memory
  uint64_t alignment = 1;
  std::span<const uint8_t> contents;  // empty when the file holds none
  struct {
    uint64_t flags = 0;
    uint64_t entry_size = 0;
    uint32_t type = 0;
    uint32_t link = 0;
    uint32_t info = 0;
  } raw;

  bool allocated() const { return (properties & kAllocated) != 0; }
  bool executable() const { return (properties & kExecutable) != 0; }
  bool writable() const { return (properties & kWritable) != 0; }
  bool thread_local_storage() const { return (properties & kThreadLocal) != 0; }
  /// Each thread gets its own memory for the section; the image has no memory for it.
  bool is_template_only() const { return thread_local_storage() && kind == Kind::zero; }
  bool holds_program_data() const { return kind == Kind::contents; }
  bool contains(uint64_t a) const { return a >= address && a - address < size; }
};

struct Segment {
  enum class Kind : uint8_t {
    other,
    loaded,
    interpreter,   // the name of the dynamic linker
    loader_table,  // entries for the dynamic linker
    unwind_table,  // a table of unwind regions (unwind/ia64/region_encoding.h)
  };
  enum Right : uint8_t { kExecutable = 1, kWritable = 2, kReadable = 4 };

  Kind kind = Kind::other;
  uint8_t rights = 0;  // of Right
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  uint64_t alignment = 1;
  struct {
    uint32_t type = 0;
    uint32_t flags = 0;
  } raw = {};

  bool loaded() const { return kind == Kind::loaded; }
  bool executable() const { return (rights & kExecutable) != 0; }
  bool writable() const { return (rights & kWritable) != 0; }
  bool unwind_table() const { return kind == Kind::unwind_table; }
};

struct Symbol {
  enum class Type : uint8_t { none, object, procedure, section, file, common, tls, other };
  std::string_view name;
  uint64_t value = 0;
  uint64_t size = 0;
  uint32_t section = 0;  // index of Image::sections; kUndefined, or kReserved and above
  Type type = Type::none;
  uint8_t raw = 0;         // container's number of type and binding; 0 in a new symbol
  uint8_t visibility = 0;  // container's number
  bool local : 1 = false;  // only its own object can name it
  /// Bytes from `value` to a second entry, after the code that computes gp; 0: no second entry.
  uint8_t local_entry : 7 = 0;

  /// From kReserved on: the symbol is in no section, for example an absolute number; these are the
  /// container's own numbers.
  static constexpr uint32_t kUndefined = 0, kReserved = 0xffff0000;
  bool defined_in_section() const { return section != kUndefined && section < kReserved; }
};

/// A relocation kept by the linker (--emit-relocs) or for the dynamic linker. `symbol` indexes
/// Image::symbols or Image::dynamic_symbols. Do not trust addends of kept relocations against
/// section symbols: the linker leaves the input section's offset in them.
struct Relocation {
  uint64_t address = 0;
  int64_t addend = 0;
  uint32_t symbol = 0;
  uint16_t raw = 0;  // container's number, which the writer passes on
  RelocationRole role = RelocationRole::ignored;
};

/// The kept relocations of one section, sorted by address (stable).
struct RelocationTable {
  uint32_t section = 0;  // index of the relocation section itself
  uint32_t target = 0;   // index of the section it applies to
  std::vector<Relocation> relocations;
};

/// Relocations that the dynamic linker applies, in file order. A packed table has only addresses:
/// the dynamic linker adds the load address to the words there. The reader takes the words for
/// addends; the writer writes only the words, which are data.
struct DynamicRelocationTable {
  uint32_t section = 0;
  bool packed = false;
  std::vector<Relocation> relocations;
};

/// A number that the image passes to the dynamic linker.
struct LoaderEntry {
  enum class Kind : uint8_t {
    other,
    initializer,     // the address of code that runs first
    finalizer,       // the address of code that runs last
    global_pointer,  // of all procedures
    symbol_lookup,   // the address of the table that finds symbols by name
    names_size,      // bytes of the names of dynamic symbols
  };
  Kind kind = Kind::other;
  int64_t raw = 0;
  uint64_t value = 0;

  bool enters_code() const { return kind == Kind::initializer || kind == Kind::finalizer; }
  bool operator==(const LoaderEntry&) const = default;
};

/// The standard by which procedures of an image call each other: some machines have several.
enum class CallingStandard : uint8_t { unix_systems, windows };

class Image {
 public:
  enum class Kind : uint8_t { executable, pie, shared_library };

  std::string path;
  const Container* container = nullptr;  // of the file
  std::string format;                    // for people: "ELF64"
  MachineId machine{};
  CallingStandard calling_standard = CallingStandard::unix_systems;
  Kind kind = Kind::executable;
  /// Symbols name every procedure. If not, calls and addresses of code show where procedures start.
  bool names_procedures = true;
  uint64_t base = 0;               // the base of RelocationRole::image_relative32
  uint64_t section_alignment = 1;  // loaders want the address of every added section to be a
                                   // multiple of this
  bool dynamic = false;            // has a dynamic section
  uint64_t entry = 0;
  std::span<const uint8_t> file;  // all bytes
  uint64_t loaded_end = 0;        // offset in the file after headers, segments, loaded sections
  /// The bytes after everything that the format describes, for example the archive of a
  /// self-extracting program. Such a program looks for its archive after its own image or at the
  /// end of its file.
  std::span<const uint8_t> appended;
  std::vector<Section> sections;  // [0] is the null section
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;               // [0] is the null symbol; empty when stripped
  std::vector<Symbol> dynamic_symbols;       // [0] is the null symbol
  std::vector<RelocationTable> relocations;  // of allocated sections only
  std::vector<DynamicRelocationTable> dynamic_relocations;
  std::vector<LoaderEntry> loader_entries;  // in file order
  std::string build_id;                     // lower-case hex; empty when there is none

  /// The section that holds `address` in memory, or nullptr. Binary search.
  const Section* section_at(uint64_t address) const;
  /// `size` bytes of the loaded image at `address`; nullopt unless the file holds all of them.
  std::optional<std::span<const uint8_t>> bytes_at(uint64_t address, uint64_t size) const;
  /// Offset in the file of an address; nullopt when the file does not hold the address.
  std::optional<uint64_t> offset_of(uint64_t address) const;
  const Section* section_named(std::string_view name) const;

  /// Call once after `sections` is filled; section_at needs it.
  void index_sections();
  /// Keeps `storage` alive as long as the image.
  void own(std::shared_ptr<const void> storage) { storage_ = std::move(storage); }

 private:
  std::shared_ptr<const void> storage_;
  std::vector<uint32_t> by_address_;  // allocated sections, TLS templates without contents left out
};

/// Reads and checks an image. Throws Error with one clear sentence when Respike cannot read the
/// file. Every offset and count of the file is checked.
Image read_image(const std::filesystem::path& path);
/// The same from memory; `name` stands for the path in errors.
Image read_image(std::vector<uint8_t> bytes, const std::string& name);
/// The same without taking the bytes over: the bytes must outlive the image.
Image view_image(std::span<const uint8_t> bytes, const std::string& name);

/// Throws Error when the image cannot be rewritten: it is instrumented, or has no kept relocations
/// or no symbols; then the error says how to link it.
void require_rewritable(const Image& image);

/// What a rewriter produced. Everything not mentioned comes from the input.
struct NewImage {
  /// The input's file, at least up to Image::loaded_end, with all changes to contents that stay in
  /// place, indexed by file offset.
  std::vector<uint8_t> contents;

  struct AddedSection {
    std::string name;
    Section::Kind kind = Section::Kind::contents;
    uint8_t properties = 0;  // of Section::Property; if allocated, in the added segment
    uint64_t address = 0;
    uint64_t alignment = 1;
    std::vector<uint8_t> contents;
    uint64_t memory_size = 0;  // without contents: zeroed memory, see AddedMemory
  };
  /// Allocated sections: in address order, inside the added segment, code before tables (see
  /// AddedSegment), except that a section with a memory size is at AddedSegment::memory_address.
  /// Other sections: in the file only.
  std::vector<AddedSection> added;

  struct MovedSection {
    uint32_t section = 0;
    uint64_t address = 0;
    std::vector<uint8_t> contents;  // may have another size than before
  };
  /// Sections that move into the added segment (.eh_frame and similar sections, tables of dynamic
  /// symbols), in address order.
  std::vector<MovedSection> moved;

  uint64_t entry = 0;
  std::vector<Symbol> symbols;  // input order, new local symbols before the first global symbol
  std::vector<Symbol> dynamic_symbols;  // input order, then new ones; see dynamic_tables.h
  /// Complete; `symbol` indexes `symbols` above. A table with section == 0 gets a new section named
  /// after its target (an added section's index is sections.size() + its position in `added`).
  std::vector<RelocationTable> relocations;
  std::vector<DynamicRelocationTable> dynamic_relocations;
  /// New values. An initializer that the input lacks takes a spare entry.
  std::vector<std::pair<LoaderEntry::Kind, uint64_t>> loader_changes;
  struct ReplacedSection {
    uint32_t section = 0;
    std::vector<uint8_t> contents;  // as stored in the file, see packed_contents()
  };
  std::vector<ReplacedSection> replaced;   // not allocated: debug sections
  std::vector<uint32_t> dropped_sections;  // not allocated: debug sections that would be stale
  std::vector<std::string> name_storage;   // for names of new symbols
};

/// Where a rewriter may put new contents, and where added memory is.
struct AddedSegment {
  uint64_t address = 0;            // of the segment: the container's own moved pieces come first
  uint64_t free_address = 0;       // first address for new contents
  uint64_t tables_alignment = 16;  // of the room for tables behind the code: a page where they get
                                   // a segment of their own
  uint64_t before_tables = 0;      // bytes of the container's own at the start of that room
  uint64_t memory_address = 0;     // of zeroed memory, where that was asked for
  bool hides_notes = false;        // the program header of notes has to make room for the segment's
  std::vector<std::string> losses;  // what every output of the image lacks, a sentence each

  /// Where tables may start, after new code that ends at `code_end`.
  uint64_t tables_address(uint64_t code_end) const {
    return align_up(code_end, tables_alignment) + before_tables;
  }
};

/// Zeroed memory by which the last writable segment is extended; none when `size` is 0. Where
/// another segment follows, as in an output of Respike, the memory gets a segment of its own after
/// everything else, even after the added segment, whose size is not known when the memory is
/// planned.
struct AddedMemory {
  uint64_t size = 0;  // bytes
  uint64_t alignment = 1;
  uint64_t lowest = 0;  // address of a segment of its own, at least: leaves room for new contents
};

/// Plans the added segment of `image`: close to it, so that gp-relative references reach. Throws
/// Error when no room for a program header or for the memory can be made.
AddedSegment plan_added_segment(const Image& image, const AddedMemory& memory = {});

/// Throws Error, saying how to link the image, when it has neither an initializer nor room for an
/// initializer among the loader's entries.
void require_room_for_initializer(const Image& image);

/// The container's number for a new relocation with this role; 0 when it has none.
uint16_t relocation_number(const Image& image, RelocationRole role);

/// The contents of a section that is not loaded, decompressed into `storage` where the file holds
/// them compressed. Throws Error when they are damaged, or would need more than 4 GiB.
std::span<const uint8_t> unpacked_contents(const Image& image, const Section& section,
                                           std::vector<uint8_t>& storage);
/// The opposite: `contents` as the section holds them, compressed by the same method when its
/// contents in the input are.
std::vector<uint8_t> packed_contents(const Image& image, const Section& section,
                                     std::vector<uint8_t> contents);

/// The bytes of the output file. Writes no segment when nothing allocated was added or moved.
std::vector<uint8_t> write_image(const Image& input, const NewImage& output);

struct OutputFile {
  std::filesystem::path path;
  std::span<const uint8_t> bytes;
  std::filesystem::path like;  // the input, whose mode bits the file gets; empty: a new file's
};

/// Writes the files beside their paths and renames all of them when all are complete. Throws Error
/// and leaves nothing behind on failure. An output is never written over its `like`.
void write_files(std::span<const OutputFile> outputs);
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes,
                const std::filesystem::path& like);

/// The name of the section with SFrame's stack traces.
inline constexpr std::string_view kStackTraces = ".sframe";

/// The name of the section with the addresses that code loads relative to gp.
inline constexpr std::string_view kLinkageTable = ".got";

}  // namespace respike
