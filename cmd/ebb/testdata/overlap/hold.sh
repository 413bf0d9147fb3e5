#!/bin/sh
# hold.sh takes the lock of its atom, which all that it starts inherits, and works for a while. If the lock is
# taken, a process of an earlier attempt still runs.
dir=$(dirname "$EBB_TEST_JOURNAL")
echo "$EBB_RUN $EBB_PATH" >>"$EBB_TEST_JOURNAL"
exec 9>"$dir/$EBB_RUN-$(echo "$EBB_PATH" | tr / _)"
flock -n 9 || echo "$EBB_KEY, attempt $EBB_ATTEMPT" >>"$dir/overlaps"
(setsid sleep 60 </dev/null >/dev/null 2>&1 &)
sleep 0.2
echo null
