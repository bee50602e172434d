#!/bin/sh
# The request is JSON on standard input; what is printed is the answer. The task's words
# are taken as they stand between their quotes and printed as JSON again, so that quotes,
# backslashes and line breaks survive: nothing is put together that a shell or printf reads.
LC_ALL=C exec awk '
{ request = request $0 "\n" }
END {
	if (!match(request, /"description"[ \t\r\n]*:[ \t\r\n]*"/)) {
		print "the request has no task with a description" > "/dev/stderr"
		exit 1
	}
	request = substr(request, RSTART + RLENGTH)
	printf "{\"text\":\""
	while (request !~ /^"/) {
		if (match(request, /^[^"\\]+/)) {              # words
			printf "%s", toupper(substr(request, 1, RLENGTH))
		} else if (match(request, /^\\u....|^\\./)) {  # an escape such as \" or \u00e9
			printf "%s", substr(request, 1, RLENGTH)
		} else {
			exit 1
		}
		request = substr(request, RLENGTH + 1)
	}
	print "\"}"
}'
