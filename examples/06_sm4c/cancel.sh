#!/bin/sh
# Gives back a booking: which, comes on standard input. One whose answer was lost
# has none; the key under which it was asked for is in EBB_KEY.
set -eu
cat >/dev/null
printf '{}\n'
