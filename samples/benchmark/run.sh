#!/usr/bin/env bash
# Starts nodes of Tollgate, and beside them what a user would pick instead, all on this machine and with real
# fsync, and measures them in turns. docs/benchmarks.md says what each scenario does and how to read the tables.
#
#   samples/benchmark/run.sh [--scenario NAME...] [--peers etcd,zookeeper,hazelcast,postgres,redis|none]
#     [--nodes 1|3|5|embedded] [--seconds N] [--rounds N] [--warm-up N] [--json FILE] [--install]
#   samples/benchmark/run.sh --help
#
# --install gets etcd, PostgreSQL and Redis from the packages of a Debian or Ubuntu; ZooKeeper and Hazelcast
# come with the build, from Maven Central. What is not there is named and left out.
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
here="$home/samples/benchmark"
java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi

arguments=()
embedded=false
previous=
for argument in "$@"; do
  case "$argument" in
    --install)
      sudo=
      if [ "$(id -u)" != 0 ]; then sudo=sudo; fi
      $sudo apt-get update -q
      $sudo apt-get install -y --no-install-recommends etcd-server postgresql redis-server
      continue
      ;;
    --nodes=embedded) embedded=true ;;
    embedded) if [ "$previous" = --nodes ]; then embedded=true; fi ;;
  esac
  arguments+=("$argument")
  previous=$argument
done

if [ ! -d "$home/replica/target/lib" ] || [ ! -d "$here/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..."
  (cd "$home" && mvn -B -q package -DskipTests)
fi

classpath="$here/target/classes:$here/target/lib/*"
if $embedded; then
  # the node brings the driver with it, which has to come before the published one (ADR 0001)
  classpath="$home/replica/target/classes:$home/replica/target/lib/*:$classpath"
fi

exec "$java" -Xmx1g -XX:+UseSerialGC -Duser.timezone=UTC \
  "-Djava.util.logging.config.file=$here/jul.properties" \
  "-Dlogback.configurationFile=$here/logback.xml" -cp "$classpath" \
  dev.tollgate.samples.benchmark.Benchmark --home "$home" "${arguments[@]}"
