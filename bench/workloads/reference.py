"""CPython's reference run: other work than training.py's, in the manner of pyperformance. Its argument,
1 to 10, says how much."""

import collections
import functools
import io
import itertools
import math
import pickle
import re
import string
import sys
import textwrap


def bodies(steps):
    """Planets that attract each other."""
    places = [[0.0, 0.0, 0.0], [4.8, -1.2, -0.1], [8.3, 4.1, -0.4], [12.9, -15.1, -0.2]]
    speeds = [[0.0, 0.0, 0.0], [0.6, 2.8, -0.02], [-1.0, 1.8, 0.008], [1.1, 0.9, -0.01]]
    masses = [39.5, 0.037, 0.011, 0.0017]
    for _ in range(steps):
        for i, j in itertools.combinations(range(4), 2):
            dx, dy, dz = (a - b for a, b in zip(places[i], places[j]))
            pull = 0.01 / (dx * dx + dy * dy + dz * dz) ** 1.5
            for k, d in enumerate((dx, dy, dz)):
                speeds[i][k] -= d * masses[j] * pull
                speeds[j][k] += d * masses[i] * pull
        for place, speed in zip(places, speeds):
            for k in range(3):
                place[k] += 0.01 * speed[k]
    return round(sum(map(sum, places)), 6)


def flips(n):
    """The most flips of a prefix that a permutation needs."""
    most = 0
    for permutation in itertools.permutations(range(n)):
        order, count = list(permutation), 0
        while first := order[0]:
            order[: first + 1] = order[first::-1]
            count += 1
        most = max(most, count)
    return most


class Node:
    __slots__ = ("left", "right", "key")

    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def insert(self, key):
        side = "left" if key < self.key else "right"
        below = getattr(self, side)
        if below is None:
            setattr(self, side, Node(key))
        else:
            below.insert(key)

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.key
        if self.right is not None:
            yield from self.right


class Shape:
    sides = 0

    @property
    def name(self):
        return type(self).__name__.lower()

    def area(self):
        raise NotImplementedError(self.name)


class Square(Shape):
    sides = 4

    def __init__(self, edge):
        self.edge = edge

    def area(self):
        return self.edge**2


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius**2

    def __eq__(self, other):
        return isinstance(other, Circle) and self.radius == other.radius

    def __hash__(self):
        return hash(("circle", self.radius))


def shapes(count):
    made = [Square(i % 13) if i % 3 else Circle(i % 7) for i in range(count)]
    made.append(Shape())
    total, failed = 0.0, []
    for shape in made:
        try:
            total += shape.area()
        except NotImplementedError as error:
            failed.append(str(error))
    by_name = collections.Counter(shape.name for shape in made)
    return round(total, 3), failed, sorted(by_name.items()), len({s for s in made if isinstance(s, Circle)})


TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[-+*/()=]))")


def evaluate(text, names):
    tokens = [(m.lastgroup, m.group(m.lastgroup)) for m in TOKEN.finditer(text)] + [("end", "")]
    at = 0

    def factor():
        nonlocal at
        kind, value = tokens[at]
        at += 1
        if kind == "number":
            return float(value)
        if kind == "name":
            return names[value]
        inner = -factor() if value == "-" else add()
        if value == "(":
            at += 1
        return inner

    def multiply():
        nonlocal at
        result = factor()
        while tokens[at][1] in ("*", "/"):
            sign = tokens[at][1]
            at += 1
            result = result * factor() if sign == "*" else result / factor()
        return result

    def add():
        nonlocal at
        result = multiply()
        while tokens[at][1] in ("+", "-"):
            sign = tokens[at][1]
            at += 1
            result = result + multiply() if sign == "+" else result - multiply()
        return result

    return add()


@functools.lru_cache(maxsize=None)
def distance(a, b):
    if not a or not b:
        return len(a) + len(b)
    return min(distance(a[1:], b) + 1, distance(a, b[1:]) + 1, distance(a[1:], b[1:]) + (a[0] != b[0]))


def life(width, height, generations):
    alive = {(x, y) for x in range(width) for y in range(height) if (x * 7 + y * 13) % 5 < 2}
    for _ in range(generations):
        near = collections.Counter(
            ((x + dx) % width, (y + dy) % height)
            for x, y in alive for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy
        )
        alive = {cell for cell, n in near.items() if n == 3 or (n == 2 and cell in alive)}
    return len(alive)


def page(rows):
    template = string.Template("<tr class='$kind'><td>$name</td><td>${price:}</td></tr>".replace("{price:}", "{price}"))
    out = io.StringIO()
    for i in range(rows):
        out.write(template.substitute(kind="odd" if i % 2 else "even", name=f"item {i:04d}", price="%.2f" % (i * 1.19)))
        out.write("\n")
    text = textwrap.fill(out.getvalue(), 90)
    return len(text), text.count("odd"), text.translate(str.maketrans("aeiou", "*****")).count("*")


def spectral(n):
    def times(v):
        return [sum(x / ((i + j) * (i + j + 1) // 2 + i + 1) for j, x in enumerate(v)) for i in range(n)]

    v = [1.0] * n
    for _ in range(4):
        u = times(v)
        v = times(u)
    return round(math.sqrt(sum(map(lambda a, b: a * b, u, v)) / sum(x * x for x in v)), 6)


def tree(count):
    key, root = 1, Node(count // 2)
    for _ in range(count):
        key = key * 48271 % 2147483647
        root.insert(key % count)
    return sum(i * key for i, key in enumerate(root)) % 1000003


def stored(count):
    data = [{"id": i, "pair": (i, str(i)), "set": frozenset(range(i % 5)), "bytes": bytes(i % 9)} for i in range(count)]
    return sum(len(each["pair"]) + len(each["set"]) for each in pickle.loads(pickle.dumps(data)))


n = int(sys.argv[1])
print("bodies", bodies(1200 * n))
print("flips", flips(7 if n > 2 else 6))
print("tree", tree(2400 * n))
print("shapes", shapes(12000 * n))
print("values", [evaluate(f"a * ({i} + b) - -{i} / 4 + (a - b) * 2.5", {"a": 3.0, "b": i / 7}) for i in range(800 * n)][-1])
print("distance", distance("a quick brown fox over dogs", "lazy brown foxes under a dog"))
print("life", life(48, 40, 6 * n))
print("page", page(1400 * n))
print("spectral", spectral(50 + 20 * n))
print("stored", stored(3200 * n))
