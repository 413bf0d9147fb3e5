#!/bin/sh
# Books what its argument says. EBB_KEY is the same however often it is asked,
# so an agency that heeds it books once.
set -eu
cat >/dev/null # the trip so far; a real program would look where to
sleep 0.3
printf '{"booking": "%s", "what": "%s"}\n' "$(printf %s "$EBB_KEY" | cksum | cut -d ' ' -f 1)" "$1"
