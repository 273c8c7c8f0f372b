#pragma once
// The models of processors by name.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/machine_model.h"
#include "optimizer/base/machine_id.h"

namespace respike::measure {

struct ModelInfo {
  std::string_view name;
  MachineId machine;  // machine of the model's programs
  std::unique_ptr<MachineModel> (*make)();
};

/// All models. The first model of a machine is the default for that machine.
const std::vector<ModelInfo>& models();
/// The model with this name; null if there is none.
const ModelInfo* find_model(std::string_view name);

}  // namespace respike::measure
