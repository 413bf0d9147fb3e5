#!/bin/sh
# step.sh KIND: tells the journal that it runs, then does what its kind does.
set -eu
cat >/dev/null
echo "$1 $EBB_PATH $EBB_KEY" >>"$EBB_TEST_JOURNAL"
case $1 in
bulk)
	printf '"'
	head -c 250000 /dev/zero | tr '\0' x
	printf '"'
	exit
	;;
flaky)
	if [ "$EBB_ATTEMPT" = 1 ]; then
		echo '{"Error": "Busy"}'
		exit 1
	fi
	;;
broken)
	echo '{"Error": "Broken"}'
	exit 1
	;;
esac
sleep 0.02
echo '{"done": true}'
