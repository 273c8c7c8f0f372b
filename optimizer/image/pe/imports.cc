// Import tables. A descriptor for each library has the places of a table of names and of a table of
// slots, which end in a zero each; a loader fills the slots with addresses of the functions.
// Descriptors and names may lie anywhere, so an image gets more imports by a new list of
// descriptors: the old ones, whose tables stay where they are, and a new one.
//
// Example: with CreateFileA of KERNEL32.dll the new tables are
//
//   descriptor of crtdll.dll, as before | descriptor of KERNEL32.dll | zeros
//   slot of CreateFileA, 0 | name of CreateFileA, 0 | the texts
//
// Source: PE/COFF specification of 1998, section 6.4.

#include "optimizer/image/imports.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/image/pe/headers.h"
#include "optimizer/image/pe/pe.h"

namespace respike::pe {
namespace {

constexpr size_t kDescriptor = 20;  // bytes
constexpr size_t kLongestName = 4096;
constexpr uint32_t kMostDescriptors = 4096, kMostFunctions = 1 << 18;

/// Reads through the sections of the input.
class Tables {
 public:
  explicit Tables(const Image& image)
      : image_(image), headers_(read_headers(image.file, image.path)) {}

  const Headers& headers() const { return headers_; }
  size_t slot_size() const { return headers_.wide ? 8 : 4; }

  std::span<const uint8_t> bytes(uint64_t place, uint64_t size) const {
    const auto bytes = image_.bytes_at(headers_.base + place, size);
    if (!bytes) throw Error("the import tables are damaged", image_.path);
    return *bytes;
  }

  std::string_view text(uint64_t place) const {
    const auto offset = image_.offset_of(headers_.base + place);
    if (!offset) throw Error("the import tables are damaged", image_.path);
    auto rest = image_.file.subspan(*offset);
    rest = rest.first(std::min(rest.size(), kLongestName));
    const auto end = std::ranges::find(rest, 0);
    if (end == rest.end()) throw Error("the import tables are damaged", image_.path);
    return {reinterpret_cast<const char*>(rest.data()), static_cast<size_t>(end - rest.begin())};
  }

  /// The descriptors, without the end.
  std::vector<std::span<const uint8_t>> descriptors() const {
    std::vector<std::span<const uint8_t>> result;
    const DataDirectory& directory = headers_.directories[kImports];
    if (!directory.present()) return result;
    for (uint64_t at = directory.place;; at += kDescriptor) {
      const auto fields = bytes(at, kDescriptor);
      if (load<uint32_t>(&fields[12]) == 0 || load<uint32_t>(&fields[16]) == 0) return result;
      if (result.size() == kMostDescriptors)
        throw Error("the import tables have no end", image_.path);
      result.push_back(fields);
    }
  }

 private:
  const Image& image_;
  Headers headers_;
};

}  // namespace

std::vector<std::pair<uint64_t, std::string_view>> import_slots(const Image& image) {
  const Tables tables(image);
  const size_t size = tables.slot_size();
  uint32_t count = 0;  // of all tables, which may share words in a damaged image
  std::vector<std::pair<uint64_t, std::string_view>> result;
  for (const auto fields : tables.descriptors()) {
    const auto slots = load<uint32_t>(&fields[16]);
    const auto names = load<uint32_t>(&fields[0]) != 0 ? load<uint32_t>(&fields[0]) : slots;
    for (uint64_t i = 0;; ++i) {
      const auto word = tables.bytes(names + i * size, size);
      const uint64_t name = size == 8 ? load<uint64_t>(word.data()) : load<uint32_t>(word.data());
      if (name == 0) break;
      if (++count > kMostFunctions) throw Error("the import tables have no end", image.path);
      if ((name >> (8 * size - 1)) != 0) continue;  // by number
      result.emplace_back(tables.headers().base + slots + i * size, tables.text(name + 2));
    }
  }
  std::ranges::sort(result);
  return result;
}

NewImports add_imports(const Image& image, std::string_view library,
                       std::span<const std::string_view> functions, uint64_t address) {
  const Tables tables(image);
  const auto place = static_cast<uint32_t>(address - tables.headers().base);
  const size_t size = tables.slot_size();
  const auto descriptors = tables.descriptors();
  const auto place_of_table = [&](size_t number) {  // 0: slots, 1: names
    const size_t start = align_up((descriptors.size() + 2) * kDescriptor, 8);
    return place + static_cast<uint32_t>(start + number * (functions.size() + 1) * size);
  };
  NewImports result;
  ByteWriter out, texts;
  for (const auto fields : descriptors) {
    std::vector<uint8_t> copy(fields.begin(), fields.end());
    // Bound slots, which hold addresses, become names again; see writer.cc.
    if (load<uint32_t>(&copy[4]) != 0 && load<uint32_t>(&copy[0]) != 0)
      std::fill(copy.begin() + 4, copy.begin() + 12, uint8_t{0});
    out.append(copy);
  }
  const uint32_t first_text = place_of_table(2);
  std::vector<uint32_t> names;
  for (const std::string_view function : functions) {
    texts.align(2);
    names.push_back(first_text + static_cast<uint32_t>(texts.size()));
    texts.write(uint16_t{0});
    texts.c_string(function);
  }
  const auto library_name = first_text + static_cast<uint32_t>(texts.size());
  texts.c_string(library);
  for (const uint32_t field : {place_of_table(1), 0u, 0u, library_name, place_of_table(0)})
    out.write(field);
  for (size_t i = 0; i < kDescriptor; ++i) out.write(uint8_t{0});
  out.align(8);
  for (int table = 0; table < 2; ++table) {
    for (size_t i = 0; i <= functions.size(); ++i) {
      if (table == 0 && i < functions.size()) result.slots.push_back(address + out.size());
      const uint32_t name = i < functions.size() ? names[i] : 0;
      if (size == 8)
        out.write(uint64_t{name});
      else
        out.write(name);
    }
  }
  out.append(texts.bytes());
  result.contents = std::move(out.bytes());
  return result;
}

}  // namespace respike::pe
