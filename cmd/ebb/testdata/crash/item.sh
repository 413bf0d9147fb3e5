#!/bin/sh
# One item: it is written down which run did it, and given back.
echo "$EBB_RUN" >>"$EBB_TEST_JOURNAL"
cat
