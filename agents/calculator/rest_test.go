package calculator_test

import (
	"errors"
	"strings"
	"testing"

	"podium/bus/agent"
)

// TestPartOfACalculationIsNoAnswer: what is not understood beside a formula is named, and no part of it is worked out.
func TestPartOfACalculationIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"17 * 23 ⁄ 0", "17 * 23 ∕ 0", "17 * 23 ÷ 0", "17 * 23 ／ 0", "17 * 23 ➗ 0", "17 * 23 ∶ 0", "17 * 23 ⧸ 0", "17 * 23 : 0", "17 * 23 durch null",
		"17 * 23 divided by zero", "17 * 23 over 0", "17 * 23 \\ 0", "17 * 23 // 0", "17 * 23 | 2", "17 * 23 & 2", "17 * 23 — 2", "17 * 23 ≤ 2", "17 * 23 < 2",
		"17 * 23 ± 2", "17 * 23½", "17 * 23‰", "17 * 23 × zwei", "17 * 23 х 0", "17 * 23\u200b4", "17 * 23\u2062 4", "17 * 23 squared", "17 * 23 Quadrat",
		"2 * 10 000", "2 * 10\u2009000", "1 234 * 2", "2 * 3(4 + 5)", "2 * 3 (4 + 5)", "2 * 3 pi", "2 * 3pi", "2 * 3 sqrt(4)", "(1 + 2)3", "2 + 3 kg * 4",
		"2 + 3 € * 4", "2 + 3 people - 4", "2 * 5! + 3", "3 + 4) * 2", "√16 + 2", "sqrt 16 + 2", "Wurzel aus 16 + 2", "square root of 16 + 2", "∛27 + 2", "2½ + 3 * 4",
		"|3 - 5| * 2", "2 * 3１", "17 * 23 ⊘ 4", "17 * 23 ÷", "17 * 23 mod", "17 * 23 hoch zwei", "17 * 23 minus drei", "2 * 3 4", "2 * 10⁻⁻",
		strings.Repeat("word ", 6552) + "17 * 23 / 1", // it is cut off behind 23
	} {
		_, err := newAgent(t).Handle(t.Context(), requestWith("en", "", words, ""), ignore)
		failure, is := errors.AsType[*agent.Failure](err)
		if !is || !failure.Permanent {
			t.Errorf("%.40q: %v", words, err)
		}
	}
}

// TestSignsThatLookLikeOperators: signs that look like an operator are one, in words and in a formula; raised digits
// are an exponent.
func TestSignsThatLookLikeOperators(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"18 ⁄ 2": "9", "18 ／ 2": "9", "18 ➗ 2": "9", "18 ∶ 2": "9", "3 ✕ 4": "12", "3 ✖ 4": "12", "3 ＊ 4": "12", "3 ⨯ 4": "12", "3 ＋ 4": "7", "3 ➕ 4": "7",
		"3 － 4": "-1", "3 ‒ 4": "-1", "3 ➖ 4": "-1", "2 ＾ 3": "8", "2 * 10⁴": "20000", "3 * 10⁻²": "0.03", "1 + 10¹²": "1000000000001", "（1 + 2） * 3": "9",
		"18 dividiert durch 2": "9",
		// What follows is no part of it.
		"2 + 2!": "4", "Is 2 + 2 = 5?": "4", "2 + 3 € please": "5", "2 + 3 km/h": "5", "2 + 3 (quickly, please)": "5", "2 + 3. 5 people wait.": "5",
		"3 * 4\n2024": "12", "1) 3 * 4": "12", "the sum 3 + 4": "7", "\"2 + 3\", they said": "5",
	} {
		if got, _ := value(t, requestWith("en", "", words, "")); got != want {
			t.Errorf("%q is %s, want %s", words, got, want)
		}
	}
}
