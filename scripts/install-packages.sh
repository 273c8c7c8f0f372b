#!/usr/bin/env bash
# Installs the Debian 12 packages that building and testing Respike needs; with --build only the
# packages for building the command `respike` for programs of this machine. If all packages are
# installed already, the script does nothing and needs no root; otherwise run it as root or with
# sudo available.
set -euo pipefail

if [[ $# -gt 1 || ${1:---build} != --build ]]; then
  echo "usage: scripts/install-packages.sh [--build]" >&2
  exit 2
fi

llvm=llvm-22-dev  # or an older installed version
for version in 22 21 20 19; do
  if dpkg-query --show --showformat='${db:Status-Status}' "llvm-$version-dev" 2>/dev/null | grep -q '^installed'; then
    llvm=llvm-$version-dev
    break
  fi
done

packages=(
  g++ cmake ninja-build python3                        # the build
  "$llvm" libzstd-dev zlib1g-dev                       # ELF reading, containers; what static LLVM links
  libcli11-dev libfmt-dev nlohmann-json3-dev           # command line, text, JSON
  libsoci-dev libsqlite3-dev                           # the profile database
)
[[ ${1:-} == --build ]] || packages+=(
  ccache                                               # a cache of compiled files
  libgtest-dev libbenchmark-dev                        # tests and benchmarks
  libmpfr-dev libgmp-dev                               # the oracle of the IA-64 emulator's arithmetic
  libzydis-dev                                         # the oracle of the x86-64 decoder
  clang libclang-rt-14-dev clang-format                # libFuzzer targets, formatting
  g++-alpha-linux-gnu libc6.1-dev-alpha-cross binutils-alpha-linux-gnu  # Alpha programs, the start code, the oracle
  lld mold musl-tools                                  # other linkers and another C library of x86-64 programs
  binutils-ia64-linux-gnu zstd                         # Itanium code and its oracle; unpacking programs
  libssl-dev                                           # a static library with much assembly
  qemu-user gdb-multiarch                              # running and unwinding Alpha programs, measuring x86-64 programs
  valgrind                                             # the oracle of the cache of the x86-64 models
  dpkg-dev tcl make util-linux m4              # tests, Debian sources, SQLite's amalgamation, GMP
  qt6-base-dev qt6-svg-dev                             # the window
  xvfb openbox dbus-daemon at-spi2-core python3-pyatspi imagemagick  # its tests: a display, a user, screenshots
  chromium                                             # the report's test
  python3-matplotlib                                   # the figures of bench/paper
  debhelper                                            # packages that dh_respike optimizes
  python3-pefile llvm file                             # other readers of PE images
)

# A second debugger besides gdb, in the tested version.
[[ ${1:-} == --build || $llvm != llvm-22-dev ]] || packages+=(lldb-22)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed* ]] || missing+=("$package")
done

if [[ ${#missing[@]} -eq 0 ]]; then
  echo "install-packages: all ${#packages[@]} packages are installed"
  exit 0
fi

echo "install-packages: installing ${missing[*]}"
as_root=(env)
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-packages: not root and no sudo; as root run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo env)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get -q update
"${as_root[@]}" DEBIAN_FRONTEND=noninteractive \
  apt-get -q install --yes --no-install-recommends "${missing[@]}"
