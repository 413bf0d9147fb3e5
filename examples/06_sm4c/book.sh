#!/bin/sh
# Books what its arguments say. EBB_KEY is the same however often it is asked, so
# an agency that heeds it books once.
set -eu
cat >/dev/null # what and where to; a real program would read it
printf '{"booking": "%s"}\n' "$(printf %s "$EBB_KEY" | cksum | cut -d ' ' -f 1)"
