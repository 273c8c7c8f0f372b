// Shared by the files of the loader: images in memory, and the function for failures.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kDirectories = 16 };
/// Numbers of data directories.
enum { kExports = 0, kImports = 1, kExceptions = 3, kBaseRelocations = 5, kThreadData = 9 };

struct image {
  uint8_t* memory;
  uint32_t size;
  uint32_t entry;  // the last three are relative to `memory`
  uint32_t directory[kDirectories];
  uint32_t directory_size[kDirectories];
  bool is_library;
  bool is_wide;  // PE32+: addresses in its data have 64 bits
};

/// Ends the process with a sentence.
void fail(const char* format, ...) __attribute__((noreturn, format(printf, 1, 2)));

uint16_t load16(const uint8_t* p);
uint32_t load32(const uint8_t* p);
uint64_t load64(const uint8_t* p);
void store32(uint8_t* p, uint32_t value);
void store64(uint8_t* p, uint64_t value);

/// The address of `size` bytes of the image; they must be in the image.
uint8_t* at(const struct image* image, uint32_t place, uint32_t size);
/// A text in the image.
const char* text_in(const struct image* image, uint32_t place);

/// Memory below 2 GB that is not the preferred place of any image.
void* map_low(uint64_t size);

/// Reads the file of an image and puts the image into memory, relocated. `base`: 0: its own base,
/// or elsewhere if that is taken.
struct image load_image(const char* path, uint64_t base);

/// A function of this loader or of the C library; NULL: there is no such function.
void* function_named(const char* name);
/// Code below 2 GB that jumps to a function with the function's address in register 27.
uint32_t make_thunk(void* function);
