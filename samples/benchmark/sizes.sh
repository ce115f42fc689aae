#!/usr/bin/env bash
# Measures what state costs: heap, snapshot, restart and the joining of a node, with rows, locks, leases and
# sessions; and how a restart takes longer as the log grows. Each line is one run on this machine.
#
#   samples/benchmark/sizes.sh [rows N] [locks N] [leases N] [sessions N] [entries N] ...
#   without arguments: 100,000 and 1,000,000 rows, 1,000,000 locks, 100,000 leases, 5,000 sessions,
#   10,000 and 100,000 entries
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
here="$home/samples/benchmark"
java=java jcmd=jcmd
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java" jcmd="$JAVA_HOME/bin/jcmd"; fi
if [ $# = 0 ]; then
  set -- rows 100000 rows 1000000 locks 1000000 leases 100000 sessions 5000 entries 10000 entries 100000
fi

if [ ! -d "$home/replica/target/lib" ] || [ ! -d "$here/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..."
  (cd "$home" && mvn -B -q package -DskipTests)
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-sizes.XXXXXX")
pids=()
clean_up() {
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

base=17800
url="jdbc:tollgate://127.0.0.1:$((base + 1))/"
now() { date +%s%3N; }

# start NUMBER OPTIONS...: a node, and how many milliseconds until it is ready
start() {
  local i=$1 begun
  shift
  begun=$(now)
  : > "$work/n$i.out"
  TOLLGATE_HEAP=3g "$home/replica/bin/tollgate" server --id "n$i" --data "$work/data/n$i" \
    --client-address "127.0.0.1:$((base + i))" --raft-address "127.0.0.1:$((base + 100 + i))" "$@" \
    > "$work/n$i.out" 2>> "$work/n$i.err" &
  pid[i]=$!
  pids+=($!)
  until grep -q ready "$work/n$i.out"; do
    if ! kill -0 "${pid[i]}" 2> /dev/null; then
      tail -40 "$work/n$i.err" >&2
      exit 1
    fi
    sleep 0.02
  done
  ready=$(($(now) - begun))
}
stop() { kill -KILL "${pid[$1]}"; wait "${pid[$1]}" 2> /dev/null || true; }
# what is left of the heap after a collection, in KiB
heap() {
  "$jcmd" "${pid[1]}" GC.run > /dev/null
  "$jcmd" "${pid[1]}" GC.heap_info | sed -n "s/.* total [0-9]*K, used \([0-9]*\)K.*/\1/p" | head -2 | awk "{ sum += \$1 } END { print sum }"
}
sql() { "$home/replica/bin/tollgate" sql -u "$url" -e "$1"; }
fill() {
  "$java" -Xmx1g -XX:+UseSerialGC -Djava.util.logging.config.file="$here/jul.properties" -Dlogback.configurationFile="$here/logback.xml" \
    -cp "$here/target/classes:$here/target/lib/*" dev.tollgate.samples.benchmark.Fill --tollgate "$url" "$@"
}

declare -a pid
while [ $# -gt 1 ]; do
  what=$1 count=$2
  shift 2
  rm -rf "$work/data" && mkdir "$work/data" && : > "$work/n1.err"
  start 1
  empty=$(heap)
  echo
  echo "$count $what"
  if [ "$what" = sessions ]; then
    mkfifo "$work/input" 2> /dev/null || true
    fill "--$what" "$count" < "$work/input" > "$work/fill.out" &
    exec 9> "$work/input"
    until grep -q filled "$work/fill.out"; do sleep 0.1; done
    cat "$work/fill.out"
  else
    fill "--$what" "$count"
  fi
  full=$(heap)
  echo "heap: $(((full - empty) / 1024)) MiB more, $(((full - empty) * 1024 / count)) bytes each"
  if [ "$what" = sessions ]; then
    exec 9>&-
  elif [ "$what" != entries ]; then
    sql 'CALL take_snapshot()' | tail -n +1
    grep 'snapshot at log index' "$work/n1.err" | tail -1 | sed 's/.*snapshot at/snapshot at/'
  fi
  stop 1
  start 1
  echo "restart: $ready ms until it is ready"
  start 2 --join "$url"
  echo "joining of a second node: $ready ms until it is ready"
  stop 2
  stop 1
done
