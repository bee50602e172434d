package diagnostic

import (
	"fmt"
	"slices"
	"strings"
)

// nearest returns the candidate that a mistyped word most likely means, or "".
func nearest(word string, candidates []string) string {
	best, distance := "", max(2, len([]rune(word))/3)+1
	for _, candidate := range slices.Sorted(slices.Values(candidates)) {
		if d := levenshtein(strings.ToLower(word), strings.ToLower(candidate)); d < distance && d < len([]rune(candidate)) {
			best, distance = candidate, d
		}
	}
	return best
}

// Suggest completes a message about a word that is not one of the candidates.
func Suggest(message, word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return fmt.Sprintf("%s; did you mean %q?", message, near)
	}
	if len(candidates) == 0 {
		return message
	}
	return message + "; it can be: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}

// levenshtein counts the characters to insert, delete or replace between two words.
func levenshtein(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			replace := diagonal
			if r != s {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
