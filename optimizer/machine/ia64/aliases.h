#pragma once
// Pseudo-ops: other ways to write instructions, which GNU objdump prefers.
//
// Source: Intel Itanium Architecture Software Developer's Manual, volume 3, chapter 2 (pseudo-ops
// of each instruction); which pseudo-ops are preferred, and in what order, is GNU objdump's choice.

#include <string_view>

#include "optimizer/machine/ia64/codec.h"

namespace respike::ia64 {

/// Conditions, all of which must hold: "b=0" field b is 0, "b=c" fields b and c are the same, "q=0"
/// no predicate, "d=64-i" field d is 64 minus the immediate, "w=0" the lower two bits of d are 0.
/// Syntax and completers are as in encoding.h.
struct Alias {
  Op base;
  std::string_view name;
  std::string_view conditions;
  std::string_view syntax;
};

/// The first of several aliases of the same instruction is preferred.
inline constexpr Alias kAliases[] = {
    {Op::adds, "mov", "i=0", "Ra=Rc"},
    {Op::addl, "mov", "c=0", "Ra=$i"},
    {Op::mov_to_br, "mov", "d=0", "Ba=Rb"},
    {Op::extr_u, "shr.u", "d=64-i", "Ra=Rc,%i"},
    {Op::extr, "shr", "d=64-i", "Ra=Rc,%i"},
    {Op::dep_z, "shl", "d=64-i", "Ra=Rb,^i"},
    {Op::br_cond, "br%m%c", "q=0 w=0", "@i"},
    {Op::br_cond_ind, "br%m%c", "q=0 w=0", "Bb"},
    {Op::brl_cond, "brl%m%c", "q=0 w=0", "@i"},
    {Op::fmerge_s, "mov", "b=c", "Fa=Fc"},
    {Op::fmerge_s, "fabs", "b=0", "Fa=Fc"},
    {Op::fmerge_ns, "fneg", "b=c", "Fa=Fc"},
    {Op::fmerge_ns, "fnegabs", "b=0", "Fa=Fc"},
    {Op::fpmerge_s, "fpabs", "b=0", "Fa=Fc"},
    {Op::fpmerge_ns, "fpneg", "b=c", "Fa=Fc"},
    {Op::fpmerge_ns, "fpnegabs", "b=0", "Fa=Fc"},
    {Op::fma, "fnorm%S", "b=0 d=1", "Fa=Fc"},
    {Op::fma_s, "fnorm.s%S", "b=0 d=1", "Fa=Fc"},
    {Op::fma_d, "fnorm.d%S", "b=0 d=1", "Fa=Fc"},
    {Op::fma, "fadd%S", "d=1", "Fa=Fc,Fb"},
    {Op::fma_s, "fadd.s%S", "d=1", "Fa=Fc,Fb"},
    {Op::fma_d, "fadd.d%S", "d=1", "Fa=Fc,Fb"},
    {Op::fma, "fmpy%S", "b=0", "Fa=Fc,Fd"},
    {Op::fma_s, "fmpy.s%S", "b=0", "Fa=Fc,Fd"},
    {Op::fma_d, "fmpy.d%S", "b=0", "Fa=Fc,Fd"},
    {Op::fpma, "fpmpy%S", "b=0", "Fa=Fc,Fd"},
    {Op::fms, "fsub%S", "d=1", "Fa=Fc,Fb"},
    {Op::fms_s, "fsub.s%S", "d=1", "Fa=Fc,Fb"},
    {Op::fms_d, "fsub.d%S", "d=1", "Fa=Fc,Fb"},
    {Op::fnma, "fnmpy%S", "b=0", "Fa=Fc,Fd"},
    {Op::fnma_s, "fnmpy.s%S", "b=0", "Fa=Fc,Fd"},
    {Op::fnma_d, "fnmpy.d%S", "b=0", "Fa=Fc,Fd"},
    {Op::fpnma, "fpnmpy%S", "b=0", "Fa=Fc,Fd"},
    {Op::xma_l, "xmpy.l", "b=0", "Fa=Fc,Fd"},
    {Op::xma_h, "xmpy.h", "b=0", "Fa=Fc,Fd"},
    {Op::xma_hu, "xmpy.hu", "b=0", "Fa=Fc,Fd"},
};

}  // namespace respike::ia64
