#!/bin/sh
# The request is JSON on standard input; what is printed is the answer.
sed -n 's/.*"description":"\([^"]*\)".*/\1/p' | tr '[:lower:]' '[:upper:]'
