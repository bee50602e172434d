// Package runfiles lists the files that a run has made, and writes them into a directory, or with other things into an archive.
package runfiles
