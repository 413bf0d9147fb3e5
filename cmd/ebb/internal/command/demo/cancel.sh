#!/bin/sh
# Gives back what its argument says. What was booked, and whether it is known
# that it was, comes on standard input; the key under which it was asked for is
# in EBB_KEY, for when the answer was lost.
set -eu
cat >/dev/null
sleep 0.25
printf '{"cancelled": "%s"}\n' "$1"
