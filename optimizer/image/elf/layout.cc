// Plans the added segment.
//
// New code needs a segment of its own, and a segment needs a program header. The table of program
// headers must stay directly after the ELF header: tools such as strip write broken files
// otherwise. Linkers leave no room after the table, so the contents there move into the added
// segment: the name of the interpreter and notes, which are found through program headers, and hash
// and symbol tables, which are found through the dynamic section. They move as one block by one
// distance, so that notes stay contiguous and aligned, and every reference to them follows. Only
// the name of the interpreter moves to the end: objcopy --only-keep-debug, which keeps only notes,
// warns about notes in a segment that starts with other contents. The dynamic linker measures the
// symbol table by the distance to its names (see loader_rules.cc), so the block always holds both
// or neither. When something else is in the way, or a relocation refers to the block, the program
// header of a note is given up instead (its section stays). That is the last resort, since
// debuggers and crash reports find the build-id through PT_NOTE.
//
// Example: .interp and .note.gnu.build-id follow the program headers. Both move to the start of the
// added segment, PT_INTERP and PT_NOTE follow, and the 56 bytes of a new PT_LOAD take their place.
//
// Where the input keeps all data out of its executable segments (ld -z separate-code), the output
// does as well: the added segment holds only code, and a read-only segment on the pages after it
// holds the block and the tables. That takes two program headers; where there is room for only one,
// code and tables share a segment. In an output that was separated, and has no room for another
// header at all, the segment of tables becomes executable and grows.
//
// The added segment comes after all memory of the image. But where memory leaves a wide hole after
// the code, as on machines whose data has a region of its own, the segment goes into that hole,
// within reach of the code. Program headers stay in ascending order. An image whose highest segment
// is already executable, such as an output of Respike, needs no new header: that segment grows.
// Added memory extends the last writable segment. In an output of Respike other segments follow
// that segment, so added memory needs a header, and room for it is made in the same way.

#include "optimizer/image/elf/layout.h"

#include <algorithm>
#include <limits>

#include "optimizer/base/bytes.h"

