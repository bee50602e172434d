// Command summary is an example of an agent that knows nothing of Podium: it
// reads an execution_request on standard input and prints the most telling
// sentences of the text in it.
//
//	podium agent exec --name summary -- summary -sentences 2
package main

import (
	"os"

	"podium/deploy/examples/summary/summarize"
)

func main() {
	os.Exit(summarize.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
