// Floating-point arithmetic on registers: multiply-add, comparison, selection, conversion.
//
// The general way is integers: the product of two significands is one host multiplication, the sum
// is formed in 192 bits (floating_core.h), and the result is rounded once, which also gives all
// flags. The 64-bit significands and 17-bit exponents of division sequences need this way. Where
// the host's own instruction is enough for single and double precision, it is used
// (floating_host.h).
//
// Most operands are plain: nonzero numbers with integer bit, nothing special. A few operations on
// exponents recognize plain operands, which need no further checks. All other operands go through
// the checks in the manual's order (SDM 1, section 5.4.1.2 and figure 5-11): NaTVal, unsupported
// encodings, signalling NaNs, quiet NaNs, invalid combinations of infinities and zeros, unnormal
// operands, and then the result. Of several NaNs the result is f4, else f2, else f3.
//
// Example: 1.0 * 3.0 + f0 is plain throughout: one multiplication, one rounding, no flags.
//
// Rounding (SDM 1, sections 5.4.2 and 5.4.3). Tininess is detected after rounding. Disabled
// overflow gives infinity or the largest number; disabled underflow gives the denormalized result
// rounded once, or zero with ftz. If the exception is enabled, both deliver the rounded result with
// its exponent modulo 2^17. Unnormal operands and denormal results, for which the hardware asks the
// operating system (software assistance), are computed here like other values.

#include "emulators/ia64/floating_arithmetic.h"

#include "emulators/ia64/floating_core.h"
#include "emulators/ia64/floating_host.h"

