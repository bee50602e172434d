// Package script reads the file of an agent of kind scripted: what it answers to what, and the files that come with
// its answers.
package script
