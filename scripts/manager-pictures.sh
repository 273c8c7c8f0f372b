#!/usr/bin/env bash
# Makes the pictures of Respike Manager in docs/pictures from the screenshots that the test gui_life
# keeps (ctest --test-dir build -R gui_life). Pages whose screenshots show paths of the machine are
# left out.
#
# usage: scripts/manager-pictures.sh [SCREENSHOTS]     (default build/gui/screenshots)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
screenshots=${1:-build/gui/screenshots}
mkdir -p docs/pictures
for page in where-time-goes procedure layout; do
  convert "$screenshots/$page.png" -strip -trim +repage +dither -colors 48 "PNG8:docs/pictures/$page.png"
done
