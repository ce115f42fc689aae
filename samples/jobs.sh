#!/usr/bin/env bash
# A job queue with four workers, of which two work at a time. One is killed in the middle of a job. Ends with status
# 0 only if every job was done exactly once, and never more than two at a time.
#
#   samples/jobs.sh
#
# TOLLGATE_URL says where the cluster is. Without it, a node runs for as long as this takes.
set -euo pipefail
program=jobs.JobWorker
# shellcheck source=samples/processes.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/processes.sh"

jobs=20

title "A queue of $jobs jobs, and two permits"
sql "CREATE SCHEMA IF NOT EXISTS jobs;
     DROP TABLE IF EXISTS jobs.job;
     DROP TABLE IF EXISTS jobs.result;
     CREATE LOCK IF NOT EXISTS 'jobs.workers' PERMITS 2;
     CREATE TABLE jobs.job(id BIGINT PRIMARY KEY, token BIGINT, begun TIMESTAMP);
     CREATE TABLE jobs.result(job_id BIGINT PRIMARY KEY, done_by VARCHAR(10), token BIGINT,
       begun TIMESTAMP, done TIMESTAMP DEFAULT CURRENT_TIMESTAMP) FENCED BY LOCK 'jobs.workers';
     INSERT INTO jobs.job(id) SELECT x FROM SYSTEM_RANGE(1, $jobs)" > /dev/null
for name in A B C D; do start "$name"; done

# Stops a worker while it works at a job; victim and job say which.
stop_in_a_job() {
  local last
  for victim in A B C D; do
    kill -STOP "${pid[$victim]}"
    last=$(tail -n 1 "$work/$victim.out")
    case "$last" in
      "$victim takes job "*)
        job=${last##* }
        return 0
        ;;
    esac
    kill -CONT "${pid[$victim]}"
  done
  return 1
}
taken_over() { grep -l "takes job $job\$" "$work"/*.out | grep -qv "/$victim.out"; }

title "A worker is killed in the middle of a job"
await 30 "a worker at work" stop_in_a_job
kill_hard "$victim"
show "kill -9 of $victim, which was at job $job. Its permit is free when its lease of 3 s has expired"
await 30 "another worker takes job $job" taken_over
kept "job $job was free again, and another worker took it"

title "The workers that are left empty the queue"
for name in A B C D; do
  [ "$name" = "$victim" ] || wait "${pid[$name]}" || fail "worker $name has failed"
done
sql "SELECT done_by, token, COUNT(*) AS jobs FROM jobs.result GROUP BY done_by, token ORDER BY token" \
  | while IFS= read -r line; do show "$line"; done
# how many jobs are left, how many results there are, and at most how many jobs were under way at a time
verdict=$(value "SELECT (SELECT COUNT(*) FROM jobs.job) || '/' || (SELECT COUNT(*) FROM jobs.result) || '/' ||
  (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM jobs.result a JOIN jobs.result b
     ON b.begun <= a.begun AND a.begun < b.done GROUP BY a.job_id))")
case "$verdict" in
  "0/$jobs/1" | "0/$jobs/2") kept "each of $jobs jobs has one result, and never more than two were under way" ;;
  *) fail "jobs left / results / jobs at a time: $verdict" ;;
esac
