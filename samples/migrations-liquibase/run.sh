#!/usr/bin/env bash
# Instances of an application start, and each brings the tables up to date with Liquibase. The first
# instance is killed in the middle of that. Ends with status 0 only if each change was made once.
#
#   samples/migrations-liquibase/run.sh
#
# TOLLGATE_URL says where a cluster is; without it, the script starts a node for itself.
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
here="$home/samples/migrations-liquibase"
java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi

if [ ! -d "$here/target/lib" ] || [ ! -d "$home/replica/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..." >&2
  (cd "$home" && mvn -B -q -P run package -pl replica,samples/migrations-liquibase -am)
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-liquibase.XXXXXX")
pids=()
clean_up() {
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

url=${TOLLGATE_URL:-}
if [ -z "$url" ]; then
  port=7460
  while (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 2)); done
  url="jdbc:tollgate://127.0.0.1:$port/"
  "$home/replica/bin/tollgate" server --id n1 --data "$work/n1" --peers "n1=127.0.0.1:$((port + 1))" \
    --client-address "127.0.0.1:$port" --raft-address "127.0.0.1:$((port + 1))" > "$work/node.log" 2>&1 &
  pids+=($!)
fi
case $url in *\?*) url="$url&sessionTimeout=3s" ;; *) url="$url?sessionTimeout=3s&failoverTimeout=30s" ;; esac

instance() {
  exec "$java" -Xmx128m -XX:+UseSerialGC -Dtollgate.lock.leaseSeconds=3 \
    -cp "$here/target/classes:$here/target/lib/*" dev.tollgate.samples.schema.Shop "$url" > "$1" 2>&1
}

await() {
  local end=$((SECONDS + 60))
  until "$@"; do
    if [ $SECONDS -ge $end ]; then
      echo "not within a minute: $*" >&2
      cat "$work"/*.log "$work"/*.out >&2
      exit 1
    fi
    sleep 0.02
  done
}
said() { grep -q "$1" "$work/$2.out" 2> /dev/null; }

echo "An instance starts, and is killed in the middle of a change set."
instance "$work/first.out" &
first=$!
pids+=("$first")
await said 'Running Changeset: .*::orders' first
sleep 0.2
kill -KILL "$first"
wait "$first" 2> /dev/null || true

echo "Three more start at once. One of them goes on when the lease of the dead one has expired:"
more=()
for i in 2 3 4; do
  instance "$work/$i.out" &
  more+=($!)
  pids+=($!)
done
for pid in "${more[@]}"; do
  if ! wait "$pid"; then
    cat "$work"/*.out >&2
    exit 1
  fi
done
for i in 2 3 4; do
  echo "  instance $i"
  grep "taken under token\|goes on with\|Running Changeset\|open for" "$work/$i.out" | sed 's/^/    /'
done

echo "What was done, and how often:"
report=$("$home/replica/bin/tollgate" sql -u "$url" -e \
  "SELECT (SELECT COUNT(*) FROM databasechangelog) || ' change sets, ' ||
     (SELECT COUNT(*) FROM customer) || ' customers, ' ||
     (SELECT COUNT(*) FROM order_line) || ' line of ' ||
     (SELECT COUNT(*) FROM orders WHERE paid) || ' paid order';")
found=$(printf '%s\n' "$report" | grep -o '3 change sets, 2 customers, 1 line of 1 paid order' || true)
if [ -z "$found" ]; then
  printf '%s\n' "$report" >&2
  exit 1
fi
echo "  $found"
