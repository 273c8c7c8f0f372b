#pragma once
// Exceptions from instructions other than calls.

#include "optimizer/ir/program.h"

namespace respike {

class CaughtFaults {
 public:
  explicit CaughtFaults(const Program& program);

  /// Whether an instruction of the procedure other than a call, such as a load from a bad address,
  /// may lead to a landing pad.
  bool concern(const Procedure& procedure) const;

 private:
  bool found_ = false;  // in some procedure of the program
};

}  // namespace respike
