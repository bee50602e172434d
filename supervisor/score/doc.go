// Package score counts how well runs went, by what is on record: the measures M-49 to M-54 for each profile, and a row for each
// run (C-14). It is a projection: it decides nothing, and the same records give the same figures.
package score
