#!/usr/bin/env bash
# Starts three Tollgate nodes and, where it is installed, three etcd members on this machine, all with
# real fsync, and measures the locks of both in one run, rounds interleaved.
#
#   samples/benchmark/run.sh [--seconds N] [--rounds N] [--warm-up N]
#   samples/benchmark/run.sh --transactions [--seconds N] [--warm-up N]     Tollgate's transactions alone
#   etcd: sudo apt-get install -y etcd-server
set -euo pipefail

program=Benchmark
if [ "${1:-}" = --transactions ]; then
  program=Transactions
  shift
fi

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
here="$home/samples/benchmark"
java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi

if [ ! -d "$home/replica/target/lib" ] || [ ! -d "$here/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..."
  (cd "$home" && mvn -B -q package -DskipTests)
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-benchmark.XXXXXX")
pids=()
clean_up() {
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

base=17400
peers="n1=127.0.0.1:$((base + 101)),n2=127.0.0.1:$((base + 102)),n3=127.0.0.1:$((base + 103))"
for i in 1 2 3; do
  TOLLGATE_HEAP=400m "$home/replica/bin/tollgate" server --id "n$i" --data "$work/n$i" \
    --client-address "127.0.0.1:$((base + i))" --raft-address "127.0.0.1:$((base + 100 + i))" \
    --peers "$peers" > "$work/n$i.out" 2> "$work/n$i.err" &
  pids+=($!)
done

contenders=(--tollgate "jdbc:tollgate://127.0.0.1:$((base + 1)),127.0.0.1:$((base + 2)),127.0.0.1:$((base + 3))/")
if [ $program = Transactions ]; then
  : # no peers
elif command -v etcd > /dev/null; then
  members="e1=http://127.0.0.1:$((base + 301)),e2=http://127.0.0.1:$((base + 302)),e3=http://127.0.0.1:$((base + 303))"
  for i in 1 2 3; do
    etcd --name "e$i" --data-dir "$work/e$i" \
      --listen-client-urls "http://127.0.0.1:$((base + 200 + i))" \
      --advertise-client-urls "http://127.0.0.1:$((base + 200 + i))" \
      --listen-peer-urls "http://127.0.0.1:$((base + 300 + i))" \
      --initial-advertise-peer-urls "http://127.0.0.1:$((base + 300 + i))" \
      --initial-cluster "$members" --initial-cluster-state new \
      > "$work/e$i.out" 2>&1 &
    pids+=($!)
  done
  contenders+=(--etcd "http://127.0.0.1:$((base + 201)),http://127.0.0.1:$((base + 202)),http://127.0.0.1:$((base + 203))")
else
  echo "etcd is not installed and is left out: sudo apt-get install -y etcd-server"
fi

for i in 1 2 3; do
  until grep -q ready "$work/n$i.out"; do sleep 0.2; done
done

"$java" -Xmx512m -XX:+UseSerialGC -Dlogback.configurationFile="$here/logback.xml" \
  -cp "$here/target/classes:$here/target/lib/*" \
  "dev.tollgate.samples.benchmark.$program" "${contenders[@]}" "$@"
