#!/usr/bin/env python3
"""How much of the test programs is understood: a Markdown table of procedures, blocks, opaque shares.

  coverage.py [--respike build/respike] [--programs build/programs]
"""

import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHOWN = ("sqlite3.static", "sqlite3.dynamic", "lua.static", "bzip2.static", "minigzip.static", "containers.static",
         "exceptions.static", "threads.static", "interpreter.static")


def info(respike, image):
    done = subprocess.run([respike, "image", "info", "--json", image], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--respike", default=ROOT / "build" / "respike")
    parser.add_argument("--programs", default=ROOT / "build" / "programs")
    args = parser.parse_args()
    manifest = json.loads((pathlib.Path(args.programs) / "manifest.json").read_text())
    rows = {p["name"]: info(args.respike, p["image"]) for p in manifest["programs"]}
    print("| program | procedures | opaque | pinned | blocks | instructions | text bytes | opaque bytes |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SHOWN:
        if name in rows:
            d = rows[name]
            print(f"| {name} | {d['procedures']:,} | {d['opaque_procedures']} | {len(d['pinned'])} | {d['blocks']:,} | "
                  f"{d['instructions']:,} | {d['text_bytes']:,} | {d['opaque_bytes']} |")
    total = {key: sum(d[key] for d in rows.values()) for key in ("procedures", "opaque_procedures", "text_bytes", "opaque_bytes")}
    print(f"\nAll {len(rows)} programs: {total['procedures']:,} procedures, {total['opaque_procedures']} opaque "
          f"({total['opaque_procedures'] / total['procedures']:.3%}), {total['opaque_bytes']:,} of {total['text_bytes']:,} "
          f"bytes of text opaque ({total['opaque_bytes'] / total['text_bytes']:.4%}).\n")
    for name, d in rows.items():
        for opaque in d["opaque"]:
            print(f"- {name}: `{opaque['name']}`: {opaque['reason']}")


if __name__ == "__main__":
    main()
