package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// weeksAhead is by how many weeks the day is moved, so that it is the next Monday and what it says of days to come holds.
func weeksAhead(t *testing.T, now time.Time) int {
	t.Helper()
	first, err := time.ParseInLocation(time.DateOnly, firstDay, now.Location())
	if err != nil {
		t.Fatal(err)
	}
	weeks := 0
	for ; !first.After(now); first = first.AddDate(0, 0, 7) {
		weeks++
	}
	for ; first.After(now.AddDate(0, 0, 7)); first = first.AddDate(0, 0, -7) {
		weeks--
	}
	return weeks
}

var (
	writtenDay   = regexp.MustCompile(`\b(\d{1,2})\.(\s?)(\d{1,2})\.(\d{4})?`)
	writtenMonth = regexp.MustCompile(`\b(\d{1,2})\. (Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b`)
	writtenWeek  = regexp.MustCompile(`\bKW (\d{1,2})\b`)
)

// shifted is a text whose days from 2026 on are so many weeks later: their days of the week stay.
func shifted(text string, weeks int) string {
	months := []string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
	text = writtenDay.ReplaceAllStringFunc(text, func(found string) string {
		parts := writtenDay.FindStringSubmatch(found)
		moved, ok := dayOf(parts[1], parts[3], parts[4], weeks)
		if !ok {
			return found
		}
		made := pad(parts[1], moved.Day()) + "." + parts[2] + pad(parts[3], int(moved.Month())) + "."
		if parts[4] != "" {
			made += strconv.Itoa(moved.Year())
		}
		return made
	})
	text = writtenMonth.ReplaceAllStringFunc(text, func(found string) string {
		parts := writtenMonth.FindStringSubmatch(found)
		moved, ok := dayOf(parts[1], strconv.Itoa(slices.Index(months, parts[2])+1), "", weeks)
		if !ok {
			return found
		}
		return strconv.Itoa(moved.Day()) + ". " + months[moved.Month()-1]
	})
	return writtenWeek.ReplaceAllStringFunc(text, func(found string) string {
		week, _ := strconv.Atoi(strings.TrimPrefix(found, "KW "))
		_, moved := time.Date(2026, 1, 1+7*(week-1+weeks), 0, 0, 0, 0, time.UTC).ISOWeek()
		return "KW " + strconv.Itoa(moved)
	})
}

// dayOf reads a day of the messages; one of an earlier year is a birthday, or no day.
func dayOf(day, month, year string, weeks int) (moved time.Time, ok bool) {
	d, _ := strconv.Atoi(day)
	m, _ := strconv.Atoi(month)
	y, _ := strconv.Atoi(year)
	if year == "" {
		if y = 2026; m < 6 {
			y = 2027
		}
	}
	read := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return read.AddDate(0, 0, 7*weeks), y >= 2026 && read.Day() == d && int(read.Month()) == m
}

func pad(as string, number int) string {
	if strings.HasPrefix(as, "0") {
		return fmt.Sprintf("%02d", number)
	}
	return strconv.Itoa(number)
}

// shiftedDay moves a day as records write it.
func shiftedDay(day string, weeks int) string {
	read, err := time.Parse(time.DateOnly, day)
	if err != nil || read.Year() < 2026 {
		return day
	}
	return read.AddDate(0, 0, 7*weeks).Format(time.DateOnly)
}

// shiftedMessages are those of the day, so many weeks later. What they say of today and tomorrow is meant as from today.
func shiftedMessages(t *testing.T, weeks int, today time.Time) []dayMessage {
	t.Helper()
	messages := readDay(t)
	for i := range messages {
		m := &messages[i]
		m.Subject, m.Text, m.Quoted = shifted(m.Subject, weeks), shifted(m.Text, weeks), shifted(m.Quoted, weeks)
		for name, value := range m.Expect.Arguments {
			if text, is := value.(string); is {
				switch {
				case text == firstDay && strings.Contains(m.Text, "heute"):
					text = today.AddDate(0, 0, -7*weeks).Format(time.DateOnly)
				case text == "2026-12-01" && strings.Contains(m.Text, "morgen"):
					text = today.AddDate(0, 0, 1-7*weeks).Format(time.DateOnly)
				}
				m.Expect.Arguments[name] = shiftedDay(text, weeks)
			}
		}
	}
	return messages
}

// TestPracticeDayInAnotherWeek: the day is understood alike in any other week, of another month or year too, so that it can be played whenever
// the tests run.
func TestPracticeDayInAnotherWeek(t *testing.T) {
	t.Parallel()
	practice := newDay(t)
	first, err := time.ParseInLocation(time.DateOnly, firstDay, practice.berlin)
	if err != nil {
		t.Fatal(err)
	}
	for _, weeks := range []int{5, 57} {
		today := first.AddDate(0, 0, 7*weeks-3).Add(11 * time.Hour)
		if ahead := weeksAhead(t, today); ahead != weeks {
			t.Errorf("%d weeks ahead, not %d", ahead, weeks)
		}
		messages, before, score := shiftedMessages(t, weeks, today), map[string]*dealt{}, dayScore{byAgent: map[string][4]int{}}
		for i := range messages {
			made := practice.deal(t, &messages[i], before[messages[i].Thread], today)
			before[messages[i].ID] = &made
			score.add(t, &messages[i], &made)
		}
		if text := strings.Join(score.misses, "\n") + "\n"; text != heldMisses(t) {
			t.Errorf("%d weeks later:\n%s", weeks, text)
		}
	}
}
