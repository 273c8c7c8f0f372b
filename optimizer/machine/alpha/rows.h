#pragma once
// The Alpha instruction set, one row per encoding or regular family of encodings.
//
// Source: Alpha Architecture Handbook, version 4: section 3.3 (formats), chapter 4 (instructions,
// with BWX, CIX, FIX and MVI extensions; 4.7.9 for floating-point function codes), appendix A
// (stylized code forms) and appendix C (opcodes, function codes, PALcode functions). The language
// of the rows is in encoding.h. Names of aliases are those that GNU objdump prefers, so that
// listings are equal.

#include "optimizer/machine/alpha/encoding.h"

namespace respike::alpha {

// Floating-point function codes are trap mode (bits 10:8), rounding mode (7:6), source (5:4) and
// operation (3:0); rows hold source and operation, qualifiers the rest. Trap modes: 1 underflow or
// integer overflow enabled, 4 software completion, 5 both, 7 with inexact. Rounding modes: 0
// chopped, 1 minus infinity, 2 nearest, 3 dynamic.
inline constexpr Qualifier kIeee[] = {
    {"/c", 0x000},    {"/m", 0x040},    {"", 0x080},     {"/d", 0x0c0},
    {"/uc", 0x100},   {"/um", 0x140},   {"/u", 0x180},   {"/ud", 0x1c0},
    {"/suc", 0x500},  {"/sum", 0x540},  {"/su", 0x580},  {"/sud", 0x5c0},
    {"/suic", 0x700}, {"/suim", 0x740}, {"/sui", 0x780}, {"/suid", 0x7c0}};
inline constexpr Qualifier kIeeeToInteger[] = {
    {"/c", 0x000},    {"/m", 0x040},    {"", 0x080},     {"/d", 0x0c0},
    {"/vc", 0x100},   {"/vm", 0x140},   {"/v", 0x180},   {"/vd", 0x1c0},
    {"/svc", 0x500},  {"/svm", 0x540},  {"/sv", 0x580},  {"/svd", 0x5c0},
    {"/svic", 0x700}, {"/svim", 0x740}, {"/svi", 0x780}, {"/svid", 0x7c0}};
inline constexpr Qualifier kIeeeFromInteger[] = {
    {"/c", 0x000},    {"/m", 0x040},    {"", 0x080},     {"/d", 0x0c0},
    {"/suic", 0x700}, {"/suim", 0x740}, {"/sui", 0x780}, {"/suid", 0x7c0}};
inline constexpr Qualifier kIeeeCompare[] = {{"", 0x080}, {"/su", 0x580}};
inline constexpr Qualifier kIeeeWiden[] = {{"", 0x000}, {"/s", 0x400}};
inline constexpr Qualifier kVax[] = {{"/c", 0x000},   {"", 0x080},    {"/uc", 0x100},
                                     {"/u", 0x180},   {"/sc", 0x400}, {"/s", 0x480},
                                     {"/suc", 0x500}, {"/su", 0x580}};
inline constexpr Qualifier kVaxToInteger[] = {{"/c", 0x000},   {"", 0x080},    {"/vc", 0x100},
                                              {"/v", 0x180},   {"/sc", 0x400}, {"/s", 0x480},
                                              {"/svc", 0x500}, {"/sv", 0x580}};
inline constexpr Qualifier kVaxFromInteger[] = {{"/c", 0x000}, {"", 0x080}};
inline constexpr Qualifier kVaxCompare[] = {{"", 0x080}, {"/s", 0x480}};
inline constexpr Qualifier kLongword[] = {{"", 0x000}, {"/v", 0x100}, {"/sv", 0x500}};
inline constexpr Qualifier kOverflow[] = {{"", 0x00}, {"/v", 0x40}};

inline constexpr Row kRows[] = {
    // PALcode. Functions with names of their own are aliases.
    {"call_pal", "00", Format::palcode, "p"},
    {"pal19", "19", Format::palcode, "p"},
    {"pal1b", "1b", Format::palcode, "p"},
    {"pal1d", "1d", Format::palcode, "p"},
    {"pal1e", "1e", Format::palcode, "p"},
    {"pal1f", "1f", Format::palcode, "p"},

    // Addresses, loads and stores.
    {"lda", "08", Format::memory, "=a,d(b)"},
    {"ldah", "09", Format::memory, "=a,d(b)"},
    {"ldbu", "0a", Format::memory, "=a,d(b)"},
    {"ldq_u", "0b", Format::memory, "=a,d(b)"},
    {"ldwu", "0c", Format::memory, "=a,d(b)"},
    {"stw", "0d", Format::memory, "a,d(b)"},
    {"stb", "0e", Format::memory, "a,d(b)"},
    {"stq_u", "0f", Format::memory, "a,d(b)"},
    {"ldf", "20", Format::memory, "=A,d(b)"},
    {"ldg", "21", Format::memory, "=A,d(b)"},
    {"lds", "22", Format::memory, "=A,d(b)"},
    {"ldt", "23", Format::memory, "=A,d(b)"},
    {"stf", "24", Format::memory, "A,d(b)"},
    {"stg", "25", Format::memory, "A,d(b)"},
    {"sts", "26", Format::memory, "A,d(b)"},
    {"stt", "27", Format::memory, "A,d(b)"},
    {"ldl", "28", Format::memory, "=a,d(b)"},
    {"ldq", "29", Format::memory, "=a,d(b)"},
    {"ldl_l", "2a", Format::memory, "=a,d(b) >l"},
    {"ldq_l", "2b", Format::memory, "=a,d(b) >l"},
    {"stl", "2c", Format::memory, "a,d(b)"},
    {"stq", "2d", Format::memory, "a,d(b)"},
    {"stl_c", "2e", Format::memory, "+a,d(b) <l >l"},
    {"stq_c", "2f", Format::memory, "+a,d(b) <l >l"},

    // Branches, in the order of their opcodes: flipping bit 2 of the opcode inverts a condition.
    {"br", "30", Format::branch, "=a,@"},
    {"fbeq", "31", Format::branch, "A,@"},
    {"fblt", "32", Format::branch, "A,@"},
    {"fble", "33", Format::branch, "A,@"},
    {"bsr", "34", Format::branch, "=a,@"},
    {"fbne", "35", Format::branch, "A,@"},
    {"fbge", "36", Format::branch, "A,@"},
    {"fbgt", "37", Format::branch, "A,@"},
    {"blbc", "38", Format::branch, "a,@"},
    {"beq", "39", Format::branch, "a,@"},
    {"blt", "3a", Format::branch, "a,@"},
    {"ble", "3b", Format::branch, "a,@"},
    {"blbs", "3c", Format::branch, "a,@"},
    {"bne", "3d", Format::branch, "a,@"},
    {"bge", "3e", Format::branch, "a,@"},
    {"bgt", "3f", Format::branch, "a,@"},

    {"jmp", "1a.0", Format::jump, "=a,(b),h"},
    {"jsr", "1a.1", Format::jump, "=a,(b),h"},
    {"ret", "1a.2", Format::jump, "=a,(b),u"},
    {"jsr_coroutine", "1a.3", Format::jump, "=a,(b),u"},

    // Integer arithmetic.
    {"addl", "10.00", Format::operate, "a,b|#,=c", kOverflow},
    {"s4addl", "10.02", Format::operate, "a,b|#,=c"},
    {"subl", "10.09", Format::operate, "a,b|#,=c", kOverflow},
    {"s4subl", "10.0b", Format::operate, "a,b|#,=c"},
    {"cmpbge", "10.0f", Format::operate, "a,b|#,=c"},
    {"s8addl", "10.12", Format::operate, "a,b|#,=c"},
    {"s8subl", "10.1b", Format::operate, "a,b|#,=c"},
    {"cmpult", "10.1d", Format::operate, "a,b|#,=c"},
    {"addq", "10.20", Format::operate, "a,b|#,=c", kOverflow},
    {"s4addq", "10.22", Format::operate, "a,b|#,=c"},
    {"subq", "10.29", Format::operate, "a,b|#,=c", kOverflow},
    {"s4subq", "10.2b", Format::operate, "a,b|#,=c"},
    {"cmpeq", "10.2d", Format::operate, "a,b|#,=c"},
    {"s8addq", "10.32", Format::operate, "a,b|#,=c"},
    {"s8subq", "10.3b", Format::operate, "a,b|#,=c"},
    {"cmpule", "10.3d", Format::operate, "a,b|#,=c"},
    {"cmplt", "10.4d", Format::operate, "a,b|#,=c"},
    {"cmple", "10.6d", Format::operate, "a,b|#,=c"},
    {"mull", "13.00", Format::operate, "a,b|#,=c", kOverflow},
    {"mulq", "13.20", Format::operate, "a,b|#,=c", kOverflow},
    {"umulh", "13.30", Format::operate, "a,b|#,=c"},

    // Logic and conditional moves.
    {"and", "11.00", Format::operate, "a,b|#,=c"},
    {"bic", "11.08", Format::operate, "a,b|#,=c"},
    {"cmovlbs", "11.14", Format::operate, "a,b|#,+c"},
    {"cmovlbc", "11.16", Format::operate, "a,b|#,+c"},
    {"bis", "11.20", Format::operate, "a,b|#,=c"},
    {"cmoveq", "11.24", Format::operate, "a,b|#,+c"},
    {"cmovne", "11.26", Format::operate, "a,b|#,+c"},
    {"ornot", "11.28", Format::operate, "a,b|#,=c"},
    {"xor", "11.40", Format::operate, "a,b|#,=c"},
    {"cmovlt", "11.44", Format::operate, "a,b|#,+c"},
    {"cmovge", "11.46", Format::operate, "a,b|#,+c"},
    {"eqv", "11.48", Format::operate, "a,b|#,=c"},
    {"amask", "11.61", Format::operate, "b|#,=c"},
    {"cmovle", "11.64", Format::operate, "a,b|#,+c"},
    {"cmovgt", "11.66", Format::operate, "a,b|#,+c"},
    {"implver", "11.6c", Format::literal, "=c!1"},

    // Shifts and bytes.
    {"mskbl", "12.02", Format::operate, "a,b|#,=c"},
    {"extbl", "12.06", Format::operate, "a,b|#,=c"},
    {"insbl", "12.0b", Format::operate, "a,b|#,=c"},
    {"mskwl", "12.12", Format::operate, "a,b|#,=c"},
    {"extwl", "12.16", Format::operate, "a,b|#,=c"},
    {"inswl", "12.1b", Format::operate, "a,b|#,=c"},
    {"mskll", "12.22", Format::operate, "a,b|#,=c"},
    {"extll", "12.26", Format::operate, "a,b|#,=c"},
    {"insll", "12.2b", Format::operate, "a,b|#,=c"},
    {"zap", "12.30", Format::operate, "a,b|#,=c"},
    {"zapnot", "12.31", Format::operate, "a,b|#,=c"},
    {"mskql", "12.32", Format::operate, "a,b|#,=c"},
    {"srl", "12.34", Format::operate, "a,b|#,=c"},
    {"extql", "12.36", Format::operate, "a,b|#,=c"},
    {"sll", "12.39", Format::operate, "a,b|#,=c"},
    {"insql", "12.3b", Format::operate, "a,b|#,=c"},
    {"sra", "12.3c", Format::operate, "a,b|#,=c"},
    {"mskwh", "12.52", Format::operate, "a,b|#,=c"},
    {"inswh", "12.57", Format::operate, "a,b|#,=c"},
    {"extwh", "12.5a", Format::operate, "a,b|#,=c"},
    {"msklh", "12.62", Format::operate, "a,b|#,=c"},
    {"inslh", "12.67", Format::operate, "a,b|#,=c"},
    {"extlh", "12.6a", Format::operate, "a,b|#,=c"},
    {"mskqh", "12.72", Format::operate, "a,b|#,=c"},
    {"insqh", "12.77", Format::operate, "a,b|#,=c"},
    {"extqh", "12.7a", Format::operate, "a,b|#,=c"},

    // Extensions. objdump has only literal forms of minima and maxima.
    {"sextb", "1c.00", Format::operate, "b,=c"},
    {"sextw", "1c.01", Format::operate, "b,=c"},
    {"ctpop", "1c.30", Format::operate, "b,=c"},
    {"perr", "1c.31", Format::operate, "a,b,=c"},
    {"ctlz", "1c.32", Format::operate, "b,=c"},
    {"cttz", "1c.33", Format::operate, "b,=c"},
    {"unpkbw", "1c.34", Format::operate, "b,=c"},
    {"unpkbl", "1c.35", Format::operate, "b,=c"},
    {"pkwb", "1c.36", Format::operate, "b,=c"},
    {"pklb", "1c.37", Format::operate, "b,=c"},
    {"minsb8", "1c.38", Format::operate, "a,b|#,=c"},
    {"minsw4", "1c.39", Format::operate, "a,b|#,=c"},
    {"minub8", "1c.3a", Format::operate, "a,b|#,=c"},
    {"minuw4", "1c.3b", Format::operate, "a,b|#,=c"},
    {"maxub8", "1c.3c", Format::operate, "a,b|#,=c"},
    {"maxuw4", "1c.3d", Format::operate, "a,b|#,=c"},
    {"maxsb8", "1c.3e", Format::operate, "a,b|#,=c"},
    {"maxsw4", "1c.3f", Format::operate, "a,b|#,=c"},
    {"ftoit", "1c.070", Format::floating, "A,=c"},
    {"ftois", "1c.078", Format::floating, "A,=c"},

    // Square roots, and moves from integer registers.
    {"itofs", "14.004", Format::floating, "a,=C"},
    {"itoff", "14.014", Format::floating, "a,=C"},
    {"itoft", "14.024", Format::floating, "a,=C"},
    {"sqrtf", "14.00a", Format::floating, "B,=C <f", kVax},
    {"sqrts", "14.00b", Format::floating, "B,=C <f", kIeee},
    {"sqrtg", "14.02a", Format::floating, "B,=C <f", kVax},
    {"sqrtt", "14.02b", Format::floating, "B,=C <f", kIeee},

    // VAX floating point.
    {"addf", "15.000", Format::floating, "A,B,=C <f", kVax},
    {"subf", "15.001", Format::floating, "A,B,=C <f", kVax},
    {"mulf", "15.002", Format::floating, "A,B,=C <f", kVax},
    {"divf", "15.003", Format::floating, "A,B,=C <f", kVax},
    {"cvtdg", "15.01e", Format::floating, "B,=C <f", kVax},
    {"addg", "15.020", Format::floating, "A,B,=C <f", kVax},
    {"subg", "15.021", Format::floating, "A,B,=C <f", kVax},
    {"mulg", "15.022", Format::floating, "A,B,=C <f", kVax},
    {"divg", "15.023", Format::floating, "A,B,=C <f", kVax},
    {"cmpgeq", "15.025", Format::floating, "A,B,=C <f", kVaxCompare},
    {"cmpglt", "15.026", Format::floating, "A,B,=C <f", kVaxCompare},
    {"cmpgle", "15.027", Format::floating, "A,B,=C <f", kVaxCompare},
    {"cvtgf", "15.02c", Format::floating, "B,=C <f", kVax},
    {"cvtgd", "15.02d", Format::floating, "B,=C <f", kVax},
    {"cvtgq", "15.02f", Format::floating, "B,=C <f", kVaxToInteger},
    {"cvtqf", "15.03c", Format::floating, "B,=C <f", kVaxFromInteger},
    {"cvtqg", "15.03e", Format::floating, "B,=C <f", kVaxFromInteger},

    // IEEE floating point.
    {"adds", "16.000", Format::floating, "A,B,=C <f", kIeee},
    {"subs", "16.001", Format::floating, "A,B,=C <f", kIeee},
    {"muls", "16.002", Format::floating, "A,B,=C <f", kIeee},
    {"divs", "16.003", Format::floating, "A,B,=C <f", kIeee},
    {"addt", "16.020", Format::floating, "A,B,=C <f", kIeee},
    {"subt", "16.021", Format::floating, "A,B,=C <f", kIeee},
    {"mult", "16.022", Format::floating, "A,B,=C <f", kIeee},
    {"divt", "16.023", Format::floating, "A,B,=C <f", kIeee},
    {"cmptun", "16.024", Format::floating, "A,B,=C <f", kIeeeCompare},
    {"cmpteq", "16.025", Format::floating, "A,B,=C <f", kIeeeCompare},
    {"cmptlt", "16.026", Format::floating, "A,B,=C <f", kIeeeCompare},
    {"cmptle", "16.027", Format::floating, "A,B,=C <f", kIeeeCompare},
    {"cvtts", "16.02c", Format::floating, "B,=C <f", kIeee},
    {"cvttq", "16.02f", Format::floating, "B,=C <f", kIeeeToInteger},
    {"cvtqs", "16.03c", Format::floating, "B,=C <f", kIeeeFromInteger},
    {"cvtqt", "16.03e", Format::floating, "B,=C <f", kIeeeFromInteger},
    {"cvtst", "16.2ac", Format::floating, "B,=C <f", kIeeeWiden},

    // Floating-point operations without a data type.
    {"cvtlq", "17.010", Format::floating, "B,=C"},
    {"cpys", "17.020", Format::floating, "A,B,=C"},
    {"cpysn", "17.021", Format::floating, "A,B,=C"},
    {"cpyse", "17.022", Format::floating, "A,B,=C"},
    {"mt_fpcr", "17.024", Format::floating, "A& >f"},
    {"mf_fpcr", "17.025", Format::floating, "=A& <f"},
    {"fcmoveq", "17.02a", Format::floating, "A,B,+C"},
    {"fcmovne", "17.02b", Format::floating, "A,B,+C"},
    {"fcmovlt", "17.02c", Format::floating, "A,B,+C"},
    {"fcmovge", "17.02d", Format::floating, "A,B,+C"},
    {"fcmovle", "17.02e", Format::floating, "A,B,+C"},
    {"fcmovgt", "17.02f", Format::floating, "A,B,+C"},
    {"cvtql", "17.030", Format::floating, "B,=C", kLongword},

    // Barriers, hints and counters.
    {"trapb", "18.0000", Format::function, "~a~b"},
    {"excb", "18.0400", Format::function, "~a~b"},
    {"mb", "18.4000", Format::function, "~a~b"},
    {"wmb", "18.4400", Format::function, "~a~b"},
    {"fetch", "18.8000", Format::function, "(b)"},
    {"fetch_m", "18.a000", Format::function, "(b)"},
    {"rpcc", "18.c000", Format::function, "=a,b"},
    {"rc", "18.e000", Format::function, "=a~b"},
    {"ecb", "18.e800", Format::function, "(b)"},
    {"rs", "18.f000", Format::function, "=a~b"},
    {"wh64", "18.f800", Format::function, "(b)"},
    {"wh64en", "18.fc00", Format::function, "(b)"},
};

/// The first of several aliases of the same instruction is preferred.
inline constexpr AliasRow kAliasRows[] = {
    {"halt", "call_pal", "i=0", ""},
    {"draina", "call_pal", "i=2", ""},
    {"bpt", "call_pal", "i=128", ""},
    {"bugchk", "call_pal", "i=129", ""},
    {"callsys", "call_pal", "i=131", ""},
    {"imb", "call_pal", "i=134", ""},
    {"rduniq", "call_pal", "i=158", ""},
    {"wruniq", "call_pal", "i=159", ""},
    {"gentrap", "call_pal", "i=170", ""},

    {"lda", "lda", "b=31", "a,d"},
    {"ldah", "ldah", "b=31", "a,d"},
    {"unop", "ldq_u", "a=31,b~30", ""},
    {"br", "br", "a=31", "@"},
    {"jmp", "jmp", "a=31,i=0", "(b)"},
    {"ret", "ret", "a=31,b=26,i=1", ""},
    {"jcr", "jsr_coroutine", "", "a,(b),u"},

    {"sextl", "addl", "a=31", "b,c"},
    {"sextl", "addl", "a=31", "#,c"},
    {"negl", "subl", "a=31", "b,c"},
    {"negl", "subl", "a=31", "#,c"},
    {"negq", "subq", "a=31", "b,c"},
    {"negq", "subq", "a=31", "#,c"},
    {"negl/v", "subl/v", "a=31", "b,c"},
    {"negl/v", "subl/v", "a=31", "#,c"},
    {"negq/v", "subq/v", "a=31", "b,c"},
    {"negq/v", "subq/v", "a=31", "#,c"},
    {"andnot", "bic", "", "a,b,c"},
    {"andnot", "bic", "", "a,#,c"},
    {"nop", "bis", "a=31,b=31,c=31", ""},
    {"clr", "bis", "a=31,b=31", "c"},
    {"mov", "bis", "a=31", "b,c"},
    {"mov", "bis", "a=b", "a,c"},
    {"mov", "bis", "a=31", "#,c"},
    {"or", "bis", "", "a,b,c"},
    {"or", "bis", "", "a,#,c"},
    {"not", "ornot", "a=31", "b,c"},
    {"not", "ornot", "a=31", "#,c"},

    {"negf", "subf", "a=31", "B,C"},
    {"negf/s", "subf/s", "a=31", "B,C"},
    {"negg", "subg", "a=31", "B,C"},
    {"negg/s", "subg/s", "a=31", "B,C"},
    {"negs", "subs", "a=31", "B,C"},
    {"negs/su", "subs/su", "a=31", "B,C"},
    {"negs/sui", "subs/sui", "a=31", "B,C"},
    {"negt", "subt", "a=31", "B,C"},
    {"negt/su", "subt/su", "a=31", "B,C"},
    {"negt/sui", "subt/sui", "a=31", "B,C"},
    {"fnop", "cpys", "a=31,b=31,c=31", ""},
    {"fclr", "cpys", "a=31,b=31", "C"},
    {"fabs", "cpys", "a=31", "B,C"},
    {"fmov", "cpys", "a=b", "A,C"},
    {"fneg", "cpysn", "a=b", "A,C"},
    {"rpcc", "rpcc", "b=31", "a"},
};

}  // namespace respike::alpha
