// Package arguments fills the arguments of a task from what is at hand, or says what has to be
// asked. It is pure: the same things at hand give the same values, always.
//
//	Compile(spec, schema)  what a profile pins for an agent, ready to fill
//	Filler.Fill(given)     the values, whence each is, and what is missing
//
// # The order
//
// For each place of the schema, the first that has a value wins: what was given with the
// task, an object written in the new words, the rules of the profile in their order, the data
// of an extractor. What the schema requires and nothing has said is missing, and is asked.
// Nothing is ever read from quoted text: the caller hands in new words only.
//
// # Asking instead of guessing
//
// Whatever has two readings is asked, optional or not: two dates where one is wanted,
// two different choices, a time that may be in the morning or in the evening, 1.234 where a point groups thousands.
// An effect that nobody meant costs more than a question. So a default never chooses an effect
// either: it must be listed as harmless. What a rule finds behind a negation ("don't cancel")
// does not count.
//
// # Understanding
//
// A rule may want the message understood, or the sentence of its keywords: each word, number and
// mark of it was read by a rule, belongs to a letter as such (whom it greets, who signs), or changes
// nothing, by the language or the profile. Words of doubt, two negations in a clause, and a question
// that asks for an answer only are not understood. Then all that was read there is asked about,
// with what was read.
//
// For what a pattern takes, and where people write letters, a rule may want the intent understood: the
// sentence that names it word by word, a clause that asks for it, and no other sentence that takes it back.
//
// With whole, the other sentences are understood word by word as well: only what is taken as it was written
// may say anything, up to the end of its sentence.
//
// # What is read
//
// Rules read the first 32 KiB of the words; whoever writes more pastes material. Whole words and
// objects are taken from all of them. Dates count from the moment of the cause, in the location
// that the caller passes. A language is a file in languages; no Go file knows one.
package arguments
