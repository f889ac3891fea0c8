#!/bin/sh
# Runs the edge so that systemd can start the next one while this one lets its requests finish. For systemd the service ends with
# this shell (KillMode=process). At SIGTERM the shell says so to the edge, and does not wait for it.
"$@" &
edge=$!
trap 'kill -TERM $edge; exit 0' TERM INT
trap 'kill -HUP $edge' HUP
while
  wait $edge
  code=$?
  # A signal ends the wait, too.
  [ $code -gt 128 ] && kill -0 $edge 2>/dev/null
do :; done
exit $code
