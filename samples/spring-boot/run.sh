#!/usr/bin/env bash
# Three instances of a Spring Boot service share a scheduled job: each invoice is sent by one of them.
#
#   samples/spring-boot/run.sh
#
# TOLLGATE_URL says where Tollgate is; without it, a node that runs for as long as the sample.
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
here="$home/samples/spring-boot"
if [ ! -d "$here/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..." >&2
  (cd "$home" && mvn -B -q package -DskipTests)
fi
if [ -z "${TOLLGATE_URL:-}" ]; then
  exec "$home/samples/with-node.sh" "${BASH_SOURCE[0]}"
fi

java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi
instances=()
for instance in a b c; do
  "$java" -Xmx256m -XX:+UseSerialGC -cp "$here/target/classes:$here/target/lib/*" \
    dev.tollgate.samples.invoices.InvoiceService \
    --spring.datasource.url="$TOLLGATE_URL" --tollgate.lock.owner="instance $instance" &
  instances+=($!)
done
for each in "${instances[@]}"; do
  wait "$each"
done
