#!/usr/bin/env python3
"""Random C programs whose output is defined: the same from every compiler that is right.

A program has global arrays, structures, functions with loops, switches, calls and pointers. All arithmetic is unsigned or
masked, shifts and divisors are made valid, indices are reduced, loops and recursion are bounded, floating point stays
in double and in operations that IEEE 754 defines exactly. At the end it prints a checksum of everything.

    random_program.py SEED > program.c
"""

import random
import sys

TYPES = [("uint8_t", 8), ("uint16_t", 16), ("uint32_t", 32), ("uint64_t", 64), ("int8_t", 8), ("int16_t", 16),
         ("int32_t", 32), ("int64_t", 64)]


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.functions = []  # (name, parameter types, has a double)

    def choose(self, *options):
        return self.random.choice(options)

    def number(self):
        r = self.random
        return self.choose(str(r.randrange(16)), str(r.randrange(256)), f"0x{r.getrandbits(16):x}", f"0x{r.getrandbits(32):x}u",
                           f"0x{r.getrandbits(64):x}ull", f"-{r.randrange(1, 300)}ll", "0x8000000000000000ull", "0xffffffffu")

    def variable(self, scope):
        return self.random.choice(scope)

    def expression(self, scope, depth):
        """An expression of type uint64_t."""
        r = self.random
        if depth <= 0 or r.random() < 0.15:
            if scope and r.random() < 0.75:
                return f"(uint64_t){self.variable(scope)}"
            return f"(uint64_t)({self.number()})"
        a = self.expression(scope, depth - 1)
        kind = r.randrange(15)
        if kind < 6:
            return f"({a} {self.choose('+', '-', '*', '&', '|', '^')} {self.expression(scope, depth - 1)})"
        if kind == 6:
            return f"({a} {self.choose('<<', '>>')} ({self.expression(scope, depth - 2)} & 63))"
        if kind == 7:
            return f"({a} {self.choose('/', '%')} ({self.expression(scope, depth - 2)} | 1))"
        if kind == 8:
            type_name, bits = r.choice(TYPES)
            return f"(uint64_t)({type_name})({a})"
        if kind == 9:
            type_name, bits = r.choice(TYPES)
            comparison = self.choose("<", "<=", ">", ">=", "==", "!=")
            return f"(uint64_t)(({type_name})({a}) {comparison} ({type_name})({self.expression(scope, depth - 1)}))"
        if kind == 10:
            return f"(({a} & 1) ? {self.expression(scope, depth - 1)} : {self.expression(scope, depth - 2)})"
        if kind == 11:
            return f"table[({a}) % 64]"
        if kind == 12:
            return f"(uint64_t)records[({a}) % 16].{self.choose('a', 'b', 'c', 'd', 'e')}"
        if kind == 13:
            width, signed = self.choose((32, "int32_t"), (64, "int64_t"))
            shift = r.randrange(width)
            return f"(uint64_t)(({signed})({a}) >> {shift})"
        return f"(uint64_t)(({self.double(scope, depth - 1)}) < ({self.double(scope, depth - 2)}))"

    def double(self, scope, depth):
        """A finite double of moderate size."""
        r = self.random
        if depth <= 0 or r.random() < 0.3:
            return f"(double)(int32_t)({self.expression(scope, 1)})" if r.random() < 0.7 else f"{r.uniform(-100, 100)!r}"
        a, b = self.double(scope, depth - 1), self.double(scope, depth - 1)
        return self.choose(f"({a} + {b})", f"({a} - {b})", f"tame({a} * {b})", f"tame({a} / (1.0 + absolute({b})))",
                           f"(double)(float)({a})", f"(double)(int64_t)tame({a})", f"root({a})")

    def call(self, scope):
        if not self.functions:
            return "0"
        name, count = self.random.choice(self.functions)
        arguments = ", ".join(self.expression(scope, 2) for _ in range(count))
        return f"{name}({arguments})"

    def statement(self, scope, writable, depth, indent):
        r = self.random
        pad = "  " * indent
        kind = r.randrange(14)
        target = r.choice(writable)
        if depth <= 0 or kind < 4:
            operator = self.choose("=", "+=", "^=", "-=", "|=", "*=")
            return [f"{pad}{target} {operator} {self.expression(scope, 3)};"]
        if kind == 4:
            return [f"{pad}table[{self.expression(scope, 2)} % 64] {self.choose('=', '+=', '^=')} {self.expression(scope, 2)};"]
        if kind == 5:
            field = self.choose("a", "b", "c", "d", "e")
            return [f"{pad}records[{self.expression(scope, 1)} % 16].{field} {self.choose('=', '+=')} {self.expression(scope, 2)};"]
        if kind == 6:
            lines = [f"{pad}if ({self.expression(scope, 2)} & {r.choice([1, 3, 7])}) {{"]
            lines += self.block(scope, writable, depth - 1, indent + 1)
            if r.random() < 0.6:
                lines += [f"{pad}}} else {{"] + self.block(scope, writable, depth - 1, indent + 1)
            return lines + [f"{pad}}}"]
        if kind in (7, 8):
            self.counter += 1
            i = f"i{self.counter}"
            bound = r.choice(["3", "7", "17", f"({self.expression(scope, 1)} % 13)"])
            lines = [f"{pad}for (uint64_t {i} = 0; {i} < {bound}; {i}++) {{"]
            lines += self.block(scope + [i], writable, depth - 1, indent + 1)
            if r.random() < 0.2:
                lines += [f"{pad}  if ({self.expression(scope + [i], 2)} % 11 == 3) {self.choose('break', 'continue')};"]
            return lines + [f"{pad}}}"]
        if kind == 9:
            lines = [f"{pad}switch ({self.expression(scope, 2)} % {r.choice([4, 9, 14])}) {{"]
            for value in r.sample(range(14), r.randrange(3, 9)):
                lines += [f"{pad}case {value}:"] + self.block(scope, writable, depth - 2, indent + 1)
                if r.random() < 0.8:
                    lines += [f"{pad}  break;"]
            return lines + [f"{pad}default:", f"{pad}  {target} ^= 77;", f"{pad}}}"]
        if kind == 10:
            return [f"{pad}{target} {self.choose('=', '+=', '^=')} {self.call(scope)};"]
        if kind == 11:
            return [f"{pad}number = tame({self.double(scope, 3)}) + number * 0.25;"]
        if kind == 12:
            return [f"{pad}memcpy(bytes + {self.expression(scope, 1)} % 100, &{target}, sizeof {target});"]
        return [f"{pad}{target} += operations[{self.expression(scope, 1)} % 4]({self.expression(scope, 2)}, {self.expression(scope, 2)});"]

    def block(self, scope, writable, depth, indent):
        lines = []
        for _ in range(self.random.randrange(1, 4)):
            lines += self.statement(scope, writable, depth, indent)
        return lines

    def function(self, index):
        r = self.random
        self.counter = 0
        count = r.randrange(1, 10)
        types = [r.choice(TYPES)[0] for _ in range(count)]
        name = f"function{index}"
        parameters = [f"p{i}" for i in range(count)]
        signature = ", ".join(f"{t} {p}" for t, p in zip(types, parameters))
        locals_ = [f"v{i}" for i in range(r.randrange(1, 8))]
        lines = [f"{self.choose('static ', 'static __attribute__((noinline)) ')}uint64_t {name}({signature}) {{",
                 "  if (fuel == 0) return 3;", "  fuel--;"]
        for local in locals_:
            lines.append(f"  {r.choice(TYPES[:4])[0]} {local} = ({self.expression(parameters, 2)});")
        scope = parameters + locals_
        for _ in range(r.randrange(2, 7)):
            lines += self.statement(scope, locals_ + ["state"], 3, 1)
        lines += [f"  return {self.expression(scope, 2)};", "}", ""]
        self.functions.append((name, count))
        return lines

    def text(self):
        r = self.random
        lines = ["#include <stdint.h>", "#include <stdio.h>", "#include <string.h>", "",
                 "struct Record { uint8_t a; int16_t b; uint32_t c; uint64_t d; int8_t e; };",
                 "static uint64_t table[64], state = 1, fuel = 4000;", "static struct Record records[16];",
                 "static unsigned char bytes[128];", "static double number;",
                 "static double absolute(double x) { return x < 0 ? -x : x; }",
                 "static double tame(double x) { return x > 1e15 || x < -1e15 ? x / 1e18 : x; }",
                 "static double root(double x) { return __builtin_sqrt(absolute(x)); }",
                 "static uint64_t plus(uint64_t a, uint64_t b) { return a + b; }",
                 "static uint64_t swap(uint64_t a, uint64_t b) { return b - a; }",
                 "static uint64_t turn(uint64_t a, uint64_t b) { return a << (b & 63) | a >> (64 - (b & 63) & 63); }",
                 "static uint64_t mix(uint64_t a, uint64_t b) { return (a ^ b) * 0x9e3779b97f4a7c15ull; }",
                 "static uint64_t (*const operations[4])(uint64_t, uint64_t) = {plus, swap, turn, mix};", ""]
        for i in range(r.randrange(3, 9)):
            lines += self.function(i)
        lines += ["int main(void) {", "  for (int i = 0; i < 64; i++) table[i] = (uint64_t)i * 0x123456789abcdefull;",
                  "  for (int round = 0; round < 20; round++) {", "    fuel = 2000;"]
        for name, count in self.functions:
            arguments = ", ".join(f"state + {r.randrange(1000)} * (uint64_t)round" for _ in range(count))
            lines.append(f"    state = state * 31 + {name}({arguments});")
        lines += ["  }", "  uint64_t sum = state;",
                  "  for (int i = 0; i < 64; i++) sum = sum * 31 + table[i];",
                  "  for (int i = 0; i < 16; i++) sum = sum * 31 + records[i].a + (uint64_t)records[i].b * 3 + records[i].c + records[i].d + (uint64_t)records[i].e;",
                  "  for (int i = 0; i < 128; i++) sum = sum * 31 + bytes[i];",
                  '  printf("%016llx %.17g\\n", (unsigned long long)sum, number);', "  return (int)(sum & 63);", "}"]
        return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(Program(int(sys.argv[1])).text())
