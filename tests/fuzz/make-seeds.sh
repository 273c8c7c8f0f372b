#!/usr/bin/env bash
# Makes the small programs that fuzzing starts from, a few KB to 100 KB each: for Alpha, as ia64.NAME
# for Itanium, as x86_64.NAME for x86-64, as pe.NAME for Windows NT on Alpha.
#
# usage: tests/fuzz/make-seeds.sh OUTDIR [RESPIKE]
# With RESPIKE (the command), OUTDIR also gets images that were rewritten once, with their notes.
set -euo pipefail
sources=$(dirname "${BASH_SOURCE[0]}")/seeds
out=$1
respike=${2:-}
mkdir -p "$out"

small=(-O2 -Wl,-q -Wl,--build-id -Wl,-z,max-page-size=4096)  # small pages, small files
c() { alpha-linux-gnu-gcc "${small[@]}" "$@"; }
free=(-nostdlib -nostartfiles -ffreestanding -fno-stack-protector)

c "${free[@]}" -static -o "$out/tiny" "$sources/tiny.s"
c "${free[@]}" -static -o "$out/program.static" "$sources/program.c"
c "${free[@]}" -static -O0 -o "$out/program.O0" "$sources/program.c"
c "${free[@]}" -fPIE -pie -o "$out/program.pie" "$sources/program.c"
c "${free[@]}" -static -ffunction-sections -Wl,--section-start=.far=0x120900000 -o "$out/far" "$sources/far.c"
c "${free[@]}" -fPIC -shared -Wl,-soname,library.so -o "$out/library.so" "$sources/library.c"
alpha-linux-gnu-g++ "${small[@]}" -no-pie -o "$out/throws" "$sources/throws.cc"
alpha-linux-gnu-g++ "${small[@]}" -fPIE -pie -o "$out/throws.pie" "$sources/throws.cc"

itanium() {  # NAME LINKER-FLAG... SOURCE...
  local name=$1 flags=() objects=()
  shift
  for argument; do
    if [[ $argument == -* ]]; then
      flags+=("$argument")
    else
      objects+=("$out/$(basename "$argument").o")
      ia64-linux-gnu-as -o "${objects[-1]}" "$argument" 2>/dev/null  # it warns of stops that are right
    fi
  done
  ia64-linux-gnu-ld -q --build-id -z max-page-size=4096 "${flags[@]}" -o "$out/ia64.$name" "${objects[@]}"
  rm "${objects[@]}"
}
ia64=$sources/../../programs/ia64
itanium tiny "$sources/ia64.s"
itanium library -shared "$sources/ia64.s"
itanium calls "$ia64"/freestanding/{start,runtime,calls}.s
itanium descriptors -shared "$ia64/unwind/descriptors.s"

x86_64() {  # NAME FLAG...
  local name=$1
  shift
  "$@" "${small[@]}" -o "$out/x86_64.$name"
}
gcc=x86_64-linux-gnu-gcc gxx=x86_64-linux-gnu-g++
x86_64 program.static $gcc "${free[@]}" -static "$sources/program.c"
x86_64 program.pie $gcc "${free[@]}" -fPIE -pie -fcf-protection "$sources/program.c"
x86_64 library.so $gcc "${free[@]}" -fPIC -shared -Wl,-soname,library.so "$sources/library.c"
x86_64 throws $gxx -no-pie "$sources/throws.cc"
x86_64 throws.pie $gxx -fPIE -pie -ffunction-sections "$sources/throws.cc"

# Images of Windows NT for Alpha.
nt() {  # NAME FLAG... SOURCE
  python3 -B "$sources/../../pe/images.py" "$out/pe.$1" "${@:2}"
}
nt adjusted --symbols --entry _start --exports _start,choose "$sources/program.c"
nt high --high --entry _start "$sources/program.c"
nt handlers --symbols --entry start "$sources/handlers.s"

# Debug information: of the forms that compilers write, see debug.cc.
debug() {  # NAME COMPILER FLAG...
  "${@:2}" "${small[@]}" -o "$out/debug/$1"
}
mkdir -p "$out/debug"
debug gcc5 $gxx -g -no-pie -Wl,-Ttext-segment=0 "${free[@]}" -fno-exceptions "$sources/program.c"
debug gcc4 $gcc -gdwarf-4 -static -Wl,-Ttext-segment=0 "${free[@]}" -fno-asynchronous-unwind-tables "$sources/program.c"
debug macros $gcc -g3 -fPIE -pie "${free[@]}" "$sources/program.c"
debug clang5 clang --target=x86_64-linux-gnu -g -fPIE -pie "${free[@]}" "$sources/program.c"
debug clang4 clang --target=x86_64-linux-gnu -gdwarf-4 -fdebug-types-section -fPIE -pie "${free[@]}" "$sources/program.c"
debug throws $gxx -g -fPIE -pie "$sources/throws.cc"

# A static program of Tru64's form.
python3 -B "$sources/../../ecoff/images.py" --dec "$out/ecoff.interpreter" "$sources/../../programs/c/interpreter.c"

[[ -n $respike ]] || exit 0
for image in tiny program.static program.pie far library.so throws ia64.tiny ia64.library ia64.calls \
  x86_64.program.pie x86_64.library.so x86_64.throws pe.adjusted pe.high pe.handlers ecoff.interpreter; do
  "$respike" image optimize --layout random -o "$out/$image.random" "$out/$image" >/dev/null
  "$respike" image optimize --layout scatter -o "$out/$image.scatter" "$out/$image" >/dev/null
done
