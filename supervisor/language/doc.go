// Package language tells whether a text is in the language that it should be in: as a whole, and in each of its parts. It is
// pure, and computes with whole numbers alone, so that the same text is judged in the same way by every process, for ever.
package language
