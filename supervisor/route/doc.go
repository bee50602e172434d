// Package route decides which agent a text goes to and whether it asks for more
// than one step. It is pure: the same profile and the same text give the same
// answer, always, with every candidate and the reason why each loser lost.
//
// # Folding
//
// Keywords and texts are compared in one folded form, so that none of these
// makes a difference: case; composed or decomposed Unicode and compatibility
// forms (ligatures, full width); accents ("é" is "e"); the two spellings of
// umlauts and ligature letters ("ä", "ö", "ü", "ß", "æ", "œ", "ø" are "ae", "oe",
// "ue", "ss", "ae", "oe", "oe"); soft hyphens and other invisible characters; the
// shape of quotes; and how words are kept apart: any run of white space and
// hyphens is one space, unless it holds a blank line, which ends a paragraph.
//
// An umlaut is expanded and never stripped: "ü" is not "u". Stripping would need
// "ue" to become "u" as well, and then "fuel" would be a prefix of "full". The
// price: a writer who leaves out the dots is not understood unless the profile
// lists that spelling. Words in which the pair of letters is native ("Quelle")
// keep it in keyword and text alike. A prefix may end inside an expanded letter.
//
// # Words
//
// A word is a run of letters, marks, digits and underscores. The mode of a keyword
// says where in the words that it begins and ends in it counts:
//
//   - word: from the beginning of a word to the end of one;
//   - prefix: at the beginning of a word, which may go on: stems;
//   - suffix: at the end of a word;
//   - compound: as a whole word; at the end of one, behind three letters or more;
//     or at the beginning of one, before four letters or more. The other part may
//     hold linking letters and needs a vowel, if it is in Latin script. So "Termin"
//     is in "Arzttermin" and in "Terminkalender", not in "Terminal", and "Lager"
//     neither in "verlagert" nor in "Schlager". It is no dictionary: "terminieren"
//     needs an exception;
//   - substring: anywhere;
//   - near: as prefix, and where whoever has written it has left out one letter, put
//     one too many, taken another or swapped two. It needs seven letters: a slip in
//     a short word makes another word of it;
//   - regex: where an RE2 expression, folded alike, matches the folded text. Each
//     is a pass of its own over the text; all other keywords together are one.
//
// Exceptions are wordings, limited by words, in which the keyword does not count.
//
// # Choosing
//
// Routers are asked in order and the first that decides wins. A group whose only
// hits are shared words yields to any group that hit a word of its own. The rest
// is the router's mode; equal ranks and scores fall back to the configured order.
// If the profile has action verbs, the keywords in a request count before those in
// its material (see below): "summarize this: …" goes where "summarize" points,
// whatever the pasted text is about. Where the request holds no keyword, all count.
//
// # Asking
//
// Two kinds of router need answers that come by the bus. The decision is then in
// two halves: Need says what has to be asked, and DecideWith decides with what has
// come until the deadline. Who is silent hinders nobody.
//
// A router of kind score weighs, for every agent of the profile, what it says of
// itself and the share of the text's words that its description has as well; what
// counts as the same word is said at vocabulary.overlaps. Only an agent that declares
// the kind assess is asked. Any other says it by its capabilities: the highest score of
// those that have a keyword in the text, or nothing. A router of kind agent
// takes what an agent chooses out of the closed set of the profile's agents,
// RESPOND and FINISH. If its answer is late, not to be read or none of the set, it
// does not decide, the next router does, and the decision is degraded; so it is
// when somebody was asked and nobody has assessed itself.
//
// # Steps
//
// A text falls into clauses, at the ends of sentences, blank lines, list items,
// commas and the profile's separators. The first clause with an action verb is the
// first request, whatever comes before it. Another one is a request if it begins
// with its verb, follows a separator, or belongs to a question or to a sentence
// that begins with a separator. Each request begins a step; other clauses stay
// with the step before them. Nothing splits
//
//   - inside double quotes;
//   - after a colon that ends a request and is followed by words: they are its
//     material, to the end of the text (a formula is only an argument);
//   - from a paragraph on that does not begin with a verb: what a person pastes
//     or signs comes last;
//   - in a sentence that tells instead of asking: it follows a request, holds a
//     verb and begins with another word;
//   - between verbs that share one object ("find and compare the two").
//
// The order of the steps is the order of the text, so words that turn the order
// round ("after", "before") must not be separators. A mere comma behind a clause
// that opens with such a word does not split either; a comma and a separator do
// ("before you compare them, please find both" comes out in the wrong order).
// Polite words ("please") make good separators all the same: they let a sentence
// begin with its verb.
//
// # Long messages
//
// Of a message of more than MaxRead bytes the rules read the beginning and the end,
// with a blank line between them. The steps cover all of it.
package route
