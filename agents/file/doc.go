// Package file writes what has been worked out into files of one folder.
//
// The name of a file is a pattern, such as plans/{date}_{run}.md, and its ending says what is written: rows
// for .csv, JSON for .json, else text. A pattern with {file} takes the files that came along instead, each under its own name.
//
// A file that is there is never written to: another one gets a number. A file appears whole, and survives a loss of
// power once the request is answered. What was written for an effect id is never written again: a repeat, by another
// process or after kill -9 too, ends with the same files. What was begun is told in .podium inside of the folder.
//
// Nothing leaves the folder, whatever names and links say. Names have no separators, control characters or marks that turn the
// direction of writing, and no cell of a table is a formula, whichever sign is taken for the end of a cell.
package file
