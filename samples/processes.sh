# For scripts that tell a story with several processes: sourced, not run. The script sets `program` to the class
# that each process runs. Without TOLLGATE_URL, the script is run again while a node runs.

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
if [ ! -d "$home/replica/target/lib" ] || [ ! -d "$home/samples/target/lib" ]; then
  echo "Building Tollgate once; this takes a minute or two ..." >&2
  (cd "$home" && mvn -B -q -Dstyle.color=never -P run package -pl replica,samples -am)
fi
if [ -z "${TOLLGATE_URL:-}" ]; then
  exec "$home/samples/with-node.sh" "$0" "$@"
fi

java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi
work=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-sample.XXXXXX")
declare -A pid=()

clean_up() {
  local each
  for each in "${pid[@]}"; do kill -KILL "$each" 2> /dev/null || true; done
  wait 2> /dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

step=0
title() { step=$((step + 1)); printf '\n%d. %s\n' "$step" "$1"; }
show() { printf '   %s\n' "$1"; }
kept() { printf '   \xe2\x9c\x93 %s\n' "$1"; }
fail() {
  printf '   \xe2\x9c\x97 %s\n' "$1" >&2
  tail -n 5 "$work"/*.out "$work"/*.err >&2
  exit 1
}

sql() { "$home/replica/bin/tollgate" sql -u "$TOLLGATE_URL" -e "$1"; }
# The only value that a query has as its result.
value() { sql "$1" | sed -n '3s/ *//gp'; }

# start NAME: a process that runs the program, and says what it does in $work/NAME.out
start() {
  : > "$work/$1.out"
  "$java" -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$home/samples/target/classes:$home/samples/target/lib/*" \
    "dev.tollgate.samples.$program" "$1" "$TOLLGATE_URL" > "$work/$1.out" 2> "$work/$1.err" &
  pid[$1]=$!
}

# await SECONDS WHAT COMMAND...
await() {
  local seconds=$1 what=$2 end
  shift 2
  end=$((SECONDS + seconds))
  until "$@"; do
    if [ "$SECONDS" -ge "$end" ]; then fail "$what: not within $seconds s"; fi
    sleep 0.05
  done
}

says() { grep -q "$2" "$work/$1.out"; }

kill_hard() {
  kill -KILL "${pid[$1]}"
  { wait "${pid[$1]}" || true; } 2> /dev/null # or else the shell reports the death in the middle of the story
}
