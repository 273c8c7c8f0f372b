// Pointers in unwind tables are usually pc-relative, so contents alone give their value. Absolute
// words in a position-independent image are completed by the dynamic linker: their value is the
// addend of a dynamic relocation without a symbol (RELATIVE, on every ELF machine), or the value of
// a symbol that the image itself defines.

#include "optimizer/unwind/lsda/pointers.h"

#include <algorithm>

#include "optimizer/unwind/lsda/pointer_encoding.h"

namespace respike {

uint64_t PointerReader::read(ByteReader& reader, uint8_t encoding, uint64_t place) {
  if (!eh_pe::is_supported(encoding, data_base_.has_value()))
    throw Error("unsupported encoding of a pointer in unwind tables");
  const uint64_t number = eh_pe::read_number(reader, encoding);
  if ((encoding & eh_pe::kApplicationMask) == eh_pe::kPcRelative)
    return number == 0 ? 0 : number + place;
  if ((encoding & eh_pe::kApplicationMask) == eh_pe::kDataRelative)
    return number == 0 ? 0 : number + *data_base_;
  return eh_pe::size_of(encoding) == 8 ? relocated_word(place, number) : number;
}

uint64_t PointerReader::relocated_word(uint64_t place, uint64_t contents) {
  if (!indexed_) {
    indexed_ = true;
    for (const DynamicRelocationTable& table : image_.dynamic_relocations)
      for (const Relocation& relocation : table.relocations)
        by_address_.emplace_back(relocation.address, &relocation);
    std::stable_sort(by_address_.begin(), by_address_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  const auto found = std::lower_bound(by_address_.begin(), by_address_.end(), place,
                                      [](const auto& a, uint64_t b) { return a.first < b; });
  if (found == by_address_.end() || found->first != place) return contents;
  const Relocation& relocation = *found->second;
  const uint64_t addend = static_cast<uint64_t>(relocation.addend);
  if (relocation.symbol == 0) return addend;
  if (relocation.symbol >= image_.dynamic_symbols.size() ||
      !image_.dynamic_symbols[relocation.symbol].defined_in_section())
    throw Error("a pointer in unwind tables refers to another image");
  return image_.dynamic_symbols[relocation.symbol].value + addend;
}

}  // namespace respike
