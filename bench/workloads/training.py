"""CPython's work for peers.py: words, records, classes, generators, exceptions, JSON, sorting, big numbers."""

import json
import re
import sys


class Account:
    def __init__(self, owner, balance):
        self.owner, self.balance, self.history = owner, balance, []

    def move(self, amount):
        if self.balance + amount < 0:
            raise ValueError(f"{self.owner} has {self.balance}, not {-amount}")
        self.balance += amount
        self.history.append(amount)


def numbers(seed):
    while True:
        seed = (seed * 1103515245 + 12345) % 2147483648
        yield seed >> 8


def count_words(text):
    counts = {}
    for word in re.findall(r"[a-z]+", text.lower()):
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:5]


def bank(source, steps):
    accounts = [Account(f"owner{i}", 100) for i in range(20)]
    refused = 0
    for _ in range(steps):
        one, other, amount = next(source) % 20, next(source) % 20, next(source) % 50
        try:
            accounts[one].move(-amount)
            accounts[other].move(amount)
        except ValueError:
            refused += 1
    return refused, sorted((a.balance, a.owner, len(a.history)) for a in accounts)[:3]


def records(source, count):
    made = [{"id": i, "name": f"n{next(source) % 1000}", "tags": [str(next(source) % 9) for _ in range(3)]} for i in range(count)]
    read = json.loads(json.dumps(made, sort_keys=True))
    groups = {}
    for record in read:
        for tag in record["tags"]:
            groups.setdefault(tag, set()).add(record["name"])
    return {tag: len(names) for tag, names in sorted(groups.items())}


def queens(size, row=0, columns=0, left=0, right=0):
    free, found = ~(columns | left | right) & ((1 << size) - 1), 0
    if row == size:
        return 1
    while free:
        place = free & -free
        free ^= place
        found += queens(size, row + 1, columns | place, (left | place) << 1, (right | place) >> 1)
    return found


source = numbers(7)
text = " ".join("the quick brown fox jumps over a lazy dog and another".split()[next(source) % 11] for _ in range(200000))
print(count_words(text), bank(source, 300000), records(source, 30000), queens(9), sys.getrecursionlimit())
print(len(str(3**4000)), sum(x * y % 7 for x in range(900) for y in range(900)))
