#!/usr/bin/env bash
# Runs a command while a node of its own runs, whose URL the command finds in TOLLGATE_URL.
#
#   samples/with-node.sh COMMAND [ARGUMENT...]
#
# TOLLGATE_PORT is the first port that is tried. Default: 7401
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
if [ $# -eq 0 ]; then
  sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 2
fi
if [ ! -d "$home/replica/target/lib" ]; then
  echo "Building Tollgate once; this takes a minute or two ..." >&2
  (cd "$home" && mvn -B -q -Dstyle.color=never -P run package -pl replica -am)
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-node.XXXXXX")
node=''
clean_up() {
  if [ -n "$node" ]; then
    kill "$node" 2> /dev/null || true
    wait "$node" 2> /dev/null || true
  fi
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

is_free() { ! (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }
port=${TOLLGATE_PORT:-7401}
# a node takes no variable for a setting that it does not have
unset TOLLGATE_PORT
until is_free "$port"; do port=$((port + 1)); done

TOLLGATE_HEAP=${TOLLGATE_HEAP:-300m} "$home/replica/bin/tollgate" server --id n1 --data "$work/n1" \
  --client-address "127.0.0.1:$port" > "$work/out" 2> "$work/err" &
node=$!
deadline=$((SECONDS + 90))
until grep -q ready "$work/out"; do
  if ! kill -0 "$node" 2> /dev/null || [ "$SECONDS" -ge "$deadline" ]; then
    echo "The node did not start:" >&2
    cat "$work/err" >&2
    exit 1
  fi
  sleep 0.1
done
TOLLGATE_URL="jdbc:tollgate://127.0.0.1:$port/" "$@"
