#!/bin/bash
# Makes sure that what the machine must have is there, and installs it with
# apt-get where it is not.
#
#   need.sh build      a C++ compiler, pkg-config, libzmq, Python's venv, Go
#   need.sh browser    Chromium and a font, for the tests in JupyterLab
set -euo pipefail

missing=() # Debian packages

# want PACKAGES COMMAND: when the command fails, the packages are missing.
want() {
  local packages=$1
  shift
  if ! "$@" >/dev/null 2>&1 </dev/null; then
    read -ra more <<<"$packages"
    missing+=("${more[@]}")
  fi
}

compiles() { echo '#include <stdlib.h>' | "$1" -x "$2" -fsyntax-only -; }

go_is_new_enough() {
  # From 1.21 on, the go command fetches the toolchain that go.mod asks for.
  local version
  version=$(go env GOVERSION 2>/dev/null | grep -oE '^go1\.[0-9]+') || return 1
  ((${version#go1.} >= 21))
}

case ${1:-} in
build)
  if ! go_is_new_enough; then
    echo "need.sh: no Go 1.21 or later in PATH. Install Go from https://go.dev/dl/ and run make again." >&2
    exit 1
  fi
  want "gcc libc6-dev" compiles gcc c
  want "g++" compiles g++ c++
  want "pkg-config libzmq3-dev" pkg-config --exists libzmq
  want "python3" command -v python3
  if command -v python3 >/dev/null && ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "need.sh: $(python3 --version) is too old, want 3.11 or later first in PATH." >&2
    exit 1
  fi
  want "python3-venv" python3 -c 'import venv, ensurepip'
  ;;
browser)
  want "chromium" command -v chromium
  want "fonts-dejavu-core" test -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
  ;;
*)
  echo "usage: need.sh build|browser" >&2
  exit 2
  ;;
esac

if ((${#missing[@]} == 0)); then
  exit 0
fi
install=(apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}")
root=(env DEBIAN_FRONTEND=noninteractive)
if ! command -v apt-get >/dev/null; then
  echo "need.sh: missing here, by the names of Debian's packages: ${missing[*]}. Install them and run make again." >&2
  exit 1
elif ((EUID != 0)); then
  if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [[ -t 0 ]]; }; then
    printf 'need.sh: missing: %s. As root, run\n  apt-get update && %s\nand then make again.\n' "${missing[*]}" "${install[*]}" >&2
    exit 1
  fi
  root=(sudo "${root[@]}")
fi
echo "Installing Debian packages: ${missing[*]}"
"${root[@]}" apt-get update -q
"${root[@]}" "${install[@]}"
