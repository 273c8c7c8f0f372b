#pragma once
// The models by name.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/machine_id.h"
#include "simulator/machine_model.h"

namespace respike::simulator {

struct ModelInfo {
  std::string_view name;
  MachineId machine;  // of its programs; optimizer/target/platform.h
  std::unique_ptr<MachineModel> (*make)();
};

/// Of several for one machine the first one is the default.
const std::vector<ModelInfo>& models();
/// Null when no model has the name.
const ModelInfo* find_model(std::string_view name);

}  // namespace respike::simulator