namespace respike {

using namespace elf;
namespace ELF = llvm::ELF;

namespace {

constexpr uint64_t kFreeAlignment = 16;
constexpr uint64_t kDefaultSegmentAlignment = 0x10000;
constexpr uint64_t kWideHole = uint64_t{1} << 40;  // no memory of a program is that large

bool occupies_memory(const Section& section) {
  return section.allocated() && section.size != 0 && !section.is_template_only();
}

std::vector<uint32_t> sections_by_address(const Image& image) {
  std::vector<uint32_t> result;
  for (uint32_t i = 1; i < image.sections.size(); ++i)
    if (occupies_memory(image.sections[i])) result.push_back(i);
  std::stable_sort(result.begin(), result.end(), [&](uint32_t a, uint32_t b) {
    return image.sections[a].address < image.sections[b].address;
  });
  return result;
}

/// Whether only program headers and the dynamic section refer to the place of `section`.
bool can_move(const Image& image, const Section& section) {
  switch (section.raw.type) {
    case ELF::SHT_NOTE:
      return true;
    case ELF::SHT_PROGBITS:
      return std::any_of(image.segments.begin(), image.segments.end(), [&](const Segment& s) {
        return s.kind == Segment::Kind::interpreter && s.address == section.address &&
               s.memory_size == section.size;
      });
    default: {
      const auto tag = dynamic_tag(section.raw.type);
      return tag && std::ranges::count_if(image.loader_entries, [&](const LoaderEntry& entry) {
                      return entry.raw == *tag && entry.value == section.address;
                    }) == 1;
    }
  }
}

/// Whether a kept relocation applies to a section of the block or refers to a symbol in it. Linkers
/// assign __ehdr_start and __executable_start, the start of the image, to the first section, which
/// follows it.
bool has_references(const Image& image, const MovedBlock& block) {
  std::vector<bool> asked(image.sections.size());
  for (const uint32_t section : block.sections) asked[section] = true;
  for (const RelocationTable& table : image.relocations) {
    if (asked[table.target] && !table.relocations.empty()) return true;
    for (const Relocation& relocation : table.relocations) {
      const Symbol& symbol = image.symbols[relocation.symbol];
      if (symbol.defined_in_section() && asked[symbol.section] && symbol.value >= block.start)
        return true;
    }
  }
  return false;
}

/// The end of the last segment that starts in [start, end), if it is beyond `end`.
uint64_t extend_over_segments(const Image& image, uint64_t start, uint64_t end) {
  for (const Segment& segment : image.segments)
    if (!segment.loaded() && segment.raw.type != ELF::PT_PHDR && segment.memory_size != 0 &&
        segment.address >= start && segment.address < end)
      end = std::max(end, segment.address + segment.memory_size);
  return end;
}

/// The end of the names of `section`'s symbols, if it is beyond `end`.
uint64_t extend_over_names(const Image& image, const Section& section, uint64_t end) {
  if (section.raw.type != ELF::SHT_DYNSYM || section.raw.link >= image.sections.size()) return end;
  const Section& names = image.sections[section.raw.link];
  return names.allocated() && names.address >= end ? names.address + names.size : end;
}

/// Whether the first loaded segment can grow up to `end`, after the program headers: into the space
/// that linkers leave free up to the next page in the file and in memory. Example: the first
/// segment of musl's static programs has nothing but headers and ends with them.
bool can_grow(const Image& image, const Segment& first, uint64_t end) {
  if (first.memory_size != first.file_size) return false;
  const uint64_t from = first.offset + first.file_size, to = first.offset + (end - first.address);
  for (const Section& section : image.sections)
    if (section.kind != Section::Kind::zero && section.size != 0 && section.offset < to &&
        section.offset + section.size > from)
      return false;
  for (const Segment& other : image.segments) {
    if (&other == &first || !other.loaded()) continue;
    const uint64_t page = std::clamp<uint64_t>(other.alignment, 1, kDefaultSegmentAlignment);
    if (other.address / page * page < align_up(end, page) || other.offset < to) return false;
  }
  return true;
}

/// Whether [free, end), after the program headers, has no contents. Bytes that no section claims
/// are padding only if they are zero.
bool is_padding(const Image& image, uint64_t free, uint64_t end) {
  if (free == end) return true;
  const auto first = std::ranges::find_if(image.segments, &Segment::loaded);
  const uint64_t offset = free - first->address + first->offset;
  if (first->address + first->file_size < end && !can_grow(image, *first, end)) return false;
  if (offset + (end - free) > image.file.size()) return false;
  const auto bytes = image.file.subspan(offset, end - free);
  return std::ranges::all_of(bytes, [](uint8_t byte) { return byte == 0; });
}

/// The block that must move so that [free, needed) can hold a program header; nullopt when some
/// contents of the block cannot move.
std::optional<MovedBlock> find_block(const Image& image, uint64_t free, uint64_t needed) {
  MovedBlock block;
  block.start = block.end = needed;
  for (const uint32_t index : sections_by_address(image)) {
    const Section& section = image.sections[index];
    if (section.address + section.size <= free) continue;
    if (section.address >= block.end) break;
    if (section.address < free || !can_move(image, section)) return std::nullopt;
    block.start = std::min(block.start, section.address);
    block.end = std::max(block.end, section.address + section.size);
    block.end = extend_over_names(image, section, block.end);
    block.end = extend_over_segments(image, block.start, block.end);
    block.sections.push_back(index);
  }
  if (!is_padding(image, free, std::min(block.start, needed))) return std::nullopt;
  // The file may hold contents of another segment after the first segment: the new headers must not
  // overwrite these contents.
  const auto first = std::ranges::find_if(image.segments, &Segment::loaded);
  const uint64_t end = std::max(free, first->address + first->file_size);
  if (block.start < end && end < needed && !is_padding(image, end, needed)) return std::nullopt;
  if (block.sections.empty()) block.start = block.end;
  // A damaged program header may describe more than the segment has.
  if (!block.empty() && block.end > first->address + first->file_size) return std::nullopt;
  if (has_references(image, block)) return std::nullopt;
  return block;
}

/// Notes which part of the block is the name of the interpreter, and which part is first without
/// it.
void find_name(const Image& image, MovedBlock& block) {
  for (const Segment& segment : image.segments)
    if (segment.kind == Segment::Kind::interpreter && block.contains(segment)) {
      block.name = segment.address;
      block.name_size = segment.memory_size;
    }
  block.first = block.start;
  if (block.name_size == 0 || block.name != block.start) return;
  block.first = block.end;
  for (const uint32_t section : block.sections)
    if (image.sections[section].address > block.name)
      block.first = std::min(block.first, image.sections[section].address);
}

/// The largest alignment that contents of the block require.
uint64_t block_alignment(const Image& image, const MovedBlock& block) {
  uint64_t alignment = 1;
  for (const uint32_t section : block.sections)
    alignment = std::max(alignment, image.sections[section].alignment);
  for (const Segment& segment : image.segments)
    if (!segment.loaded() && block.contains(segment))
      alignment = std::max(alignment, segment.alignment);
  return alignment;
}

uint64_t end_of(const Segment& segment) {
  return segment.address + segment.memory_size;
}

size_t last_loaded(const Image& image) {
  size_t last = 0;
  for (size_t i = 0; i < image.segments.size(); ++i)
    if (image.segments[i].loaded()) last = i;
  return last;
}

/// The segment before the added segment: the last segment, or a segment of code before a wide hole.
size_t segment_before(const Image& image) {
  size_t last = last_loaded(image);
  for (size_t i = last; i-- > 0;) {
    const Segment& segment = image.segments[i];
    if (!segment.loaded()) continue;
    const uint64_t end = end_of(segment), next = image.segments[last].address;
    if (segment.executable() && !segment.writable() && next > end && next - end >= kWideHole)
      return i;
    last = i;
  }
  return last_loaded(image);
}

/// The segment before the added segment when it can grow: not writable, and nothing starts at its
/// end in memory or in the file.
std::optional<size_t> growable_segment(const Image& image) {
  const size_t before = segment_before(image);
  const Segment& segment = image.segments[before];
  if (segment.writable() || segment.file_size != segment.memory_size) return std::nullopt;
  for (const Segment& other : image.segments)
    if (other.raw.type != ELF::PT_NULL && other.file_size != 0 &&
        other.offset + other.file_size > segment.offset + segment.file_size)
      return std::nullopt;
  return before;
}

/// Whether an earlier rewriting added the segment, or added code to it.
bool has_added_code(const Image& image, const Segment& segment) {
  return std::ranges::any_of(image.sections, [&](const Section& section) {
    return section.name == ".text.respike" && section.address >= segment.address &&
           section.address < end_of(segment);
  });
}

/// The segment of tables that an earlier rewriting added after its code, when it can grow.
std::optional<size_t> growable_tables(const Image& image) {
  const auto growable = growable_segment(image);
  if (!growable || image.segments[*growable].executable()) return std::nullopt;
  for (size_t i = *growable; i-- > 0;)
    if (const Segment& segment = image.segments[i]; segment.loaded())
      return segment.executable() && !segment.writable() && has_added_code(image, segment)
                 ? growable
                 : std::nullopt;
  return std::nullopt;
}

/// The first address after the loaded part of the file, by the first segment's distance between
/// address and offset.
uint64_t behind_file(const Image& image) {
  uint64_t end = 0;
  for (const Segment& segment : image.segments)
    if (segment.raw.type != ELF::PT_NULL && segment.file_size != 0)
      end = std::max(end, segment.offset + segment.file_size);
  for (const Segment& segment : image.segments)
    if (segment.loaded()) return segment.address - segment.offset + end;
  return end;
}

/// The alignment of other segments, but not of huge pages: that would leave huge holes.
uint64_t segment_alignment(const Image& image) {
  uint64_t alignment = 1;
  for (const Segment& segment : image.segments)
    if (segment.loaded()) alignment = std::max(alignment, segment.alignment);
  return alignment > 1 ? std::min(alignment, kDefaultSegmentAlignment) : kDefaultSegmentAlignment;
}

/// Whether the input keeps all data out of its executable segments.
bool separates_code(const Image& image) {
  for (const Segment& segment : image.segments) {
    if (!segment.loaded() || !segment.executable()) continue;
    for (const Section& section : image.sections)
      if (occupies_memory(section) && !section.executable() && section.address < end_of(segment) &&
          section.address + section.size > segment.address)
        return false;
  }
  return true;
}

/// The first address after the program headers; nullopt where they are not directly after the ELF
/// header, or not loaded with it.
std::optional<uint64_t> behind_headers(const Image& image) {
  const auto* header = reinterpret_cast<const FileHeader*>(image.file.data());
  const auto first = std::find_if(image.segments.begin(), image.segments.end(),
                                  [](const Segment& segment) { return segment.loaded(); });
  if (header->e_phoff != sizeof(FileHeader) || first->offset != 0) return std::nullopt;
  return first->address + header->e_phoff + image.segments.size() * sizeof(ProgramHeader);
}

/// Makes room for `count` more program headers by moving the block; false when that is impossible.
bool move_block(const Image& image, size_t count, SegmentPlan& plan) {
  const auto free = behind_headers(image);
  if (!free) return false;
  auto block = find_block(image, *free, *free + count * sizeof(ProgramHeader));
  if (!block) return false;
  const uint64_t alignment = block_alignment(image, *block);
  if (alignment > plan.alignment) return false;
  find_name(image, *block);
  // When two segments start at one place, llvm-strip takes the first one, here the segment of
  // notes, for the container of the other; so such a block starts after the start of the segment. A
  // block that no program header leads to starts where the segment does: objcopy --only-keep-debug
  // counts a gap before contents that it drops twice.
  const bool has_header = std::ranges::any_of(image.segments, [&](const Segment& segment) {
    return !segment.loaded() && segment.memory_size != 0 && segment.address == block->first;
  });
  block->gap = has_header || block->first == block->end ? 1 : 0;
  block->alignment = alignment;
  plan.block = std::move(*block);
  return true;
}

/// Makes room for one program header by giving up a note's.
void give_up_note(const Image& image, size_t count, SegmentPlan& plan) {
  if (!behind_headers(image))
    throw Error(
        "no segment can be added: the program headers are not directly behind the ELF "
        "header, or not loaded with it: link the image without -N or -n",
        image.path);
  for (size_t i = 0; i < image.segments.size() && count == 1; ++i)
    if (image.segments[i].raw.type == ELF::PT_NOTE) plan.replaced = i;
  plan.where.hides_notes = plan.replaced.has_value();
  if (!plan.replaced)
    throw Error(
        "no segment can be added: there is no room for a program header, and what lies "
        "behind the program headers cannot move",
        image.path);
}

}  // namespace

std::optional<int64_t> elf::dynamic_tag(uint32_t type) {
  switch (type) {
    case ELF::SHT_HASH:
      return ELF::DT_HASH;
    case ELF::SHT_GNU_HASH:
      return ELF::DT_GNU_HASH;
    case ELF::SHT_DYNSYM:
      return ELF::DT_SYMTAB;
    case ELF::SHT_STRTAB:
      return ELF::DT_STRTAB;
    case ELF::SHT_GNU_versym:
      return ELF::DT_VERSYM;
    case ELF::SHT_GNU_verneed:
      return ELF::DT_VERNEED;
    case ELF::SHT_GNU_verdef:
      return ELF::DT_VERDEF;
    default:
      return std::nullopt;
  }
}

void SegmentPlan::place_tables(uint64_t code_end) {
  tables = separate ? align_up(code_end, alignment) : where.address;
  if (!block.empty()) block.distance = align_up(tables + block.gap - block.first, block.alignment);
}

SegmentPlan elf::plan_segment(const Image& image, const AddedMemory& memory) {
  SegmentPlan plan;
  plan.alignment = segment_alignment(image);
  uint64_t end = 0;
  for (const Segment& segment : image.segments)
    if (segment.loaded()) end = end_of(segment);
  if (end > std::numeric_limits<uint64_t>::max() / 2)
    throw Error("no segment can be added: the image ends too high in memory", image.path);
  if (memory.size != 0) {
    const size_t last = last_loaded(image);
    plan.memory_segment = !image.segments[last].writable();
    if (plan.memory_segment) {
      plan.where.memory_address =
          align_up(std::max(end, memory.lowest), std::max(memory.alignment, plan.alignment));
    } else {
      plan.with_memory = last;
      plan.where.memory_address = align_up(end, memory.alignment);
      end = plan.where.memory_address + memory.size;
    }
    plan.memory_end = plan.where.memory_address + memory.size;
  }
  plan.extended = growable_segment(image);
  if (plan.extended && !image.segments[*plan.extended].executable()) plan.extended.reset();
  const auto headers = [&] { return (plan.extended ? 0u : 1u) + (plan.memory_segment ? 1u : 0u); };
  const auto move = [&] { return headers() == 0 || move_block(image, headers(), plan); };
  plan.separate = separates_code(image) && move_block(image, headers() + 1, plan);
  if (!plan.separate && !move()) {
    if (!plan.extended) plan.extended = growable_tables(image);
    if (!move()) give_up_note(image, headers(), plan);
  }
  if (const size_t before = segment_before(image); before != last_loaded(image))
    end = plan.extended ? end_of(image.segments[before]) : behind_file(image);
  plan.where.address = align_up(end, plan.extended ? kFreeAlignment : plan.alignment);
  plan.where.free_address = plan.where.address;
  plan.place_tables(plan.where.address);
  const uint64_t block_end = plan.block.empty() ? plan.tables : plan.block.moved_end();
  if (plan.separate) {
    plan.where.tables_alignment = plan.alignment;
    plan.where.before_tables = align_up(block_end - plan.tables, kFreeAlignment);
  } else {
    plan.where.free_address = align_up(block_end, kFreeAlignment);
  }
  return plan;
}

bool elf::has_spare_dynamic_entry(const Image& image) {
  for (const Section& section : image.sections) {
    if (section.raw.type != ELF::SHT_DYNAMIC) continue;
    const auto* records = reinterpret_cast<const DynamicRecord*>(section.contents.data());
    const size_t behind_terminator = image.loader_entries.size() + 1;
    return behind_terminator < section.contents.size() / sizeof(DynamicRecord) &&
           records[behind_terminator].getTag() == ELF::DT_NULL;
  }
  return false;
}

void elf::require_room_for_initializer(const Image& image) {
  const bool has_initializer = std::ranges::any_of(image.loader_entries, [](const auto& entry) {
    return entry.kind == LoaderEntry::Kind::initializer;
  });
  if (has_initializer || has_spare_dynamic_entry(image)) return;
  throw Error(
      "the library has no initializer (DT_INIT) that counting could start from, and no room for "
      "one in its dynamic section: link it with -Wl,--spare-dynamic-tags=5",
      image.path);
}

void elf::require_rewritable(const Image& image) {
  if (image.symbols.empty())
    throw Error(
        "the image is stripped: keep its symbols (no strip, no -s) and link it with "
        "-Wl,--emit-relocs (-q)",
        image.path);
  if (image.section_named(".gopclntab") != nullptr)
    throw Error(
        "it is a Go program: Go's own tables of code, which relocations do not cover, would "
        "no longer be right",
        image.path);
  for (const Section& section : image.sections) {
    if (section.allocated() && section.executable() && section.kind == Section::Kind::zero &&
        section.size != 0)
      throw Error("this file holds only debugging information: its code has been left out",
                  image.path);
  }
  bool code_has_relocations = false;
  for (const RelocationTable& table : image.relocations)
    code_has_relocations |= image.sections[table.target].executable();
  if (!code_has_relocations)
    throw Error("the image has no relocations: link it with -Wl,--emit-relocs (-q)", image.path);
}

}  // namespace respike
