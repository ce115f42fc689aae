#!/usr/bin/env bash
# Tortures Tollgate: three or five nodes as processes with real fsync, clients that hold locks and write under
# them, and faults by a seeded schedule. Ends with status 0 only if every promise was kept, and draws
# what happened. docs/verification.md says what is checked and how to read the picture.
#
#   samples/torture.sh [--seconds N] [--seed S] [--faults kill,pause,partition,clock,disk,slow,rotate]
#     [--nodes 3|5] [--secure] [--encrypted] [--report FILE.svg] [--install]
#   samples/torture.sh --power-cuts
#   samples/torture.sh --help
#
# partition and slow need network namespaces: root, or a system that lets users make them, and iproute2. clock
# needs libfaketime, disk needs prlimit, power, eio and hang need a C compiler. What is not there is named and left
# out; --install gets it from the packages of a Debian or Ubuntu.
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
here="$home/samples/torture"
java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi

arguments=()
for argument in "$@"; do
  if [ "$argument" = --install ]; then
    sudo=
    if [ "$(id -u)" != 0 ]; then sudo=sudo; fi
    $sudo apt-get update -q
    $sudo apt-get install -y --no-install-recommends iproute2 util-linux faketime gcc libc6-dev
  else
    arguments+=("$argument")
  fi
done

if [ ! -d "$home/replica/target/lib" ] || [ ! -d "$here/target/lib" ]; then
  echo "Building Tollgate once; this takes a few minutes ..."
  (cd "$home" && mvn -B -q package -DskipTests)
fi

command=("$java" -Xmx512m -XX:+UseSerialGC -Duser.timezone=UTC
  "-Djava.util.logging.config.file=$here/jul.properties" -cp "$here/target/classes:$here/target/lib/*"
  dev.tollgate.samples.torture.Torture --home "$home" "${arguments[@]}")

# Namespaces of its own for network, mounts and processes: all that is made in them, and every process,
# vanishes with the run, however it ends.
# shellcheck disable=SC2016 # the inner shell expands it
inside='mount -t tmpfs tmpfs /run && mkdir /run/netns && exec "$@" --own-namespaces'
own=(unshare --net --mount --pid --fork --kill-child --mount-proc)
if [ "$(id -u)" != 0 ]; then own+=(--user --map-root-user); fi
if command -v ip > /dev/null && command -v tc > /dev/null && command -v nsenter > /dev/null \
  && "${own[@]}" sh -c 'mount -t tmpfs tmpfs /run && mkdir /run/netns && ip netns add probe' 2> /dev/null; then
  exec "${own[@]}" sh -c "$inside" sh "${command[@]}"
fi
exec "${command[@]}"
