// An LSDA (Itanium C++ ABI: Exception Handling, "Exception Tables"; laid out as in GCC's except.cc,
// output_one_function_exception_table; read as in libstdc++'s eh_personality.cc):
//
//   LPStart encoding [LPStart] | type encoding [offset of TTBase] | call-site encoding, length
//   call sites: start, length, landing pad, action         what happens at which address
//   actions:    filter, displacement of the next action    chains; filter 0 is a cleanup
//   types:      ... entry 2, entry 1                       entry n serves filter n > 0
//   TTBase:     lists of type numbers, each ended by 0     filter -n starts at TTBase + n - 1
//
// Only the call sites depend on code addresses, so they become addresses. Nothing says how long the
// action, type and specification tables are, so all chains are walked to see how far they reach.
//
// The file is not trusted: a walk ends at a place that it has visited before, and the total size of
// all areas is limited, since a hostile file can make areas overlap.

#include "optimizer/unwind/lsda/lsda_reader.h"

#include <algorithm>

#include "optimizer/unwind/lsda/pointer_encoding.h"

namespace respike {

LsdaReader::LsdaReader(const Image& image, PointerReader& pointers, std::vector<Lsda>& lsdas)
    : image_(image), pointers_(pointers), lsdas_(lsdas) {
  for (const Section& section : image.sections) budget_ += section.contents.size();
  budget_ *= 4;
}

void LsdaReader::spend(uint64_t bytes) {
  if (bytes > budget_) throw Error("exception tables overlap");
  budget_ -= bytes;
}

bool LsdaReader::first_visit(size_t position) {
  if (position >= visits_.size()) visits_.resize(std::max(position + 1, visits_.size() * 2), 0);
  if (visits_[position] == visit_) return false;
  visits_[position] = visit_;
  return true;
}

void LsdaReader::set_starts(std::vector<uint64_t> starts) {
  starts_ = std::move(starts);
  std::ranges::sort(starts_);
}

void LsdaReader::read(uint64_t address, Fde& fde) {
  auto found = areas_.find(address);
  if (found == areas_.end() || found->second.code_size < fde.end - fde.start)
    found = areas_.insert_or_assign(address, read_area(address, fde)).first;
  const Area& area = found->second;
  const auto records =
      std::span(records_).subspan(area.first_record, area.end_record - area.first_record);
  if (!records.empty() && records.back().end > fde.end - fde.start)
    throw Error("a call site lies outside of its procedure");
  const uint64_t landing_pad_start = area.landing_pad_start.value_or(fde.start);
  fde.lsda = area.lsda;
  fde.call_sites.reserve(records.size());
  for (const Record& record : records) {
    const uint64_t pad = record.landing_pad == 0 ? 0 : landing_pad_start + record.landing_pad;
    fde.call_sites.push_back(
        {fde.start + record.start, fde.start + record.end, pad, record.action});
  }
}

LsdaReader::Area LsdaReader::read_area(uint64_t address, const Fde& fde) {
  const Section* section = image_.section_at(address);
  if (section == nullptr || address - section->address >= section->contents.size())
    throw Error("an exception table lies outside of the image");
  const auto bytes = section->contents.subspan(address - section->address);
  ByteReader reader(bytes, "an exception table");
  Area area;
  const auto pad_encoding = reader.read<uint8_t>();
  if (pad_encoding != eh_pe::kOmit) {
    if ((pad_encoding & eh_pe::kIndirect) != 0) throw Error("an LPStart is indirect");
    area.landing_pad_start = pointers_.read(reader, pad_encoding, address + reader.position());
  }
  Lsda lsda;
  lsda.type_encoding = reader.read<uint8_t>();
  size_t type_base = 0;
  if (lsda.type_encoding != eh_pe::kOmit) {
    eh_pe::size_of(lsda.type_encoding);  // throws for an unknown format, which no writer could
                                         // write
    const uint64_t offset = reader.uleb128();
    if (offset > reader.remaining()) throw Error("a type table lies outside of its section");
    type_base = reader.position() + offset;
  }
  const auto site_encoding = reader.read<uint8_t>();
  const uint64_t site_bytes = reader.uleb128();
  spend(reader.position());
  spend(site_bytes);
  ByteReader sites(reader.take(site_bytes), "a call-site table");
  const auto actions = bytes.subspan(reader.position());
  area.code_size = fde.end - fde.start;
  const uint64_t begin = address + reader.position() - site_bytes;
  const auto next = std::ranges::upper_bound(starts_, address);
  const uint64_t own = next == starts_.end() ? UINT64_MAX : *next - std::min(*next, begin);
  read_call_sites(sites, site_encoding, fde, actions.size(), own, area);

  Needs needs = walk_actions(actions, area);
  if (lsda.type_encoding != eh_pe::kOmit)
    lsda.specifications = read_specifications(bytes.subspan(type_base), needs);
  else if (needs.type_count != 0 || !needs.lists.empty())
    throw Error("an exception table needs types but has none");
  spend(needs.action_bytes);
  lsda.actions.assign(actions.begin(), actions.begin() + needs.action_bytes);
  if (needs.type_count != 0)
    lsda.types = read_types(bytes, address, type_base, lsda.type_encoding, needs.type_count);
  area.lsda = static_cast<uint32_t>(lsdas_.size());
  lsdas_.push_back(std::move(lsda));
  return area;
}

/// `most_actions`: bytes of the action table, at most. `own_bytes`: up to the next area. Clang's
/// tables of the parts of a split procedure share their actions, so all but the last claim call
/// sites that reach over the areas after them. Personality routines stop where the data after the
/// area's own call sites is not for this code (libstdc++, eh_personality.cc).
void LsdaReader::read_call_sites(ByteReader& reader, uint8_t encoding, const Fde& fde,
                                 uint64_t most_actions, uint64_t own_bytes, Area& area) {
  if (!eh_pe::is_supported(encoding) || encoding > eh_pe::kSdata8)
    throw Error("unsupported encoding of call sites");
  area.first_record = records_.size();
  const uint64_t size = fde.end - fde.start;
  const auto leads_to_code = [&](uint64_t landing_pad) {
    const Section* section =
        image_.section_at(area.landing_pad_start.value_or(fde.start) + landing_pad);
    return landing_pad == 0 || (section != nullptr && section->executable());
  };
  uint64_t previous_end = 0;
  while (!reader.at_end()) {
    Record record;
    uint64_t length = 0;
    bool readable = true;
    try {
      record.start = eh_pe::read_number(reader, encoding);
      length = eh_pe::read_number(reader, encoding);
      record.landing_pad = eh_pe::read_number(reader, encoding);
      record.action = reader.uleb128();
    } catch (const Error&) {
      readable = false;
    }
    // Padding to four bytes may precede the next area.
    constexpr uint64_t kPadding = 3;
    const bool beyond = own_bytes != UINT64_MAX && reader.position() + kPadding >= own_bytes;
    const bool fits = readable && record.start >= previous_end && record.start <= size &&
                      length <= size - record.start;
    if (!fits && !beyond) throw Error("a call site is not of this procedure");
    if (!fits || (beyond && (record.action > most_actions || !leads_to_code(record.landing_pad))))
      break;
    record.end = previous_end = record.start + length;
    if (length != 0) records_.push_back(record);
  }
  area.end_record = records_.size();
}

LsdaReader::Needs LsdaReader::walk_actions(std::span<const uint8_t> actions, const Area& area) {
  Needs needs;
  forget_visits();
  ByteReader reader(actions, "an action table");
  for (size_t i = area.first_record; i < area.end_record; ++i) {
    if (records_[i].action == 0) continue;
    uint64_t position = records_[i].action - 1;
    for (;;) {
      reader.seek(position);
      if (reader.at_end()) throw Error("an action lies outside of its section");
      if (!first_visit(position)) break;
      const int64_t filter = reader.sleb128();
      const size_t place = reader.position();
      const int64_t displacement = reader.sleb128();
      spend(reader.position() - position);
      needs.action_bytes = std::max(needs.action_bytes, reader.position());
      if (filter > 0) needs.type_count = std::max(needs.type_count, static_cast<uint64_t>(filter));
      if (filter < 0) needs.lists.push_back(static_cast<uint64_t>(-(filter + 1)));
      if (displacement == 0) break;
      // A negative sum wraps around to beyond the end.
      position = place + static_cast<uint64_t>(displacement);
    }
  }
  return needs;
}

std::vector<uint8_t> LsdaReader::read_specifications(std::span<const uint8_t> bytes, Needs& needs) {
  size_t end = 0;
  forget_visits();
  ByteReader reader(bytes, "an exception specification");
  for (const uint64_t start : needs.lists) {
    reader.seek(start);
    if (reader.at_end()) throw Error("an exception specification lies outside of its section");
    while (first_visit(reader.position())) {
      const size_t position = reader.position();
      const uint64_t type = reader.uleb128();
      spend(reader.position() - position);
      end = std::max(end, reader.position());
      needs.type_count = std::max(needs.type_count, type);
      if (type == 0) break;
    }
  }
  spend(end);
  return {bytes.begin(), bytes.begin() + end};
}

std::vector<uint64_t> LsdaReader::read_types(std::span<const uint8_t> bytes, uint64_t address,
                                             size_t base, uint8_t encoding, uint64_t count) {
  const unsigned size = eh_pe::size_of(encoding);
  if (size == 0 || count > base / size) throw Error("a type table lies outside of its section");
  spend(count * 8);
  std::vector<uint64_t> types(count);
  ByteReader reader(bytes, "a type table");
  for (uint64_t i = 0; i < count; ++i) {
    reader.seek(base - (i + 1) * size);
    types[i] = pointers_.read(reader, encoding, address + reader.position());
  }
  return types;
}

}  // namespace respike
