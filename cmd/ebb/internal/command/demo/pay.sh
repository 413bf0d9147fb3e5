#!/bin/sh
# Pays with a card that has no money left.
set -eu
cat >/dev/null
sleep 0.3
echo '{"Error": "PaymentDeclined", "Cause": "the card ending in 0000 has no money left"}'
exit 1
