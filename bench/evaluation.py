"""The numbers of bench/paper: runs the workloads with all layouts, and finds out what kind of
programs they are."""

import json

import measuring
import workloads

# Figure 10: the components, from a single component to all, and what Respike does by default
COMPONENTS = ["chain", "place", "split,place", "chain,split,place", measuring.DEFAULT]
RANDOM = "random"
NONLOOPING = 4  # figures 4 and 5: procedures with a lower trip count
HOT_COLD = measuring.DEFAULT + measuring.HOT_COLD
SIZES = [2**k for k in range(2, 14)]  # figure 20: 4 .. 8192
# The categories of procedures, in the order of the paper; "no_advantage" is ours
CATEGORIES = ["optimized", "infrequent", "no_split", "sp_modified", "not_provable", "no_advantage"]


class Evaluation:
    """All that the figures need: for each workload its procedures, and what its layouts cost."""

    def __init__(self, lab, tool, made, jobs):
        self.workloads = made
        self.measured = {}
        self.characteristics = {}
        self.hot_cold = {}
        tasks = []
        for w in made:
            tasks.append((w.name, lambda w=w: self._characterize(lab, tool, w)))
            tasks.append((f"{w.name} {HOT_COLD}", lambda w=w: self._optimize(lab, w)))
            for layout in [measuring.ORIGINAL, RANDOM, *COMPONENTS, HOT_COLD]:
                for kind in workloads.KINDS:
                    task = lambda w=w, l=layout, k=kind: self._measure(lab, w, l, k)
                    tasks.append((f"{w.name} {layout}", task))
        measuring.run_all(tasks, jobs, "measuring")
        for (name, layout, kind), found in self.measured.items():
            if found["output"] != self.measured[name, measuring.ORIGINAL, kind]["output"]:
                raise measuring.Failure(f"{name}, {layout}, {kind} input: other output")

    def _characterize(self, lab, tool, w):
        """The program's behaviour in its reference run."""
        profile = lab.profile(w.image, w.reference)
        key = measuring.digest(lab.hash_file(w.image), lab.hash_file(profile), lab.hash_file(tool))
        self.characteristics[w.name] = lab.cached(
            lab.folder / "characteristics" / f"{key}.json",
            lambda: json.loads(measuring.call(tool, w.image, profile)),
        )

    def _optimize(self, lab, w):
        """What hot-cold optimization does by the profile of the training runs."""
        _, report = lab.optimize(w.image, HOT_COLD, lab.profile(w.image, w.training))
        self.hot_cold[w.name] = report["hot_cold"]

    def _measure(self, lab, w, layout, kind):
        profile = None if layout == measuring.ORIGINAL else lab.profile(w.image, w.training)
        image, _ = lab.optimize(w.image, layout, profile)
        self.measured[w.name, layout, kind] = lab.measure(image, w.runs(kind))

    def speedup(self, name, layout, kind="reference"):
        """How many percent faster a layout is than the original, in cycles by model C."""
        before = self.measured[name, measuring.ORIGINAL, kind]["cycles_c"]
        return 100 * (before / self.measured[name, layout, kind]["cycles_c"] - 1)

    def change(
        self, name, event, layout=measuring.DEFAULT, kind="reference", per_instruction=False
    ):
        """The change of an event's number in percent; None if the original has next to no such
        events."""
        before = self.measured[name, measuring.ORIGINAL, kind]
        after = self.measured[name, layout, kind]
        if 1000 * before[event] < before["instructions"]:
            return None
        ratio = after[event] / before[event]
        if per_instruction:
            ratio *= before["instructions"] / after["instructions"]
        return 100 * (ratio - 1)

    def share(self, name, chosen=lambda p: True, what="instructions", of=lambda p: True):
        """How many percent of the instructions executed in procedures that `of` accepts are `what` and at the same time
        in procedures that `chosen` accepts."""
        procedures = [p for p in self.characteristics[name]["procedures"] if of(p)]
        whole = sum(p["instructions"] for p in procedures)
        return 100 * sum(p[what] for p in procedures if chosen(p)) / max(1, whole)

    # ---- the data of the figures ----

    def names(self):
        return [w.name for w in self.workloads]

    def by_looping(self):
        """The names of the workloads; those with most time in procedures with a trip count below 8
        come first."""
        return sorted(self.names(), key=lambda n: -self.share(n, lambda p: p["trip_count"] < 8))

    def _distribution(self, name, measure):
        return {int(n): 100 * share for n, share in self.characteristics[name][measure].items()}

    def trip_counts(self, name):
        """{N: percent of the time in procedures with a trip count less than N}."""
        return {n: p for n, p in self._distribution(name, "trip_counts").items() if n > 1}

    def complexity(self, name, what):
        """{N: percent of the time of nonlooping procedures that procedures with at most N blocks
        take}; what: blocks or hot_blocks."""
        return self._distribution(name, what)

    def overhead(self, name):
        """Percentages of prolog and epilog work: stack adjustments, saves, restores."""
        return [self.share(name, what=w) for w in ("adjustments", "saves", "restores")]

    # ---- hot-cold optimization; times of the training input ----

    def coverage(self, name):
        """Percentages of the time in procedures of each category."""
        coverage = self.hot_cold[name]["coverage"]
        return [100 * coverage.get(category, 0) for category in CATEGORIES]

    def removed(self, name):
        """Percentages of the executed instructions that optimizations remove from hot code: saves
        and restores, partially dead code, stack adjustments, and all the rest (copies, branches,
        loads, stores)."""
        found = self.hot_cold[name]
        executed = lambda *what: sum(found[w]["executed"] for w in what)
        counts = [
            executed("preserved_registers", "return_address"),
            executed("partial_dead_code"),
            executed("stack_adjusts"),
            executed("copies", "branches", "loads", "stores"),
        ]
        return [100 * count / max(1, found["executed"]) for count in counts]

    def path_reduction(self, name, kind="reference"):
        """How many percent fewer instructions are executed than with the same layout alone."""
        before, after = (
            self.measured[name, layout, kind]["instructions"]
            for layout in (measuring.DEFAULT, HOT_COLD)
        )
        return 100 * (1 - after / before)

    def parts(self, name):
        """The parts of procedures after hot-cold optimization: [(instructions, executed, leaf)]."""
        parts = []
        for p in self.hot_cold[name]["procedures"]:
            size, time, leaf = p["instructions"], p["executed"], p["leaf"]
            if p["category"] == "optimized":
                parts.append((p["hot_instructions"], p["hot_executed"], p["hot_leaf"]))
                size += p["clone_instructions"] + p["stub_instructions"] - p["copied_instructions"]
                time = p["cold_executed"]
            parts.append((size, time, leaf))
        return parts

    def leaf_time(self, name):
        """Percentages of the time in procedures without calls, before and after."""
        found = self.hot_cold[name]["procedures"]
        before = [(p["instructions"], p["executed"], p["leaf"]) for p in found]
        return [
            100 * sum(time for _, time, leaf in parts if leaf) / max(1, sum(t for _, t, _ in parts))
            for parts in (before, self.parts(name))
        ]

    def growth(self, name):
        """Percentages by which code grows: copies of hot code, stubs."""
        found = [p for p in self.hot_cold[name]["procedures"] if p["category"] == "optimized"]
        total = lambda what: sum(p[what] for p in found)
        copies = total("hot_instructions") + total("clone_instructions")
        whole = self.characteristics[name]["static_instructions"]
        return [
            100 * (copies - total("copied_instructions")) / whole,
            100 * total("stub_instructions") / whole,
        ]

    def optimized_sizes(self, name):
        """Percentages of the size of optimized procedures: their hot blocks, the optimized hot
        blocks, the cold part, stubs. None if no procedure was optimized."""
        found = [p for p in self.hot_cold[name]["procedures"] if p["category"] == "optimized"]
        if not found:
            return None
        total = lambda what: sum(p[what] for p in found)
        whole, copied = total("instructions"), total("copied_instructions")
        cold = whole - copied + total("clone_instructions")
        sizes = [copied, total("hot_instructions"), cold, total("stub_instructions")]
        return [100 * size / whole for size in sizes]

    def by_size(self, name):
        """{N: percent of the time in procedures of at most N instructions}, before and after."""
        found = self.hot_cold[name]["procedures"]
        before = [(p["instructions"], p["executed"], p["leaf"]) for p in found]
        return [
            {
                n: 100
                * sum(t for size, t, _ in parts if size <= n)
                / max(1, sum(t for _, t, _ in parts))
                for n in SIZES
            }
            for parts in (before, self.parts(name))
        ]
