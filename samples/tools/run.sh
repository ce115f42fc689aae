#!/usr/bin/env bash
# Runs one of the examples against a cluster.
#
#   samples/tools/run.sh EXAMPLE [ARGUMENT...]
#
#   hikari.NightlyReport   spring.ReportJob   jooq.Stock   hibernate.Library
#   shedlock.HourlyInvoices   metadata.SchemaBrowser   sqlline.Shell samples/tools/tour.sql
#
# TOLLGATE_URL says where the cluster is; without it, three nodes on this machine as README.md starts
# them. samples/quickstart.sh --keep leaves a cluster running and prints its URL.
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
here="$home/samples/tools"
java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi

if [ $# -eq 0 ]; then
  sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 2
fi
example=$1
shift

if [ ! -d "$here/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..." >&2
  (cd "$home" && mvn -B -q package -DskipTests)
fi

exec "$java" -Xmx256m -XX:+UseSerialGC -Dlogback.configurationFile="$here/logback.xml" \
  -cp "$here/target/classes:$here/target/lib/*" "dev.tollgate.samples.$example" \
  "${TOLLGATE_URL:-jdbc:tollgate://127.0.0.1:7401,127.0.0.1:7402,127.0.0.1:7403/}" "$@"
