// Package text finds the words of a person in the parts of a mail: it turns
// pages into text, joins flowed lines (RFC 3676), and tells what is new from
// what is quoted, what a program has added, and what a page hides.
//
// Together the new, the quoted and the added words are the whole text: nothing
// is lost and nothing made up. The work grows with nothing but the size of the
// text. The words by which programs announce quotations are files, one for each
// language, and a deployment may add its own.
package text
