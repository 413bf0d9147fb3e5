#!/bin/sh
# Measures Ebb beside aws-local-stepfunctions 3.0.0 (npm), both in memory, in turns:
#
#     bench/states/run.sh
#
# It needs go, node and npm; what npm fetches goes into a temporary folder.
set -eu
cd "$(dirname "$0")"
peer=$(mktemp -d)
trap 'rm -rf "$peer"' EXIT
echo '{"private": true, "type": "module"}' >"$peer/package.json"
npm install --prefix "$peer" --no-audit --no-fund --silent aws-local-stepfunctions@3.0.0
EBB_BESIDE_NODE=$peer go test -count=1 -timeout 20m -run TestBesideNode -v .
