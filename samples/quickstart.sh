#!/usr/bin/env bash
# Tollgate in one minute: three nodes on this machine, two workers, a pause that is too long, and a
# dead leader. Ends with status 0 only if every step went as promised.
#
#   samples/quickstart.sh          tells the story and cleans up
#   samples/quickstart.sh --keep   leaves the cluster running and prints its JDBC URL
#   samples/quickstart.sh --tls    the same over TLS, between the nodes too, with certificates of a test CA
set -euo pipefail

home=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
keep=false
tls=false
for option in "$@"; do
  case "$option" in
    --keep) keep=true ;;
    --tls) tls=true ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
done

bold=''; dim=''; green=''; red=''; plain=''
if [ -t 1 ]; then
  bold=$'\e[1m'; dim=$'\e[2m'; green=$'\e[32m'; red=$'\e[31m'; plain=$'\e[0m'
fi

step=0
title() { step=$((step + 1)); printf '\n%s%d. %s%s\n' "$bold" "$step" "$1" "$plain"; }
show() { printf '   %s\n' "$1"; }
kept() { printf '   %s\xe2\x9c\x93 %s%s\n' "$green" "$1" "$plain"; }
fail() {
  printf '   %s\xe2\x9c\x97 %s%s\n' "$red" "$1" "$plain" >&2
  printf '   %sWhat the nodes and workers said is in %s%s\n' "$dim" "$work" "$plain" >&2
  trap - EXIT
  stop_all
  exit 1
}

# ---- what this machine needs -------------------------------------------------------------------

install_line() {
  if command -v apt-get > /dev/null; then echo "sudo apt-get install -y openjdk-17-jdk maven"
  elif command -v dnf > /dev/null; then echo "sudo dnf install -y java-17-openjdk-devel maven"
  elif command -v brew > /dev/null; then echo "brew install openjdk@17 maven"
  else echo "install JDK 17 or newer and Maven 3.8.4 or newer"
  fi
}

java=java
if [ -n "${JAVA_HOME:-}" ]; then java="$JAVA_HOME/bin/java"; fi
version=$("$java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1 || true)
if [ -z "$version" ] || [ "$version" -lt 17 ] || ! command -v mvn > /dev/null; then
  echo "Tollgate needs JDK 17 or newer and Maven. This line installs them:" >&2
  echo "    $(install_line)" >&2
  exit 2
fi

# Tells from the output of Maven how far it is.
progress() {
  local line fetched=0
  while IFS= read -r line; do
    case "$line" in
      '[INFO] Building Tollgate '*) line=${line#'[INFO] Building '}; show "${line% *-SNAPSHOT*}" ;;
      'Downloaded from '* | '[INFO] Downloaded from '*)
        fetched=$((fetched + 1))
        if [ $((fetched % 50)) -eq 0 ]; then show "  $fetched files fetched"; fi
        ;;
    esac
  done
}

if [ ! -d "$home/replica/target/lib" ] || [ ! -d "$home/samples/target/lib" ]; then
  echo "Building the nodes, the driver and the two workers, once: half a minute to two minutes, and as long"
  echo "again as it takes to fetch what Maven does not have yet, at most 150 MB."
  log=$(mktemp "${TMPDIR:-/tmp}/tollgate-build.XXXXXX")
  if ! (cd "$home" && mvn -B -P run package -pl replica,samples -am 2>&1) | tee "$log" | progress; then
    grep ERROR "$log" | head -n 20 >&2
    echo "The build failed. All that it said is in $log" >&2
    exit 2
  fi
  rm -f "$log"
fi

# ---- the cluster -------------------------------------------------------------------------------

work=$(mktemp -d "${TMPDIR:-/tmp}/tollgate-quickstart.XXXXXX")
pids=()
node_pid=()

