// Package smalldisk gives tests a file system of a few megabytes, to be filled.
package smalldisk
