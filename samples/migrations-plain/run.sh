#!/usr/bin/env bash
# Runs the scripts of this folder on Tollgate, once each, and shows the history.
#
#   samples/migrations-plain/run.sh
#
# TOLLGATE_URL says where the cluster is. Without it, a node runs for as long as this takes.
set -euo pipefail

here=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
home=$(dirname "$(dirname "$here")")
if [ -z "${TOLLGATE_URL:-}" ]; then
  exec "$home/samples/with-node.sh" "$here/run.sh"
fi

tollgate() { "$home/replica/bin/tollgate" "$@"; }
title() { printf '\n== %s\n' "$1"; }

export TOLLGATE_MIGRATIONS="$here/scripts"
title "What there is to do"
tollgate migrate --dry-run
title "Two runs at once: one does it, and the other waits and finds nothing to do"
tollgate migrate &
other=$!
tollgate migrate
wait $other
title "The history"
tollgate migrate info
title "What the scripts made"
tollgate sql -u "$TOLLGATE_URL" -e "SELECT * FROM large_city ORDER BY people DESC"
