#!/usr/bin/env python3
"""Random C++ programs of every kind of code that a rewriter can get wrong.

To the arithmetic, loops, switches and calls of arithmetic.py they add procedures with one peculiarity each: variable
arguments, large and dynamic frames, setjmp, exceptions through frames with destructors, floating point and many other
values across calls, structures as results, jump tables, computed jumps, recursion, calls at the end, through pointers
and from the C library; and, in all of them, rare events: paths that few calls take, exceptions, signals, procedures
that do not return. Many programs have threads. A program terminates, and its output is the same in every run.

    random_program.py SEED > program.cc      compile with -I this folder; the first line has more flags
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import arithmetic  # noqa: E402

KINDS = [
    "computing", "variadic", "large_frame", "dynamic_frame", "jumping", "throwing", "catching", "floating", "structures",
    "machine", "dispatching", "recursive", "ending_in_calls", "pressed", "sorting", "through_pointers", "wide_numbers",
]  # fmt: skip
THROWN = ["Trouble{{{0}}}", "Special{{{{{0}}}, {{{1}, 2, 3}}}}", "Counted({0})", "(uint64_t)({0})"]


class WholeProgram(arithmetic.Program):
    def __init__(self, seed):
        super().__init__(seed)
        self.threads = self.random.random() < 0.3
        self.exceptions = self.random.random() < 0.8
        self.plain = ["mix", "turn"]  # procedures of two uint64_t

    # ---- Pieces of procedures ----

    def few(self, scope, count, depth=2):
        """Arguments of a call."""
        return ", ".join(self.expression(scope, depth) for _ in range(count))

    def thrown(self, scope):
        return self.choose(*THROWN).format(self.expression(scope, 1), self.expression(scope, 1))

    def rare(self, scope):
        return f"rare({self.expression(scope, 2)}, {self.choose(16, 64, 256, 1024)})"

    def statement(self, scope, writable, depth, indent):
        """The statements of arithmetic.py, with rare events and objects between them."""
        pad, kind = "  " * indent, self.random.randrange(24)
        if kind == 0 and depth > 0:
            inner = self.block(scope, writable, depth - 1, indent + 1)
            return [f"{pad}if ({self.rare(scope)}) {{", *inner, f"{pad}  complain({self.expression(scope, 1)});", f"{pad}}}"]
        if kind == 1 and depth > 0:
            inner = self.block(scope, writable, depth - 1, indent + 1)
            return [f"{pad}{{", f"{pad}  Guard guard{{state, {self.expression(scope, 1)}}};", *inner, f"{pad}}}"]
        if kind == 2:
            return [
                f"{pad}{self.random.choice(writable)} += shapes[{self.expression(scope, 1)} & 3]->measure({self.few(scope, 2)});"
            ]
        if kind == 3 and self.exceptions:
            return [
                f"{pad}if ({self.rare(scope)}) {self.choose('fail(' + self.expression(scope, 1) + ')', 'throw ' + self.thrown(scope))};"
            ]
        if kind == 4:
            return [f"{pad}if ({self.rare(scope)}) {self.choose('return', 'interrupt')} ({self.expression(scope, 2)});"]
        return super().statement(scope, writable, depth, indent)

    def body(self, scope, writable, count, indent=1, depth=2):
        return [line for _ in range(count) for line in self.statement(scope, writable, depth, indent)]

    def begin(self, name, count=2):
        """The head of a procedure, which takes its share of the fuel."""
        linkage = self.choose("static ", "NOINLINE static ", "NOINLINE static ", "NOINLINE ", "")
        parameters = ", ".join(f"uint64_t p{i}" for i in range(count))
        return [f"{linkage}uint64_t {name}({parameters}) {{", "  if (fuel == 0) return 3;", "  fuel--;"]

    def end(self, name, scope, count=2):
        self.functions.append((name, count))
        self.plain += [name] * (count == 2)
        return [f"  return {self.expression(scope, 2)};", "}", ""]

    # ---- Procedures ----

    def computing(self, name):
        return super().function(int(name.removeprefix("function")))

    def variadic(self, name):
        r, scope = self.random, ["p0", "p1", "sum"]
        kinds = [r.randrange(3) for _ in range(r.randrange(1, 14))]
        arguments = ", ".join(
            (self.expression(scope[:2], 1), self.double(scope[:2], 1), f"(uint32_t)({self.expression(scope[:2], 1)})")[k]
            for k in kinds
        )
        takes = [
            "sum = mix(sum, va_arg(list, uint64_t));",
            "sum += (uint64_t)(int64_t)tame(va_arg(list, double));",
            "sum ^= va_arg(list, uint32_t);",
        ]
        copy = r.random() < 0.5
        lines = [
            f"NOINLINE static uint64_t {name}_more(const char* kinds, uint64_t p0, ...) {{",
            "  uint64_t sum = p0;",
            "  va_list list;",
            "  va_start(list, p0);",
        ]
        lines += ["  va_list again;", "  va_copy(again, list);"] * copy
        lines += ["  for (; *kinds; kinds++)", "    switch (*kinds) {"]
        for k, take in enumerate(takes):
            lines += [f"      case {k + 48}: {take} break;"]
        lines += ["    }", "  va_end(list);"]
        if copy:
            lines += [
                "  sum += "
                + ("va_arg(again, uint64_t);", "(uint64_t)(int64_t)tame(va_arg(again, double));", "va_arg(again, uint32_t);")[
                    kinds[0]
                ],
                "  va_end(again);",
            ]
        lines += ["  return sum;", "}", *self.begin(name)]
        text = "".join(map(str, kinds))
        lines += [f'  uint64_t sum = {name}_more("{text}", {self.expression(scope[:2], 1)}, {arguments});']
        return lines + self.body(scope, ["sum"], 1) + self.end(name, scope)

    def large_frame(self, name):
        stride = self.choose(3, 40, 170, 260, 700)
        scope = ["p0", "p1", "sum"]
        lines = self.begin(name) + [
            f"  uint64_t big[24 * {stride}], sum = 0;",
            f"  for (uint64_t i = 0; i < 24; i++) big[i * {stride}] = p0 + i * p1;",
        ]
        inner = [*scope, f"big[({self.expression(scope, 1)}) % 24 * {stride}]"]
        lines += self.body(inner, inner[2:], 2)
        lines += [
            f"  sum += touch(big, 24, {stride});",
            *self.body(inner, inner[2:], 1),
            f"  sum ^= touch(big, {self.choose(3, 24)}, {stride});",
        ]
        return lines + self.end(name, scope)

    def dynamic_frame(self, name):
        scope = ["p0", "p1", "sum"]
        lines = self.begin(name) + ["  uint64_t sum = 0;", f"  for (uint64_t i = 0; i < p0 % {self.choose(2, 5)}; i++) {{"]
        lines += [f"    uint64_t length = 1 + ({self.expression(scope + ['i'], 1)}) % {self.choose(9, 90, 900)};"]
        lines += [
            "    uint64_t* words = (uint64_t*)__builtin_alloca(length * 8);",
            "    for (uint64_t j = 0; j < length; j++) words[j] = p1 + j;",
        ]
        inner = [*scope, "i", "length", "words[length / 2]"]
        lines += self.body(inner, ["sum", "words[0]"], 1, 2, 1)
        return lines + ["    sum += touch(words, length, 1);", "  }"] + self.end(name, scope)

    def jumping(self, name):
        scope = ["p0", "p1", "(uint64_t)code"]
        lines = [f"OWN jmp_buf {name}_place;", f"NOINLINE static uint64_t {name}_jump(uint64_t depth, uint64_t x) {{"]
        lines += [f"  if (depth == 0) {self.choose('longjmp', '_longjmp')}({name}_place, (int)(1 + x % 100));"]
        lines += [
            f"  if (rare(x, {self.choose(4, 16)})) return x;",
            f"  return {name}_jump(depth - 1, mix(x, depth)) + depth;",
            "}",
        ]
        lines += self.begin(name) + [
            "  volatile uint64_t sum = 0, times = 0;",
            f"  int code = {self.choose('setjmp', '_setjmp')}({name}_place);",
        ]
        lines += [f"  if (code < {self.choose(20, 60, 101)} && times < {self.choose(1, 3)}) {{", "    times = times + 1;"]
        lines += [f"    sum = sum + {name}_jump((p0 + (uint64_t)code) % 9, p1 ^ times);", "  }"]
        return (
            lines
            + ["  sum = sum * 31 + (uint64_t)code;", "  state ^= sum;"]
            + self.body(scope, ["state"], 1)
            + self.end(name, scope)
        )

    def throwing(self, name):
        scope = ["p0", "p1", "sum"]
        lines = [
            *self.begin(name),
            f"  uint64_t sum = {self.expression(scope[:2], 2)};",
            f"  for (uint64_t i = 0; i < p0 % {self.choose(3, 9, 20)}; i++) {{",
        ]
        lines += ["    Guard guard{state, sum};"] * self.choose(0, 1)
        lines += self.body(scope + ["i"], ["sum"], 1, 2, 1)
        lines += [f"    if ({self.rare(scope + ['i'])}) throw {self.thrown(scope)};", "    sum = sum * 5 + i;", "  }"]
        return lines + self.body(scope, ["sum"], 1) + self.end(name, scope)

    def catching(self, name):
        scope = ["p0", "p1", "sum"]
        lines = [*self.begin(name), "  uint64_t sum = p1;", f"  for (uint64_t i = 0; i < {self.choose(1, 2, 4)}; i++) try {{"]
        lines += ["    Guard guard{caught, sum};"] * self.choose(0, 1)
        lines += [
            f"    sum += {self.call(scope + ['i'])};",
            f"    if ({self.rare(scope + ['i'])}) throw {self.thrown(scope)};",
            f"    sum ^= {self.call(scope)};",
        ]
        inner = [
            f"    try {{ if ({self.rare(scope)}) throw; sum += {self.call(scope)}; }} catch (Trouble trouble) {{ sum += trouble.code; }}"
        ]
        lines += [
            "  } catch (const Special& special) {",
            "    caught += special.code + special.more[0];",
            *inner * self.choose(0, 1),
        ]
        lines += [
            "  } catch (const Trouble& trouble) {",
            "    caught = caught * 3 + trouble.code;",
            *self.body(scope, ["sum"], 1, 2, 1),
        ]
        if self.random.random() < 0.6:
            lines += [
                "  } catch (Counted counted) {",
                f"    sum += counted.code; if ({self.rare(scope)}) throw{self.choose('', ' Trouble{sum}')};",
            ]
        if self.random.random() < 0.7:
            lines += ["  } catch (...) {", "    sum += 11;", f"    if ({self.rare(scope)}) throw;"]
        return lines + ["  }"] + self.end(name, scope)

    def floating(self, name):
        doubles = [f"d{i}" for i in range(self.random.randrange(2, 9))]
        scope = ["p0", "p1", *(f"(uint64_t)(int64_t)tame({d})" for d in doubles)]
        lines = self.begin(name) + [f"  double {d} = {self.double(['p0', 'p1'], 2)};" for d in doubles]
        lines += [f"  for (uint64_t i = 0; i < p1 % {self.choose(3, 9)}; i++) {{"]
        for d in doubles:
            other = self.random.choice(doubles)
            lines.append(
                "    "
                + self.choose(
                    f"{d} = tame({d} * {other} + 1.5);",
                    f"{d} = {d} - {other} * 0.5;",
                    f"if ({d} < {other}) {d} += root({other});",
                    f"{d} += (double)(int32_t)({self.call(scope[:2])});",
                )
            )
        lines += [f"    if (rare(p0 + i, 64)) number = tame(number + {doubles[0]});", "  }"]
        return lines + [f"  number = tame(number * 0.5 + {doubles[-1]} * 0.001);"] + self.end(name, scope)

    def structures(self, name):
        scope = ["p0", "p1", "pair.first", "pair.second"]
        lines = [f"NOINLINE static Wide {name}_wide(Pair pair, uint64_t p0, Wide old) {{", "  const uint64_t p1 = old.words[1];"]
        lines += [
            f"  if ({self.rare(scope)}) return old;",
            f"  Wide wide = {{{{{self.few(scope, 5, 1)}}}, tame(old.real * 0.5 + 1)}};",
            "  return wide;",
            "}",
        ]
        lines += [
            f"NOINLINE static Pair {name}_pair(uint64_t p0, uint64_t p1) {{ Pair pair = {{p1, p0}}; return {{{self.few(scope, 2)}}}; }}"
        ]
        lines += self.begin(name) + [f"  Pair pair = {name}_pair(p0, p1);", "  Wide wide = {{p0, p1, 3, 4, 5}, 0.5};"]
        lines += [
            f"  for (uint64_t i = 0; i < p0 % {self.choose(2, 7)}; i++) wide = {name}_wide(pair, p1 + i, wide), pair = {name}_pair(wide.words[i % 5], p0);"
        ]
        lines += self.body(scope, ["pair.first", "wide.words[2]"], 1)
        return lines + ["  number = tame(number + wide.real);"] + self.end(name, [*scope, "wide.words[4]", "wide.words[2]"])

    def machine(self, name):
        states = self.choose(4, 11, 30)
        scope = ["p0", "p1", "sum", "place"]
        lines = self.begin(name) + [
            f"  uint64_t sum = p0, place = p1 % {states};",
            f"  for (uint64_t i = 0; i < {self.choose(5, 20, 50)}; i++) switch (place) {{",
        ]
        for case in range(states):
            if self.random.random() < 0.1:
                continue
            lines += [f"    case {case}:"] + self.body(scope, ["sum"], 1, 3, self.choose(0, 0, 0, 1))
            lines += [
                f"      place = {self.choose(f'(place + {case % 3 + 1})', f'(sum >> {case % 9})', self.expression(scope, 1))} % {states};"
            ]
            lines += ["      break;"] * (self.random.random() < 0.85)
        return lines + [f"    default: sum++; place = (place + i) % {states};", "  }"] + self.end(name, scope)

    def dispatching(self, name):
        """An interpreter with computed jumps."""
        count = self.choose(3, 6, 12)
        code = [self.random.randrange(1, count) for _ in range(self.random.randrange(4, 30))]
        scope = ["p0", "p1", "sum"]
        labels = ", ".join(f"&&at{k}" for k in range(count))
        lines = ["NOINLINE " + self.begin(name)[0].removeprefix("NOINLINE "), "  if (fuel == 0) return 3;", "  fuel--;"]
        lines += [
            f"  static const unsigned char code[] = {{{', '.join(map(str, code))}, 0}};",
            f"  static const void* const labels[] = {{{labels}}};",
        ]
        lines += ["  uint64_t sum = p0, steps = 0;", "  const unsigned char* next = code;", "  goto *labels[*next++];"]
        for k in range(1, count):
            lines += [f"at{k}:"] + self.body(scope, ["sum"], 1, 1, self.choose(0, 0, 1)) + ["  goto *labels[*next++];"]
        lines += [
            "at0:",
            f"  if (steps++ < p1 % {self.choose(3, 12)}) {{",
            "    next = code;",
            "    goto *labels[*next++];",
            "  }",
        ]
        return lines + self.end(name, scope)

    def recursive(self, name):
        depth = self.choose(4, 9, 20)
        scope = ["p0", "p1", "sum"]
        lines = [f"NOINLINE static uint64_t {name}_deep(uint64_t depth, uint64_t p0, uint64_t p1);"]
        again = [f"{name}_deep(depth - 1, {self.few(scope, 2, 1)})" for _ in range(2)]
        lines += [
            f"NOINLINE static uint64_t {name}_deeper(uint64_t depth, uint64_t p0, uint64_t p1) {{",
            "  if (depth == 0) return p0;",
        ]
        lines += [
            "  uint64_t sum = p1;",
            *self.body(scope, ["sum"], 1, 1, 1),
            f"  sum += {again[0]};",
            f"  if ({self.rare(scope)}) sum ^= {again[1]};",
            "  return sum + p0;",
            "}",
        ]
        lines += [
            f"uint64_t {name}_deep(uint64_t depth, uint64_t p0, uint64_t p1) {{",
            "  if (depth == 0 || fuel == 0) return p1;",
            "  fuel--;",
        ]
        lines += [f"  return {name}_deeper(depth - 1, p1, p0) * 3 + p0;", "}"]
        return lines + self.begin(name) + [f"  uint64_t sum = {name}_deep(p0 % {depth}, p1, p0);"] + self.end(name, scope)

    def ending_in_calls(self, name):
        scope = ["p0", "p1"]
        lines = self.begin(name) + [f"  switch ({self.expression(scope, 1)} % 8) {{"]
        for case in range(6):
            call = f"{name}({self.few(scope, 2, 1)})" if case == 0 else self.call(scope)
            lines += [f"    case {case}: return {call};"]
        return lines + ["    case 6: return operations[p1 & 3](p1, p0);", "  }"] + self.end(name, scope)

    def pressed(self, name):
        """More values across calls than registers that calls preserve; some are needed on rare paths alone."""
        values = [f"v{i}" for i in range(self.random.randrange(5, 15))]
        scope = ["p0", "p1", *values]
        lines = self.begin(name) + [f"  uint64_t {v} = {self.expression(['p0', 'p1'], 1)};" for v in values]
        lines += [f"  for (uint64_t i = 0; i < p0 % {self.choose(3, 12)}; i++) {{"]
        for _ in range(3):
            a, b, c = (self.random.choice(values) for _ in range(3))
            lines += [
                f"    {a} = {self.choose(f'{b} * 3 + {c}', f'{b} ^ {c} >> 3', f'{b} + i', self.call([b, c]), f'shapes[i & 3]->measure({b}, {c})')};"
            ]
        lines += (
            [f"    if ({self.rare(scope + ['i'])}) {{"]
            + self.body(scope, values, 1, 3, 1)
            + [f"      complain({' + '.join(values)});", "    }", "  }"]
        )
        return lines + self.end(name, scope + [" + ".join(values)])

    def sorting(self, name):
        scope = ["p0", "p1", "sum"]
        lines = self.begin(name) + [
            "  uint64_t words[20], sum = p0;",
            "  for (uint64_t& word : words) word = sum, sum = mix(sum, p1);",
        ]
        lines += [
            f"  qsort(words, {self.choose(2, 7, 20)}, 8, compare);",
            f"  sum = names[p0 & 1]->spell(words[{self.choose(0, 1, 19)}]);",
        ]
        return lines + self.body(scope, ["sum"], 1) + self.end(name, scope)

    def through_pointers(self, name):
        scope = ["p0", "p1", "sum"]
        chosen = [self.random.choice(self.plain) for _ in range(self.choose(2, 4, 8))]
        lines = [f"static uint64_t (*{self.choose('', 'const ')}{name}_table[])(uint64_t, uint64_t) = {{{', '.join(chosen)}}};"]
        lines += self.begin(name) + ["  uint64_t sum = 0;", f"  for (uint64_t i = 0; i < {self.choose(1, 3, 5)}; i++)"]
        lines += [
            f"    sum = sum * 3 + {name}_table[({self.expression(scope + ['i'], 1)}) % {len(chosen)}]({self.few(scope, 2, 1)});"
        ]
        return lines + self.body(scope, ["sum"], 1) + self.end(name, scope)

    def wide_numbers(self, name):
        scope = ["p0", "p1", "sum"]
        lines = self.begin(name) + [
            "  unsigned __int128 wide = (unsigned __int128)p0 * p1;",
            "  uint64_t sum = (uint64_t)(wide >> 64);",
        ]
        lines += [
            f"  static const uint64_t first = {self.choose('made_at_start(p0 & 0)', 'made_at_start(7)')};",
            f"  if ({self.rare(scope)}) sum += first;",
        ]
        lines += self.body(scope, ["sum"], 1) + ["  wide = wide / (p1 | 1) + sum;", "  sum ^= (uint64_t)wide;"]
        return lines + self.end(name, scope)

    # ---- The program ----

    def function(self, index):
        self.counter = 0
        kinds = [k for k in KINDS if self.exceptions or k not in ("throwing", "catching")]
        return getattr(self, self.random.choice(kinds))(f"function{index}")

    def flags(self):
        return ["-DTHREADS"] * self.threads + [f"-DLAST_FAILURE={self.choose(2, 9, 1000, 1000000)}"]

    def text(self):
        r = self.random
        lines = [f"// {' '.join(self.flags())}", '#include "random_program.h"', ""]
        for i in range(r.randrange(6, 16)):
            lines += self.function(i)
        lines += ["static uint64_t run(uint64_t state_at_start) {", "  state = state_at_start;"]
        lines += [
            "  for (int i = 0; i < 64; i++) table[i] = (uint64_t)i * 0x123456789abcdefull;",
            f"  for (uint64_t round = 0; round < {self.choose(6, 12, 25)}; round++) {{",
        ]
        for name, count in self.functions:
            arguments = ", ".join(
                self.choose(f"state + {r.randrange(1000)} * round", f"round * {r.randrange(1, 9)} + {r.randrange(20)}")
                for _ in range(count)
            )
            lines += [f"    fuel = {self.choose(10, 40, 150)};"]
            lines += [
                f"    try {{ state = state * 31 + {name}({arguments}); }}",
                "    catch (const Special& special) { caught += special.more[0]; }",
            ]
            lines += ["    catch (const Trouble& trouble) { caught += trouble.code; }", "    catch (...) { caught += 5; }"]
        lines += ["  }", "  return sum_of_state();", "}", ""]
        return "\n".join(lines + (THREADED_MAIN if self.threads else MAIN)) + "\n"


MAIN = """int main() {
  signal(SIGUSR1, handle);
  atexit([] { printf("at exit %llx\\n", (unsigned long long)caught); });
  const uint64_t sum = run(1);
  printf("%016llx %.17g\\n", (unsigned long long)sum, number);
  return (int)(sum & 63);
}""".split("\n")

THREADED_MAIN = """struct Work {
  uint64_t seed, sum;
  double number;
};

static void* work(void* argument) {
  Work* own = (Work*)argument;
  own->sum = run(own->seed);
  own->number = number;
  return nullptr;
}

int main() {
  Work works[3] = {{1, 0, 0}, {2, 0, 0}, {77, 0, 0}};
  pthread_t threads[3];
  for (int i = 1; i < 3; i++) pthread_create(&threads[i], nullptr, work, &works[i]);
  work(&works[0]);
  for (int i = 1; i < 3; i++) pthread_join(threads[i], nullptr);
  for (const Work& w : works) printf("%016llx %.17g\\n", (unsigned long long)w.sum, w.number);
  return (int)(works[0].sum & 63);
}""".split("\n")


if __name__ == "__main__":
    sys.stdout.write(WholeProgram(int(sys.argv[1])).text())
