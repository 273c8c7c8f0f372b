#pragma once
// Compact growing lists for the millions of small sequences in a program.
//
// A std::vector costs 24 bytes and a heap block each. ArenaList is 16 bytes and takes its storage
// from a bump allocator that the program owns, so a block with five instructions costs 16 + 80
// bytes. Storage that a list outgrows is not reclaimed before the arena dies: lists grow rarely.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace respike {

/// A bump allocator. Not thread-safe, but each of its parts may serve a different thread.
class Arena {
 public:
  /// Adds an allocator whose memory lives as long as this allocator's.
  Arena& add_part() { return *parts_.emplace_back(std::make_unique<Arena>()); }

  template <typename T>
  T* allocate(size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);
    const size_t bytes = (count * sizeof(T) + 15) & ~size_t{15};
    if (bytes > left_) grow(bytes);
    T* result = reinterpret_cast<T*>(next_);
    next_ += bytes;
    left_ -= bytes;
    return result;
  }

 private:
  static constexpr size_t kChunk = size_t{1} << 20;

  void grow(size_t bytes) {
    const size_t size = std::max(bytes, kChunk);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    next_ = chunks_.back().get();
    left_ = size;
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<std::unique_ptr<Arena>> parts_;
  std::byte* next_ = nullptr;
  size_t left_ = 0;
};

/// A list of trivially copyable elements whose storage lives in an Arena. Copying a list copies
/// the reference to the same storage: assign() makes an independent one.
template <typename T>
class ArenaList {
 public:
  using value_type = T;

  /// Takes storage that already lives in an arena (or outlives the list) without copying it.
  static ArenaList adopt(T* data, uint32_t size) {
    ArenaList list;
    list.data_ = data;
    list.size_ = list.capacity_ = size;
    return list;
  }

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) {
    assert(i < size_);
    return data_[i];
  }
  const T& operator[](size_t i) const {
    assert(i < size_);
    return data_[i];
  }
  T& back() {
    assert(size_ > 0);
    return data_[size_ - 1];
  }
  const T& back() const {
    assert(size_ > 0);
    return data_[size_ - 1];
  }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  std::span<const T> span() const { return {data_, size_}; }

  void push_back(Arena& arena, const T& value) { insert(arena, size_, value); }

  void insert(Arena& arena, uint32_t position, const T& value) {
    assert(position <= size_);
    const T copy = value;
    if (size_ == capacity_) reallocate(arena, std::max<uint32_t>(1, size_ * 2));
    std::memmove(data_ + position + 1, data_ + position, (size_ - position) * sizeof(T));
    data_[position] = copy;
    ++size_;
  }

  void erase(uint32_t position) {
    assert(position < size_);
    std::memmove(data_ + position, data_ + position + 1, (size_ - position - 1) * sizeof(T));
    --size_;
  }

  void assign(Arena& arena, std::span<const T> values) {
    data_ = values.empty() ? nullptr : arena.allocate<T>(values.size());
    size_ = capacity_ = static_cast<uint32_t>(values.size());
    if (!values.empty()) std::memcpy(data_, values.data(), values.size_bytes());
  }

  /// Makes room for `capacity` elements in all.
  void reserve(Arena& arena, uint32_t capacity) {
    if (capacity > capacity_) reallocate(arena, capacity);
  }

  void truncate(uint32_t size) {
    assert(size <= size_);
    size_ = size;
  }

 private:
  void reallocate(Arena& arena, uint32_t capacity) {
    T* data = arena.allocate<T>(capacity);
    if (size_ != 0) std::memcpy(data, data_, size_ * sizeof(T));
    data_ = data;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
};

}  // namespace respike
