#!/usr/bin/env bash
# Measures the parts of a node with JMH: planning of statements, encoding of commands, the lock table, the store.
#
#   samples/benchmark/inside.sh [JMH options] [regular expression]
#   samples/benchmark/inside.sh -l                       what there is
#   samples/benchmark/inside.sh -prof gc LockTable       with what is allocated
#   samples/benchmark/inside.sh statements               how long dear statements keep the thread that applies
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi

if [ ! -d "$here/inside/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..."
  (cd "$here/../.." && mvn -B -q package -DskipTests)
fi

program=org.openjdk.jmh.Main
if [ "${1:-}" = statements ]; then program=dev.tollgate.store.DearStatements; shift; fi

# as replica/bin/tollgate starts a server
exec "$java" -XX:+UseSerialGC -Duser.language=en -Duser.country=US -Duser.timezone=UTC \
  "-Dh2.allowedClasses=dev.tollgate.store.*" -cp "$here/inside/target/classes:$here/inside/target/lib/*" \
  "$program" "$@"
