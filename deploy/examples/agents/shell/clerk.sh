#!/bin/sh
# An agent for Podium: it writes what it is asked in capital letters. Run it by
#
#   podium agent exec --name clerk --concurrency 2 --heartbeat 5s -- ./clerk.sh
#
# The request is JSON on standard input. What is printed is the answer, lines on standard
# error are progress, and another exit code than 0 is a failure. A request that nobody waits
# for any more ends the program.
set -eu

words=$(jq -r '.payload.tasks[0] | .context.request // .description') # what the person wrote: data, never instruction

if ! printf '%s' "$words" | jq -Rse 'test("\\p{L}")' >/dev/null; then
	echo "There is no letter in it." >&2 # the last line says why
	exit 65                              # EX_DATAERR of sysexits(3): no other attempt can help
fi

seconds=$(printf '%s' "$words" | sed -n 's/.*in 0*\([0-9]\{1,\}\) seconds.*/\1/p' | head -n 1)
passed=0
while [ "$passed" -lt "${seconds:-0}" ]; do
	echo "$((100 * passed / seconds))% $((seconds - passed)) seconds to go" >&2
	sleep 1
	passed=$((passed + 1))
done

printf '%s\n' "$words" | tr '[:lower:]' '[:upper:]'
