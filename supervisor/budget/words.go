package budget

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"podium/schemas"
	"podium/supervisor/phrase"
	"podium/supervisor/say"
)

// Tell is an amount in words, its parts that are more than 0, and of these only what a person is asked about when parts are given. It tells exactly what
// stands on record, so that amounts add up.
func Tell(amount, parts schemas.Usage, language *schemas.Language) string {
	var told []string
	all := parts == schemas.Usage{}
	fill := func(words, value string) string { return strings.ReplaceAll(words, "{amount}", value) }
	if all && amount.Tokens > 0 || parts.Tokens > 0 {
		told = append(told, fill(language.Texts.Tokens, strconv.FormatInt(amount.Tokens, 10)))
	}
	if all && amount.Milliseconds > 0 || parts.Milliseconds > 0 {
		told = append(told, say.Sentence(language, "seconds", "{amount}", fixed(amount.Milliseconds, 3, 0, language.Decimal)))
	}
	if all && amount.CostMicros > 0 || parts.CostMicros > 0 {
		told = append(told, fill(language.Texts.Cost, Money(amount.CostMicros, language.Decimal)))
	}
	return strings.Join(told, ", ")
}

// Reasons says whose budget is short, and of what.
func Reasons(short *schemas.Shortage) []schemas.Reason {
	whose := schemas.Because(schemas.BudgetOfRun)
	switch {
	case short.Agent != "" && short.Day != "":
		whose = schemas.Because(schemas.BudgetOfAgentDay, "agent", short.Agent, "day", short.Day)
	case short.Day != "":
		whose = schemas.Because(schemas.BudgetOfDay, "day", short.Day)
	case short.Agent != "":
		whose = schemas.Because(schemas.BudgetOfAgent, "agent", short.Agent)
	}
	reasons := []schemas.Reason{whose}
	because := func(code schemas.ReasonCode, amount func(schemas.Usage) string) {
		reasons = append(reasons, schemas.Because(code, "need", amount(short.Need), "limit", amount(short.Limit), "taken", amount(short.Taken)))
	}
	all := short.Offer == schemas.Usage{}
	if short.Offer.Tokens > 0 || all && short.Need.Tokens > 0 {
		because(schemas.BudgetTokens, func(of schemas.Usage) string { return strconv.FormatInt(of.Tokens, 10) })
	}
	if short.Offer.Milliseconds > 0 || all && short.Need.Milliseconds > 0 {
		because(schemas.BudgetSeconds, func(of schemas.Usage) string { return fixed(of.Milliseconds, 3, 0, ".") })
	}
	if short.Offer.CostMicros > 0 || all && short.Need.CostMicros > 0 {
		because(schemas.BudgetCost, func(of schemas.Usage) string { return Money(of.CostMicros, ".") })
	}
	return reasons
}

// Money is an amount of money as people write it, exactly, with at least two decimals.
func Money(micros int64, decimal string) string { return fixed(micros, 6, 2, decimal) }

// fixed is a number that counts the smallest of so many decimals, without zeros at its end beyond the least number of decimals.
func fixed(value int64, decimals, least int, decimal string) string {
	digits := strconv.FormatInt(value, 10)
	if missing := decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	whole, fraction := digits[:len(digits)-decimals], digits[len(digits)-decimals:]
	for len(fraction) > least && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	if fraction == "" {
		return whole
	}
	return whole + cmp.Or(decimal, ".") + fraction
}

// Read reads what somebody says who may raise a budget, in their first line that says anything: one of the words that reject, or one that raises, alone or
// with a number behind it. The number is of what is short: tokens, seconds, or money with at most six decimals; it is no amount where several are. An empty
// amount is the one that was offered. It reports false for anything else.
func Read(text string, short schemas.Usage, languages []schemas.Language) (choice schemas.InquiryChoice, amount schemas.Usage, decides bool) {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	const longest = 100 // bytes
	if len(line) > longest {
		return "", amount, false
	}
	word := phrase.Bare(line)
	says := func(words func(schemas.Language) []string, said string) bool {
		return said != "" && slices.ContainsFunc(languages, func(l schemas.Language) bool { return slices.Contains(words(l), said) })
	}
	raise := func(l schemas.Language) []string { return l.Raise }
	rejects, raises := says(func(l schemas.Language) []string { return l.Reject }, word), says(raise, word)
	fields, numbered := strings.Fields(line), strings.ContainsAny(line, "0123456789")
	switch {
	case rejects == raises || rejects && numbered:
		return "", amount, false
	case rejects:
		return schemas.ChoiceReject, amount, true
	case !numbered:
		return schemas.ChoiceRaise, amount, true
	case strings.ContainsAny(strings.Join(fields[:len(fields)-1], " "), "0123456789"):
		return "", amount, false
	}
	amount, decides = ReadAmount(strings.Trim(fields[len(fields)-1], `"'“”„.!`), short)
	if !decides {
		return "", amount, false
	}
	return schemas.ChoiceRaise, amount, true
}

// ReadAmount reads a number as an amount of the one part that is short. It reports false for what is no number above 0, and where several parts are short.
func ReadAmount(number string, short schemas.Usage) (schemas.Usage, bool) {
	var amount schemas.Usage
	var into *int64
	decimals, parts := 0, 0
	if short.Tokens > 0 {
		into, parts = &amount.Tokens, parts+1
	}
	if short.Milliseconds > 0 {
		into, parts, decimals = &amount.Milliseconds, parts+1, 3
	}
	if short.CostMicros > 0 {
		into, parts, decimals = &amount.CostMicros, parts+1, 6
	}
	if parts != 1 {
		return schemas.Usage{}, false
	}
	value, read := decimal(number, decimals)
	if !read || value <= 0 {
		return schemas.Usage{}, false
	}
	*into = value
	return amount, true
}

// decimal reads a number without a sign, and returns it times ten to the power of its most decimals.
func decimal(number string, decimals int) (int64, bool) {
	whole, fraction, split := strings.Cut(strings.ReplaceAll(number, ",", "."), ".")
	digits := func(text string) bool { return strings.Trim(text, "0123456789") == "" }
	if whole == "" || split && fraction == "" || len(fraction) > decimals || !digits(whole) || !digits(fraction) {
		return 0, false
	}
	value, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", decimals-len(fraction)), 10, 64)
	return value, err == nil && value <= schemas.MaxUsage
}
