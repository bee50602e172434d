// Package retrieval learns passages of text, and finds those that are about a question. It is a lexical search (BM25)
// over words as their language makes them: their forms count as one word, and compounds are found by their parts.
//
// Which words have parts says a list, a word in its basic form a line: with haut and ausschlag on it, "Ausschlag" finds "Hautausschlag". A word is taken apart only
// if parts of the list are all of it, but for the letters between and the ending: "Termin" finds no "Terminalserver".
// The filter dict_compound of bleve takes any part that it finds, so that terms are taken apart here, into a field of their own.
//
// What is learned has been validated by a person, or is refused (G-13). It is learned once for an effect id, and is on the
// disk when the request is answered. An index is open for as long as a request takes; who finds it in use by another waits a
// moment, and then says so.
package retrieval
