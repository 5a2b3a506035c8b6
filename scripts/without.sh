#!/bin/bash
# Prints those of the packages whose tests do not link a given one.
#
#   without.sh IMPORT-PATH PACKAGES...
set -euo pipefail
unwanted=$1
shift
links=$(go list -test -f '{{if .ForTest}}{{range .Deps}}{{println $.ForTest .}}{{end}}{{end}}' "$@" |
  awk -v unwanted="$unwanted" '$2 == unwanted || index($2, unwanted " ") == 1 {print $1}' | sort -u)
go list "$@" | grep -vxF "${links:-none}" | grep -vxF "$unwanted"