namespace respike::emulator::ia64 {

namespace {

// --- results out of range -------------------------------------------------------------------

Outcome overflowed(const Exact& x, const Control& control, const Rounded& r, int32_t exponent) {
  const uint32_t wrapped = static_cast<uint32_t>(exponent + kBias) & kExponentMask;
  if (control.enabled & kOverflow) {
    const uint64_t significand = r.significand ? r.significand : kIntegerBit;
    return {FloatingRegister::of(x.sign, wrapped, significand),
            kOverflow | (r.inexact ? kInexact : 0u), r.away};
  }
  const bool infinite = control.rounding == Rounding::nearest ||
                        control.rounding == (x.sign ? Rounding::down : Rounding::up);
  if (infinite) return {signed_infinity(x.sign), kOverflow | kInexact, true};
  const Format& format = *control.format;
  const uint64_t largest = ~uint64_t{0} << format.dropped;
  return {FloatingRegister::of(x.sign, static_cast<uint32_t>(format.emax + kBias), largest),
          kOverflow | kInexact, false};
}

/// The denormalized result: x moved right until its exponent is emin, then rounded.
Outcome denormalized(const Exact& x, const Control& control) {
  const Format& format = *control.format;
  const int64_t distance = static_cast<int64_t>(format.emin) - x.exponent;
  Uint128 bits = static_cast<Uint128>(x.high) << 64 | x.low;
  if (distance >= 128) {
    bits = 1;
  } else {
    const bool lost = (bits & ((Uint128{1} << distance) - 1)) != 0;
    bits = bits >> distance | lost;
  }
  const Rounded r = round_at(static_cast<uint64_t>(bits >> 64), static_cast<uint64_t>(bits),
                             format.dropped, control.rounding, x.sign);
  const uint32_t field = r.significand == 0            ? 0
                         : r.significand & kIntegerBit ? static_cast<uint32_t>(format.emin + kBias)
                                                       : format.denormal_field;
  return {FloatingRegister::of(x.sign, field, r.significand),
          r.inexact ? kUnderflow | kInexact : 0u, r.away};
}

}  // namespace

Outcome round_out_of_range(const Exact& x, const Control& control, const Rounded& r,
                           int32_t exponent) {
  if (exponent > control.format->emax) return overflowed(x, control, r, exponent);
  if (control.enabled & kUnderflow) {
    const uint32_t wrapped = static_cast<uint32_t>(exponent + kBias) & kExponentMask;
    const uint64_t significand = r.significand ? r.significand : kIntegerBit;
    return {FloatingRegister::of(x.sign, wrapped, significand),
            kUnderflow | (r.inexact ? kInexact : 0u), r.away};
  }
  if (control.flush_to_zero) return {signed_zero(x.sign), kUnderflow | kInexact, false};
  return denormalized(x, control);
}

// --- multiply-add ---------------------------------------------------------------------------

bool screened(const Operand* const* by_priority, int count, Outcome& outcome) {
  bool unsupported = false, signaling = false, unnormal = false;
  const Operand* nan = nullptr;
  for (int i = 0; i < count; ++i) {
    const Operand& o = *by_priority[i];
    if (o.kind == Kind::nat) {
      outcome = {kNatVal, 0, false};
      return true;
    }
    unsupported |= o.kind == Kind::unsupported;
    signaling |= o.kind == Kind::signaling_nan;
    unnormal |= o.unnormal;
    if (is_nan(o) && nan == nullptr) nan = &o;
  }
  if (unsupported) {
    outcome = kInvalidResult;
    return true;
  }
  if (nan != nullptr) {
    outcome = {quieted(*nan), signaling ? kInvalid : 0u, false};
    return true;
  }
  outcome.flags = unnormal ? kDenormal : 0;
  return false;
}

namespace {

/// True zero times infinity is invalid; a pseudo-zero is small, not zero (SDM 1, section 5.1.3).
bool invalid_product(const Operand& a, const Operand& b) {
  return (a.kind == Kind::infinity && b.kind == Kind::zero && !b.unnormal) ||
         (b.kind == Kind::infinity && a.kind == Kind::zero && !a.unnormal);
}

Outcome with_flags(Outcome outcome, uint32_t flags) {
  outcome.flags |= flags;
  return outcome;
}

int32_t unbiased(const FloatingRegister& f) {
  return static_cast<int32_t>(f.exponent()) - kBias;
}

[[gnu::noinline]] Outcome multiply_special(const FloatingRegister& f3, const FloatingRegister& f4,
                                           bool negate, const Control& control) {
  const Operand a = take_apart(f3), b = take_apart(f4);
  const Operand* const by_priority[] = {&b, &a};
  Outcome outcome;
  if (screened(by_priority, 2, outcome)) return outcome;
  if (invalid_product(a, b)) return kInvalidResult;
  const bool sign = a.sign ^ b.sign ^ negate;
  if (a.kind == Kind::infinity || b.kind == Kind::infinity)
    return with_flags({signed_infinity(sign)}, outcome.flags);
  if (a.kind == Kind::zero || b.kind == Kind::zero)
    return with_flags({signed_zero(sign)}, outcome.flags);
  return with_flags(
      round(exact_product(sign, a.exponent + b.exponent, a.significand, b.significand), control),
      outcome.flags);
}

[[gnu::noinline]] Outcome multiply_add_special(const FloatingRegister& f3,
                                               const FloatingRegister& f4,
                                               const FloatingRegister& f2, bool negate_product,
                                               bool negate_addend, const Control& control) {
  // The addend 0 is frequent: sums begin with 0.
  if (is_zero(f2) && (is_plain(f3) & is_plain(f4)))
    return round(exact_product(f3.sign() ^ f4.sign() ^ negate_product, unbiased(f3) + unbiased(f4),
                               f3.significand, f4.significand),
                 control);
  const Operand a = take_apart(f3), b = take_apart(f4), c = take_apart(f2);
  const Operand* const by_priority[] = {&b, &c, &a};
  Outcome outcome;
  if (screened(by_priority, 3, outcome)) return outcome;
  if (invalid_product(a, b)) return kInvalidResult;
  const uint32_t flags = outcome.flags;
  const bool product_sign = a.sign ^ b.sign ^ negate_product;
  const bool addend_sign = c.sign ^ negate_addend;
  if (a.kind == Kind::infinity || b.kind == Kind::infinity) {
    if (c.kind == Kind::infinity && addend_sign != product_sign) return kInvalidResult;
    return with_flags({signed_infinity(product_sign)}, flags);
  }
  if (c.kind == Kind::infinity) return with_flags({signed_infinity(addend_sign)}, flags);
  const bool down = control.rounding == Rounding::down;
  if (a.kind == Kind::zero || b.kind == Kind::zero) {
    if (c.kind == Kind::zero)
      return with_flags({signed_zero(addend_sign == product_sign ? addend_sign : down)}, flags);
    return with_flags(round({addend_sign, c.exponent, c.significand, 0}, control), flags);
  }
  const int32_t exponent = a.exponent + b.exponent;
  Exact x;
  if (c.kind == Kind::zero)
    x = exact_product(product_sign, exponent, a.significand, b.significand);
  else if (!exact_sum(product_sign, exponent, a.significand, b.significand, addend_sign, c.exponent,
                      c.significand, x))
    return with_flags({signed_zero(down)}, flags);
  return with_flags(round(x, control), flags);
}

/// Multiply-add of plain operands, for registers (inline) and lanes.
[[gnu::always_inline]] inline Outcome multiply_inline(const FloatingRegister& f3,
                                                      const FloatingRegister& f4, bool negate,
                                                      const Control& control) {
  if (!(is_plain(f3) & is_plain(f4))) [[unlikely]]
    return multiply_special(f3, f4, negate, control);
  return round(exact_product(f3.sign() ^ f4.sign() ^ negate, unbiased(f3) + unbiased(f4),
                             f3.significand, f4.significand),
               control);
}

[[gnu::always_inline]] inline Outcome multiply_add_inline(const FloatingRegister& f3,
                                                          const FloatingRegister& f4,
                                                          const FloatingRegister& f2,
                                                          bool negate_product, bool negate_addend,
                                                          const Control& control) {
  if (!(is_plain(f3) & is_plain(f4) & is_plain(f2))) [[unlikely]]
    return multiply_add_special(f3, f4, f2, negate_product, negate_addend, control);
  Exact x;
  if (!exact_sum(f3.sign() ^ f4.sign() ^ negate_product, unbiased(f3) + unbiased(f4),
                 f3.significand, f4.significand, f2.sign() ^ negate_addend, unbiased(f2),
                 f2.significand, x)) [[unlikely]]
    return {signed_zero(control.rounding == Rounding::down)};
  return round(x, control);
}

}  // namespace

Outcome multiply(const FloatingRegister& f3, const FloatingRegister& f4, bool negate,
                 const Control& control) {
  return multiply_inline(f3, f4, negate, control);
}

Outcome multiply_add(const FloatingRegister& f3, const FloatingRegister& f4,
                     const FloatingRegister& f2, bool negate_product, bool negate_addend,
                     const Control& control) {
  return multiply_add_inline(f3, f4, f2, negate_product, negate_addend, control);
}

namespace {

template <bool negate_product, bool negate_addend>
FloatingInterruption multiply_add_scalar(FloatingRegister& result, Precision precision, unsigned sf,
                                         const FloatingRegister& f3, const FloatingRegister& f4,
                                         const FloatingRegister& f2, uint64_t& fpsr) {
  if (precision != Precision::dynamic && host_suffices(fpsr, sf)) {
    const bool done =
        precision == Precision::double_precision
            ? multiply_add_on_host<double>(result, f3, f4, f2, negate_product, negate_addend)
            : multiply_add_on_host<float>(result, f3, f4, f2, negate_product, negate_addend);
    if (done) return 0;
  }
  const Control control(precision, fpsr, sf);
  return finish(result, multiply_add_inline(f3, f4, f2, negate_product, negate_addend, control), sf,
                fpsr, control.enabled);
}

}  // namespace

FloatingInterruption fma(FloatingRegister& result, Precision precision, unsigned sf,
                         const FloatingRegister& f3, const FloatingRegister& f4,
                         const FloatingRegister& f2, uint64_t& fpsr) {
  return multiply_add_scalar<false, false>(result, precision, sf, f3, f4, f2, fpsr);
}

FloatingInterruption fms(FloatingRegister& result, Precision precision, unsigned sf,
                         const FloatingRegister& f3, const FloatingRegister& f4,
                         const FloatingRegister& f2, uint64_t& fpsr) {
  return multiply_add_scalar<false, true>(result, precision, sf, f3, f4, f2, fpsr);
}

FloatingInterruption fnma(FloatingRegister& result, Precision precision, unsigned sf,
                          const FloatingRegister& f3, const FloatingRegister& f4,
                          const FloatingRegister& f2, uint64_t& fpsr) {
  return multiply_add_scalar<true, false>(result, precision, sf, f3, f4, f2, fpsr);
}

FloatingInterruption fmpy(FloatingRegister& result, Precision precision, unsigned sf,
                          const FloatingRegister& f3, const FloatingRegister& f4, uint64_t& fpsr) {
  const Control control(precision, fpsr, sf);
  return finish(result, multiply_inline(f3, f4, false, control), sf, fpsr, control.enabled);
}

FloatingInterruption fnmpy(FloatingRegister& result, Precision precision, unsigned sf,
                           const FloatingRegister& f3, const FloatingRegister& f4, uint64_t& fpsr) {
  const Control control(precision, fpsr, sf);
  return finish(result, multiply_inline(f3, f4, true, control), sf, fpsr, control.enabled);
}

FloatingInterruption fnorm(FloatingRegister& result, Precision precision, unsigned sf,
                           const FloatingRegister& f3, uint64_t& fpsr) {
  const Control control(precision, fpsr, sf);
  if (!is_plain(f3)) [[unlikely]]
    return finish(result, multiply_special(f3, kOne, false, control), sf, fpsr, control.enabled);
  const Format& format = *control.format;
  const uint64_t dropped = (uint64_t{1} << format.dropped) - 1;
  const bool fits =
      (f3.significand & dropped) == 0 && unbiased(f3) >= format.emin && unbiased(f3) <= format.emax;
  if (fits) [[likely]] {
    result = f3;
    return 0;
  }
  return finish(result, round({f3.sign(), unbiased(f3), f3.significand, 0}, control), sf, fpsr,
                control.enabled);
}

// --- comparison -----------------------------------------------------------------------------

namespace {

enum class Order : uint8_t { less, equal, greater, unordered };

bool smaller_magnitude(const Operand& a, const Operand& b) {
  if (a.kind != b.kind) return a.kind < b.kind;  // zero, finite, infinity
  if (a.kind != Kind::finite) return false;
  if (a.exponent != b.exponent) return a.exponent < b.exponent;
  return a.significand < b.significand;
}

Order order_of(const Operand& a, const Operand& b) {
  if (a.kind > Kind::infinity || b.kind > Kind::infinity) return Order::unordered;
  if (a.kind == Kind::zero && b.kind == Kind::zero) return Order::equal;
  if (a.sign != b.sign) return a.sign ? Order::less : Order::greater;
  if (smaller_magnitude(a, b)) return a.sign ? Order::greater : Order::less;
  if (smaller_magnitude(b, a)) return a.sign ? Order::less : Order::greater;
  return Order::equal;
}

/// Without branches: no processor can predict the outcome of comparisons of data.
Order order_of_plain(const FloatingRegister& a, const FloatingRegister& b) {
  const auto key = [](const FloatingRegister& f) {
    return static_cast<Uint128>(f.sign_exponent & kExponentMask) << 64 | f.significand;
  };
  const bool smaller = key(a) < key(b), same = key(a) == key(b);
  const bool differ = a.sign() ^ b.sign();
  const bool less = (differ & a.sign()) | (!differ & !same & (smaller ^ a.sign()));
  const bool equal = !differ & same;
  return static_cast<Order>(2 - 2 * less - equal);
}

bool satisfies(Order order, FloatingRelation relation) {
  // Each relation has a bit for each of less, equal, greater, unordered.
  constexpr uint8_t kHolds[] = {0b0010, 0b0001, 0b0011, 0b1000, 0b1101, 0b1110, 0b1100, 0b0111};
  return kHolds[static_cast<int>(relation)] >> static_cast<int>(order) & 1;
}

/// lt, le and their negations signal with any NaN, the other relations only with signalling NaNs.
bool signals(FloatingRelation relation) {
  return relation == FloatingRelation::lt || relation == FloatingRelation::le ||
         relation == FloatingRelation::nlt || relation == FloatingRelation::nle;
}

}  // namespace

Comparison compare(FloatingRelation relation, const FloatingRegister& f2,
                   const FloatingRegister& f3) {
  if (is_plain(f2) & is_plain(f3)) [[likely]]
    return {satisfies(order_of_plain(f2, f3), relation), 0};
  const Operand a = take_apart(f2), b = take_apart(f3);
  if (a.kind == Kind::nat || b.kind == Kind::nat) return {false, 0};
  const Order order = order_of(a, b);
  uint32_t flags = 0;
  if (order == Order::unordered) {
    const bool invalid = a.kind == Kind::unsupported || b.kind == Kind::unsupported ||
                         a.kind == Kind::signaling_nan || b.kind == Kind::signaling_nan ||
                         signals(relation);
    flags = invalid ? kInvalid : 0;
  } else {
    flags = a.unnormal || b.unnormal ? kDenormal : 0;
  }
  return {satisfies(order, relation), flags};
}

FloatingInterruption fcmp(bool& holds, FloatingRelation relation, unsigned sf,
                          const FloatingRegister& f2, const FloatingRegister& f3, uint64_t& fpsr) {
  const Comparison c = compare(relation, f2, f3);
  if (c.flags) [[unlikely]] {
    const uint32_t enabled = enabled_exceptions(fpsr, sf);
    if (c.flags & enabled) return fault_code(c.flags, enabled);
    raise_flags(fpsr, sf, c.flags);
  }
  holds = c.holds;
  return 0;
}

// --- minimum and maximum --------------------------------------------------------------------

namespace {

FloatingRegister absolute(const FloatingRegister& f) {
  return is_nat(f) ? f : FloatingRegister{f.significand, f.sign_exponent & ~uint64_t{kSignBit}};
}

FloatingInterruption extremum(FloatingRegister& result, Extremum which, unsigned sf,
                              const FloatingRegister& f2, const FloatingRegister& f3,
                              uint64_t& fpsr) {
  return finish(result, select(which, f2, f3), sf, fpsr, enabled_exceptions(fpsr, sf));
}

}  // namespace

/// f2 if f2 is less resp. greater; else f3, also if f2 and f3 are equal or unordered (SDM 3, fmin).
Outcome select(Extremum which, const FloatingRegister& f2, const FloatingRegister& f3) {
  if (is_nat(f2) || is_nat(f3)) return {kNatVal};
  Comparison c{};
  switch (which) {
    case Extremum::min:
      c = compare(FloatingRelation::lt, f2, f3);
      break;
    case Extremum::max:
      c = compare(FloatingRelation::lt, f3, f2);
      break;
    case Extremum::amin:
      c = compare(FloatingRelation::lt, absolute(f2), absolute(f3));
      break;
    case Extremum::amax:
      c = compare(FloatingRelation::lt, absolute(f3), absolute(f2));
      break;
  }
  return {c.holds ? f2 : f3, c.flags};
}

FloatingInterruption fmin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                          const FloatingRegister& f3, uint64_t& fpsr) {
  return extremum(result, Extremum::min, sf, f2, f3, fpsr);
}

