#pragma once
// The interface of RegisterFlow's solution; private to this folder.

#include "optimizer/analysis/register_flow.h"

namespace respike {

/// The solution that RegisterFlow wraps, with an implementation per size of register sets.
class RegisterFlow::Solution {
 public:
  virtual ~Solution() = default;
  virtual void update(ProcedureId procedure) = 0;
  virtual RegisterSet live_before(ProcedureId procedure, BlockId block, uint32_t index) const = 0;
  virtual RegisterSet live_in(ProcedureId procedure, BlockId block) const = 0;
  virtual std::vector<RegisterSet> live_points(ProcedureId procedure, BlockId block) const = 0;
  virtual RegisterSummary summary(ProcedureId procedure, BlockId entry) const = 0;
  virtual RegisterSet live_at_exit(ProcedureId procedure) const = 0;
  virtual RegisterSet unknown_uses() const = 0;
};

}  // namespace respike
