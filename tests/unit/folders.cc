#include "folders.h"

namespace respike {

std::filesystem::path source_folder() {
  return RESPIKE_SOURCE_DIR;
}

std::filesystem::path build_folder() {
  return RESPIKE_BINARY_DIR;
}

}  // namespace respike
