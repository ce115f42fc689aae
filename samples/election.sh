#!/usr/bin/env bash
# Three processes of which one leads. The leader is killed, the next one is paused for too long, and the last one
# is told to stop. Ends with status 0 only if every step went as promised.
#
#   samples/election.sh
#
# TOLLGATE_URL says where the cluster is. Without it, a node runs for as long as this takes.
set -euo pipefail
program=election.Billing
# shellcheck source=samples/processes.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/processes.sh"

term=0
# Sets leader and term to those of the newest term, if it is a later one than before.
next_leader() {
  local newest
  newest=$(sed -n 's/^\([^ ]*\) leads under token \(.*\)/\2 \1/p' "$work"/*.out | sort -n | tail -n 1)
  [ -n "$newest" ] && [ "${newest% *}" -gt "$term" ] || return 1
  term=${newest% *}
  leader=${newest#* }
}
await_leader() {
  local before=$term
  await 30 "another leader" next_leader
  await 30 "an invoice of $leader" says "$leader" "sent an invoice under token $term"
  kept "$leader leads under token $term, higher than $before, and sends invoices"
}

title "Three candidates, and a table that only the leader can write to"
sql "CREATE SCHEMA IF NOT EXISTS election;
     DROP TABLE IF EXISTS election.invoice;
     CREATE TABLE election.invoice(id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, sent_by VARCHAR(10), term BIGINT)
       FENCED BY LOCK 'billing'" > /dev/null
for name in A B C; do start "$name"; done
await_leader

title "The leader is killed"
kill_hard "$leader"
show "kill -9 of $leader: its lease of 3 s is not renewed any more"
await_leader

title "The leader is paused: a long collection, a swapped-out machine"
paused=$leader
old=$term
kill -STOP "${pid[$paused]}"
show "kill -STOP of $paused"
await_leader

title "The paused process goes on, and finds out that its term is over"
kill -CONT "${pid[$paused]}"
await 30 "the end of $paused's term" says "$paused" "no longer leads under token $old"
kept "$paused has stopped and stands again, behind $leader"

title "The leader is told to stop"
stopped=$leader
kill -TERM "${pid[$stopped]}"
show "kill of $stopped, which resigns"
await_leader
[ "$leader" = "$paused" ] || fail "$leader leads, not $paused"

title "What the table says"
sql "SELECT term, sent_by, COUNT(*) AS invoices, MIN(id) AS first_id, MAX(id) AS last_id
     FROM election.invoice GROUP BY term, sent_by ORDER BY term" | while IFS= read -r line; do show "$line"; done
late=$(value "SELECT COUNT(*) FROM election.invoice a JOIN election.invoice b ON a.id < b.id AND a.term > b.term")
[ "$late" = 0 ] || fail "$late pairs of invoices are in the wrong order"
kept "no leader sent an invoice after the next leader had sent one"
