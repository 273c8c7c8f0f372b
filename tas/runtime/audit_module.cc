// The build (audit_module.cmake) makes the audit modules, and gives them to this file as bytes.

#include "tas/runtime/audit_module.h"

namespace respike {
namespace {

#if RESPIKE_AUDIT_MODULE_ALPHA
constexpr uint8_t kAlphaModule[] = {
#include "alpha_audit_module.inc"
};
#endif
#if RESPIKE_AUDIT_MODULE_X86_64
constexpr uint8_t kX8664Module[] = {
#include "x86_64_audit_module.inc"
};
#endif

}  // namespace

std::span<const uint8_t> audit_module(MachineId machine) {
  switch (machine) {
#if RESPIKE_AUDIT_MODULE_ALPHA
    case MachineId::alpha:
      return kAlphaModule;
#endif
#if RESPIKE_AUDIT_MODULE_X86_64
    case MachineId::x86_64:
      return kX8664Module;
#endif
    default:
      return {};
  }
}

}  // namespace respike