stop_all() {
  local pid
  for pid in "${pids[@]}"; do kill -KILL "$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
}
clean_up() {
  stop_all
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

is_free() { ! (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }
base=7400
until is_free $((base + 1)) && is_free $((base + 2)) && is_free $((base + 3)) \
  && is_free $((base + 101)) && is_free $((base + 102)) && is_free $((base + 103)); do
  base=$((base + 200))
done

peers="n1=127.0.0.1:$((base + 101)),n2=127.0.0.1:$((base + 102)),n3=127.0.0.1:$((base + 103))"
url="jdbc:tollgate://127.0.0.1:$((base + 1)),127.0.0.1:$((base + 2)),127.0.0.1:$((base + 3))/"

more='?' # what joins further properties to the URL
node_options() { :; }
if $tls; then
  "$home/replica/bin/tollgate" certificates "$work/certs" --user worker \
    --node n1=127.0.0.1 --node n2=127.0.0.1 --node n3=127.0.0.1 > "$work/certs.out"
  node_options() {
    printf '%s\n' --tls-certificate "$work/certs/n$1.crt" --tls-key "$work/certs/n$1.key" \
      --tls-trust "$work/certs/ca.crt" --tls-crl "$work/certs/crl.pem" --tls-clients require-certificate
  }
  url="$url?sslMode=verify-full&sslRootCert=$work/certs/ca.crt"
  url="$url&sslCert=$work/certs/worker.crt&sslKey=$work/certs/worker.key"
  more='&'
fi

# await SECONDS DESCRIPTION COMMAND...
await() {
  local seconds=$1 what=$2 end
  shift 2
  end=$((SECONDS + seconds))
  until "$@" > /dev/null 2>&1; do
    if [ "$SECONDS" -ge "$end" ]; then fail "$what did not happen within $seconds s"; fi
    sleep 0.1
  done
}

start_node() {
  local options
  mapfile -t options < <(node_options "$1")
  TOLLGATE_HEAP=${TOLLGATE_HEAP:-300m} "$home/replica/bin/tollgate" server --id "n$1" \
    --data "$work/n$1" --client-address "127.0.0.1:$((base + $1))" \
    --raft-address "127.0.0.1:$((base + 100 + $1))" --peers "$peers" \
    ${options[@]+"${options[@]}"} > "$work/n$1.out" 2> "$work/n$1.err" &
  pids+=($!)
  node_pid[$1]=$!
}

kill_hard() {
  kill -KILL "$1"
  { wait "$1" || true; } 2> /dev/null # or else the shell reports the death in the middle of the story
}

worker() { # name, URL properties
  "$java" -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$home/samples/target/classes:$home/samples/target/lib/*" \
    dev.tollgate.samples.quickstart.Worker "$1" "$url${more}applicationName=worker$1&$2" \
    > "$work/$1.out" 2> "$work/$1.err" &
  pids+=($!)
}

sql() { "$home/replica/bin/tollgate" sql -u "$url" -e "$1"; }
writes() { grep -c ' wrote payment' "$work/$1.out" || true; }
has_written() { [ "$(writes "$1")" -ge "$2" ]; }
says() { grep -q "$2" "$work/$1.out"; }
token_of() { sed -n "s/^$1 holds it under token \([0-9]*\)/\1/p" "$work/$1.out"; }
follow() { sed 's/^/worker /' "$work/$1.out" | tail -n "$2" | while read -r line; do show "$line"; done; }

title "Three nodes, a lock and a table that is fenced by it"
for i in 1 2 3; do start_node "$i"; done
for i in 1 2 3; do await 90 "node n$i" grep -q ready "$work/n$i.out"; done
show "$url"
sql "CREATE TABLE ledger(
       id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       worker VARCHAR(10), token BIGINT, payment INT,
       at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP)
     FENCED BY LOCK 'payroll'" > /dev/null || fail "the table could not be created"
if $tls; then
  if sql_plain=$("$home/replica/bin/tollgate" sql -u "${url%%\?*}" -e "SELECT 1" 2>&1); then
    fail "a client without TLS was served"
  fi
  show "$(echo "$sql_plain" | grep -o 'this port speaks TLS.*' | head -n 1 | cut -c 1-110)"
  kept "all connections use TLS, with certificates on both sides; a client without is refused"
fi
kept "from now on the store wants a token of lock 'payroll' for every write to ledger"

title "Worker A takes the lock and writes"
worker A "lease=3s"
a_pid=$!
await 30 "A's third payment" has_written A 3
a_token=$(token_of A)
follow A 4
kept "A holds the lock under token $a_token"

title "A is paused for longer than its lease: a long collection, a swapped-out VM, a laptop lid"
kill -STOP "$a_pid"
a_writes=$(writes A)
show "kill -STOP $a_pid; A's lease of 3 s is not renewed any more"
worker B "lease=3s&lockWait=60s"
b_pid=$!
await 30 "B's third payment" has_written B 3
b_token=$(token_of B)
follow B 5
[ "$b_token" -gt "$a_token" ] || fail "B's token $b_token is not higher than A's $a_token"
kept "B waited in the queue and got the lock under the higher token $b_token"

title "A wakes up. It has not noticed anything, and writes"
kill -CONT "$a_pid"
a_status=0
wait "$a_pid" || a_status=$?
follow A 1
[ "$a_status" -eq 23 ] || fail "A was not refused, it ended with status $a_status"
[ "$(writes A)" -eq "$a_writes" ] || fail "A wrote after its lease had ended"
kept "the store itself refused the stale write: 23T01"

title "The leader dies while B holds the lock"
leader=$(sql "SELECT node_id FROM tollgate.nodes WHERE node_role = 'LEADER'" \
  | sed -n 's/^\(n[123]\).*/\1/p')
[ -n "$leader" ] || fail "no node says that it leads"
b_writes=$(writes B)
kill_hard "${node_pid[${leader#n}]}"
show "kill -9 of $leader"
await 30 "B's next payments" has_written B $((b_writes + 5))
follow B 5
next=$(sql "SELECT node_id FROM tollgate.nodes WHERE node_role = 'LEADER'" \
  | sed -n 's/^\(n[123]\).*/\1/p')
now=$(sql "SELECT lock_token('payroll')" | sed -n 's/^ *\([0-9][0-9]*\)$/\1/p' | head -n 1)
[ "$now" = "$b_token" ] || fail "the lock is under token '$now', not $b_token"
kept "$next leads now; B went on under the same token $b_token"

title "Somebody opens a SQL tool and corrects a row by hand"
statement="UPDATE ledger SET payment = 1000000 WHERE id = 1"
show "$statement"
if sql "$statement" > /dev/null 2> "$work/tool.err"; then
  fail "the statement went through"
fi
show "$(head -n 1 "$work/tool.err" | cut -c 1-110) ..."
grep -q "23T02" "$work/tool.err" || fail "it was refused for another reason"
kept "refused too: it shows no token"

title "What the ledger says"
sql "SELECT token, worker, COUNT(*) AS payments, MIN(id) AS first_id, MAX(id) AS last_id,
            CAST(MIN(at) AS TIME(3)) AS first_at, CAST(MAX(at) AS TIME(3)) AS last_at
     FROM ledger GROUP BY token, worker ORDER BY token" | while IFS= read -r line; do show "$line"; done
mixed=$(sql "SELECT COUNT(*) AS n FROM ledger a JOIN ledger b ON a.id < b.id AND a.token > b.token" \
  | sed -n '3s/ *//gp')
[ "$mixed" = 0 ] || fail "$mixed payments were made under an older token than one before them"
kept "no payment under an old token came after one under a newer token"

if $keep; then
  kill "$b_pid" 2> /dev/null || true
  start_node "${leader#n}"
  trap - EXIT
  printf '\n%sThe cluster is up:%s %s\n' "$bold" "$plain" "$url"
  echo "   shell    replica/bin/tollgate sql -u '$url'"
  echo "   status   replica/bin/tollgate status -u '$url'"
  echo "   stop     kill ${pids[*]:0:3} $!; rm -rf $work"
else
  printf '\n%sEvery step went as promised.%s Leave the cluster up with --keep.\n' "$bold" "$plain"
fi
