// Package runfiles lists the files that a run has made, and writes them into a directory.
package runfiles
