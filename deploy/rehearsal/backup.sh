# The warehouse is copied, lost, restored, and answers as before.
# shellcheck shell=bash
as_iomine "cp -a warehouse backups/warehouse && iomine sql 'FROM findings ORDER BY ALL' --format csv > backups/before.csv"
as_iomine "rm -r warehouse/* && cp -a backups/warehouse/. warehouse"
as_iomine "iomine sql 'FROM findings ORDER BY ALL' --format csv | cmp - backups/before.csv"
findings=$(($(wc -l < "$SITE/backups/before.csv") - 1))
[ "$findings" -gt 0 ] || fail "there was nothing to compare"
say "all $findings findings are as they were"
