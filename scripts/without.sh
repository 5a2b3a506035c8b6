#!/bin/bash
# Prints those of the packages that, with their tests, do not link a given one.
#
#   without.sh IMPORT-PATH PACKAGES...
set -euo pipefail
unwanted=$1
shift
links=$(go list -test -f '{{$p := or .ForTest .ImportPath}}{{range .Deps}}{{println $p .}}{{end}}' "$@" |
  awk -v unwanted="$unwanted" '$2 == unwanted || index($2, unwanted " ") == 1 {print $1}' | sort -u)
go list "$@" | grep -vxF "${links:-none}" | grep -vxF "$unwanted"
