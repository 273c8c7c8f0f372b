#pragma once
// Checks of the IR's invariants (see program.h). They run after every step, unless Respike was
// built without RESPIKE_CHECKS.

#include <optional>
#include <string>

#include "optimizer/ir/program.h"

namespace respike {

/// The first violation in one sentence that names procedure and block; nullopt when all invariants
/// hold.
std::optional<std::string> find_violation(const Program& program);

/// The same for a program with a layout: the layout has every block of every movable procedure
/// exactly once, keeps glued blocks together, and has no block of a pinned or opaque procedure.
std::optional<std::string> find_violation(const Program& program, const Layout& layout);

/// Throws Error when the program or, if not null, its layout violates an invariant: a fault of
/// Respike. Does nothing when Respike was built without RESPIKE_CHECKS.
void require_invariants(const Program& program, const Layout* layout = nullptr);

}  // namespace respike
