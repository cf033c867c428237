#!/bin/sh
# Runs holdfast. A password for PostgreSQL comes from a file, so that it is in nobody's environment or command.
set -eu
if [ -n "${HOLDFAST_PASSWORD_FILE:-}" ]; then
    PGPASSWORD=$(cat "$HOLDFAST_PASSWORD_FILE")
    export PGPASSWORD
fi
exec holdfast "$@"
