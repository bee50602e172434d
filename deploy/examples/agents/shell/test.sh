#!/bin/sh
# Holds clerk.sh to what it is for, by requests on its standard input.
set -eu
cd "$(dirname "$0")"

ask() {
	printf '{"payload": {"tasks": [{"description": "%s", "context": {}}]}}' "$1" | ./clerk.sh 2>/dev/null
}

answer=$(ask "shout hooray")
if [ "$answer" != "SHOUT HOORAY" ]; then
	echo "it answers: $answer" >&2
	exit 1
fi
if answer=$(ask "2 + 2"); then
	echo "there is nothing to write, and it answers: $answer" >&2
	exit 1
fi
echo ok
