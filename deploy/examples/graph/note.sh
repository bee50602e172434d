#!/bin/sh
# The request is JSON on standard input; what is printed is the answer. The task's words
# are taken as they stand between their quotes and printed as JSON again, so that quotes,
# backslashes and line breaks survive.
LC_ALL=C exec awk '
{ request = request $0 }
END {
	known = gsub(/"text":"/, "&", request)
	if (!match(request, /"description":"([^"\\]|\\.)*"/)) {
		print "the request has no task with a description" > "/dev/stderr"
		exit 1
	}
	said = substr(request, RSTART + 15, RLENGTH - 16)
	printf "{\"text\":\"%s: done, knowing %d results.\"}\n", said, known
}'
