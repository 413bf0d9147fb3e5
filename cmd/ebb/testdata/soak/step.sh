#!/bin/sh
# step.sh NAME: writes RUN NAME KEY into the journal, in one write, and fails as Pay when the input says so.
input=$(cat)
echo "$EBB_RUN $1 $EBB_KEY" >>"$EBB_TEST_JOURNAL"
case "$1 $input" in
"Pay "*fail*) echo '{"Error": "Broke", "Cause": "no money"}'; exit 1 ;;
esac
echo null