FloatingInterruption fmax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                          const FloatingRegister& f3, uint64_t& fpsr) {
  return extremum(result, Extremum::max, sf, f2, f3, fpsr);
}

FloatingInterruption famin(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr) {
  return extremum(result, Extremum::amin, sf, f2, f3, fpsr);
}

FloatingInterruption famax(FloatingRegister& result, unsigned sf, const FloatingRegister& f2,
                           const FloatingRegister& f3, uint64_t& fpsr) {
  return extremum(result, Extremum::amax, sf, f2, f3, fpsr);
}

// --- conversion to integers -----------------------------------------------------------------

Converted to_integer(const FloatingRegister& f, bool is_unsigned, Rounding rounding,
                     unsigned bits) {
  const Converted invalid = {uint64_t{1} << (bits - 1), kInvalid, false};
  const Operand a = take_apart(f);
  const uint32_t flags = a.unnormal ? kDenormal : 0;
  if (a.kind == Kind::zero) return {0, flags, false};
  if (a.kind != Kind::finite || a.exponent > 63) return invalid;
  uint64_t kept = 0, rest = 1;  // below one half
  if (a.exponent >= 0) {
    kept = a.significand >> (63 - a.exponent);
    rest = a.significand << a.exponent << 1;
  } else if (a.exponent == -1) {
    rest = a.significand;
  }
  const bool up = rounds_up(rounding, a.sign, kept, rest);
  const uint64_t magnitude = kept + up;
  const uint64_t limit = is_unsigned ? (a.sign ? 0 : ~uint64_t{0} >> (64 - bits))
                                     : (uint64_t{1} << (bits - 1)) - !a.sign;
  if (magnitude > limit) return invalid;
  return {a.sign ? 0 - magnitude : magnitude, flags | (rest ? kInexact : 0u), up};
}

FloatingInterruption fcvt_fx(FloatingRegister& result, bool is_unsigned, bool truncate, unsigned sf,
                             const FloatingRegister& f2, uint64_t& fpsr) {
  if (is_nat(f2)) {
    result = kNatVal;
    return 0;
  }
  const Rounding rounding = truncate ? Rounding::zero : status_field(fpsr, sf).rounding();
  const Converted c = to_integer(f2, is_unsigned, rounding, 64);
  return finish(result, {from_integer(c.value), c.flags, c.away}, sf, fpsr,
                enabled_exceptions(fpsr, sf));
}

}  // namespace respike::emulator::ia64
