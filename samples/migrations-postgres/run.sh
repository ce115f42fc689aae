#!/usr/bin/env bash
# Runs the scripts of this folder on PostgreSQL, once each, under a lock of Tollgate, and shows the history.
#
#   samples/migrations-postgres/run.sh
#
# POSTGRES_URL names the database (jdbc:postgresql://host/name?user=...). Without it, a server of the
# distribution's package runs for as long as this takes; where there is none, this says so and ends with 77.
# TOLLGATE_URL says where the cluster is. Without it, a node runs for as long as this takes.
# POSTGRES_PORT is the first port that is tried for the server. Default: 7601
# POSTGRES_DRIVER names the jar of the driver. Without it, Maven fetches the jar.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
home=$(dirname "$(dirname "$here")")
programs=$({ ls -d /usr/lib/postgresql/*/bin 2> /dev/null || true; } | sort -V | tail -n 1)
if [ -z "${POSTGRES_URL:-}" ] && [ ! -x "$programs/initdb" ]; then
  echo "SKIPPED: PostgreSQL is not installed (apt-get install postgresql), and POSTGRES_URL is not set" >&2
  exit 77
fi
if [ -z "${TOLLGATE_URL:-}" ]; then
  exec "$home/samples/with-node.sh" "$here/run.sh"
fi

driver=${POSTGRES_DRIVER:-}
if [ -z "$driver" ]; then
  version=$(sed -n 's:.*<postgresql-driver.version>\(.*\)</.*:\1:p' "$home/pom.xml")
  driver="$here/target/postgresql-$version.jar"
  [ -f "$driver" ] || (cd "$home" && mvn -B -q -N -Dstyle.color=never dependency:copy \
    "-Dartifact=org.postgresql:postgresql:$version" "-DoutputDirectory=$here/target")
fi

server=''
work=''
clean_up() {
  if [ -n "$server" ]; then
    kill "$server" 2> /dev/null || true
    wait "$server" 2> /dev/null || true
  fi
  if [ -n "$work" ]; then rm -rf "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# The server refuses to run as root, so root starts it as the user of its package.
as_user() {
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

start_server() {
  local port=${POSTGRES_PORT:-7601} deadline=$((SECONDS + 90))
  while (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 1)); done
  work=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-postgres.XXXXXX")
  if [ "$(id -u)" = 0 ]; then chown postgres "$work"; fi
  (cd "$work" && as_user "$programs/initdb" --pgdata="$work/data" --username=sample --auth=trust \
    --encoding=UTF8 --locale=C --no-sync) > "$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
  (cd "$work" && exec_server "$port") > "$work/log" 2>&1 &
  server=$!
  until "$programs/pg_isready" -q -h 127.0.0.1 -p "$port"; do
    if ! kill -0 "$server" 2> /dev/null || [ "$SECONDS" -ge "$deadline" ]; then
      cat "$work/log" >&2
      return 1
    fi
    sleep 0.1
  done
  POSTGRES_URL="jdbc:postgresql://127.0.0.1:$port/postgres?user=sample"
  psql=("$programs/psql" -h 127.0.0.1 -p "$port" -U sample -d postgres)
}

exec_server() {
  set -- "$programs/postgres" "-D$work/data" "-p$1" -clisten_addresses=127.0.0.1 \
    -cunix_socket_directories=
  if [ "$(id -u)" = 0 ]; then set -- runuser -u postgres -- "$@"; fi
  exec "$@"
}

[ -n "${POSTGRES_URL:-}" ] || start_server

title() { printf '\n== %s\n' "$1"; }
migrate() {
  "$home/replica/bin/tollgate" migrate "$@" --url "$POSTGRES_URL" --lock-url "$TOLLGATE_URL" \
    --classpath "$driver" --dir "$here/scripts"
}
title "What there is to do"
migrate --dry-run
title "Two runs at once: one does it, and the other waits and finds nothing to do"
migrate &
other=$!
migrate
wait $other
title "The history"
migrate info
if [ -n "$server" ]; then
  title "What the scripts made, and the row that refuses a former holder of the lock"
  "${psql[@]}" -c "SELECT * FROM large_city ORDER BY millions DESC" -c "SELECT * FROM tollgate_fence"
fi
