#!/usr/bin/env bash
# Fetches the Debian source packages of the real programs that tests and the demo rewrite (SQLite,
# Lua, bzip2, zlib) and unpacks them as DIR/sqlite3, DIR/lua5.4, DIR/bzip2, DIR/zlib; SQLite's
# amalgamation is generated as DIR/sqlite3-amalgamation/{sqlite3.c,shell.c}. Other PACKAGEs are
# fetched and unpacked as well.
#
# The sources of packages come from the machine's own apt configuration: its entries for binary
# packages of this Debian release are copied as entries for source packages into a private
# configuration below DIR, so that the system does not change and no root is needed. apt checks
# signatures and hashes. Sources that exist already are kept. Exit status 1, with one sentence, if
# the sources cannot be fetched.
set -euo pipefail

packages=(sqlite3 lua5.4 bzip2 zlib)

if [[ $# -lt 1 || $1 == -* ]]; then
  echo "usage: scripts/fetch-sources.sh DIR [PACKAGE...]" >&2
  exit 2
fi
packages+=("${@:2}")
mkdir -p "$1"
dir=$(cd "$1" && pwd)
apt_dir=$dir/.apt
log=$dir/fetch.log

fail() {
  echo "fetch-sources: $1 (log: $log)" >&2
  exit 1
}

# Prints deb-src entries, in deb822 format, for all `deb` entries of this release.
source_entries() {
  python3 - "$1" <<'PYTHON'
import glob, re, sys

release = sys.argv[1]
suites = {release, release + "-security", release + "-updates"}

def deb822_entries(path):
    for paragraph in re.split(r"\n\s*\n", open(path, encoding="utf-8", errors="replace").read()):
        fields, name = {}, None
        for line in paragraph.splitlines():
            if line.startswith("#") or not line.strip():
                continue
            if line[0].isspace() and name:
                fields[name] += "\n" + line
            elif ":" in line:
                name, value = line.split(":", 1)
                name = name.strip().lower()
                fields[name] = value.strip()
        if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes") != "no":
            yield fields

def classic_entries(path):
    for line in open(path, encoding="utf-8", errors="replace"):
        match = re.match(r"deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)", line)
        if match:
            options, uri, suite, components = match.groups()
            fields = {"uris": uri, "suites": suite, "components": components.strip()}
            for option in (options or "").split():
                name, _, value = option.partition("=")
                fields[name.lower()] = value
            yield fields

entries = []
for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
    entries += deb822_entries(path)
for path in ["/etc/apt/sources.list"] + sorted(glob.glob("/etc/apt/sources.list.d/*.list")):
    try:
        entries += classic_entries(path)
    except FileNotFoundError:
        pass
for fields in entries:
    wanted = [s for s in fields.get("suites", "").split() if s in suites]
    if wanted and "main" in fields.get("components", "").split():
        print("Types: deb-src\nURIs:", fields["uris"], "\nSuites:", " ".join(wanted), "\nComponents: main")
        for name in ("signed-by", "trusted", "check-valid-until"):
            if name in fields:
                print(f"{name}: {fields[name]}")
        print()
PYTHON
}

private_apt_get() {
  apt-get --quiet \
    -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt_dir/sources" \
    -o Dir::State::Lists="$apt_dir/lists" -o Dir::Cache="$apt_dir/cache" \
    -o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=2 \
    -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@"
}

fetch_missing() {
  mkdir -p "$apt_dir/sources" "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial"
  local release
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
  source_entries "$release" > "$apt_dir/sources/private.sources"
  [[ -s $apt_dir/sources/private.sources ]] ||
    fail "apt's configuration names no package archive of $release"
  # A mirror may lack the files of a security update that its index names: then the release's own
  # version is used.
  (cd "$dir" && private_apt_get update &&
    { private_apt_get source --download-only "$@" ||
      private_apt_get source --download-only "${@/%//$release}"; }) \
    >> "$log" 2>&1 || fail "Debian's source packages are unreachable"
}

unpack() {
  local package=$1 description
  description=$(ls "$dir/${package}"_*.dsc | sort -V | tail -n 1)
  rm -rf "$dir/$package.new"
  dpkg-source --no-check -x "$description" "$dir/$package.new" >> "$log" 2>&1 ||
    fail "cannot unpack $description"
  mv "$dir/$package.new" "$dir/$package"
}

generate_amalgamation() {
  local build=$dir/sqlite3-amalgamation.new
  rm -rf "$build"
  mkdir -p "$build"
  (cd "$build" && "$dir/sqlite3/configure" --disable-readline && make sqlite3.c shell.c) \
    >> "$log" 2>&1 || fail "cannot generate SQLite's amalgamation"
  mkdir "$build/out"
  cp "$build"/{sqlite3.c,shell.c,sqlite3.h} "$build/out"
  mv "$build/out" "$dir/sqlite3-amalgamation"
  rm -rf "$build"
}

missing=()
for package in "${packages[@]}"; do
  [[ -d $dir/$package ]] || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
  : > "$log"
  fetch_missing "${missing[@]}"
  for package in "${missing[@]}"; do unpack "$package"; done
fi
# Debian's build writes this header, which Lua's sources include.
echo '#define DEB_HOST_MULTIARCH "alpha-linux-gnu"' > "$dir/lua5.4.h.new"
cmp -s "$dir/lua5.4.h.new" "$dir/lua5.4/src/lua5.4-deb-multiarch.h" ||
  cp "$dir/lua5.4.h.new" "$dir/lua5.4/src/lua5.4-deb-multiarch.h"
rm "$dir/lua5.4.h.new"
[[ -d $dir/sqlite3-amalgamation ]] || generate_amalgamation
echo "fetch-sources: ${packages[*]} are in $dir"
