package mime_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"podium/ingest/mime"
	"podium/ingest/mime/defect"
	"podium/schemas"
)

// praxisZone is a zone that no database has, with the rules of central Europe.
var praxisZone = []string{
	"BEGIN:VTIMEZONE", "TZID:Customized Time Zone",
	"BEGIN:STANDARD", "DTSTART:16010101T030000", "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10", "END:STANDARD",
	"BEGIN:DAYLIGHT", "DTSTART:16010101T020000", "TZOFFSETFROM:+0100", "TZOFFSETTO:+0200", "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3", "END:DAYLIGHT",
	"END:VTIMEZONE",
}

// TestInvitationTimes: start and end are stated as the invitation means them, whatever form they are in, and what cannot be
// read is named.
func TestInvitationTimes(t *testing.T) {
	t.Parallel()
	const berlin, start = "Europe/Berlin", "DTSTART;TZID=Europe/Berlin:20261125T090000"
	for name, c := range map[string]struct {
		lines    []string
		want     schemas.CalendarEntry
		problems []string
	}{
		"an end in UTC by name": {
			[]string{"DTSTART;TZID=Asia/Almaty:20261125T130000", "DTEND;TZID=UTC:20261125T090000"},
			schemas.CalendarEntry{Start: "2026-11-25T13:00:00", Zone: "Asia/Almaty", End: "2026-11-25T09:00:00Z"},
			nil,
		},
		"an end in UTC": {[]string{start, "DTEND:20261125T090000Z"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T09:00:00Z"}, nil},
		"an end in another zone": {
			[]string{start, "DTEND;TZID=America/New_York:20261125T060000"},
			schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T06:00:00", EndZone: "America/New_York"},
			nil,
		},
		"an end without a zone":   {[]string{start, "DTEND:20261125T100000"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T10:00:00"}, nil},
		"a start in UTC and zone": {[]string{"DTSTART;TZID=Europe/Berlin:20261125T090000Z", "DTEND;TZID=Europe/Berlin:20261125T110000"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00Z", End: "2026-11-25T11:00:00", EndZone: berlin}, nil},
		"floating":                {[]string{"DTSTART:20261125T090000", "DTEND:20261125T100000"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", End: "2026-11-25T10:00:00"}, nil},
		"no end":                  {[]string{start}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T09:00:00"}, nil},
		"a day without an end":    {[]string{"DTSTART;VALUE=DATE:20261231"}, schemas.CalendarEntry{Start: "2026-12-31", End: "2027-01-01"}, nil},
		"several days":            {[]string{"DTSTART;VALUE=DATE:20261125", "DTEND;VALUE=DATE:20261128"}, schemas.CalendarEntry{Start: "2026-11-25", End: "2026-11-28"}, nil},

		"a duration":                       {[]string{start, "DURATION:PT1H30M"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T10:30:00"}, nil},
		"a duration before the start":      {[]string{"DURATION:PT1H30M", start}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T10:30:00"}, nil},
		"weeks":                            {[]string{start, "DURATION:P2W"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-12-09T09:00:00"}, nil},
		"days, in small letters":           {[]string{"dtstart;value=date:20261125", "duration:p3d"}, schemas.CalendarEntry{Start: "2026-11-25", End: "2026-11-28"}, nil},
		"days and time":                    {[]string{"DTSTART:20261125T090000Z", "DURATION:P1DT2H3M4S"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00Z", End: "2026-11-26T11:03:04Z"}, nil},
		"hours over a change of the clock": {[]string{"DTSTART;TZID=Europe/Berlin:20261024T200000", "DURATION:PT12H"}, schemas.CalendarEntry{Start: "2026-10-24T20:00:00", Zone: berlin, End: "2026-10-25T07:00:00"}, nil},
		"a day over a change of the clock": {[]string{"DTSTART;TZID=Europe/Berlin:20261024T200000", "DURATION:P1D"}, schemas.CalendarEntry{Start: "2026-10-24T20:00:00", Zone: berlin, End: "2026-10-25T20:00:00"}, nil},
		"an end and a duration":            {[]string{start, "DURATION:PT3H", "DTEND;TZID=Europe/Berlin:20261125T100000"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T10:00:00"}, nil},
		"a day and 24 hours":               {[]string{"DTSTART;VALUE=DATE:20261125", "DURATION:PT24H"}, schemas.CalendarEntry{Start: "2026-11-25", End: "2026-11-26"}, nil},

		"less than nothing":    {[]string{start, "DURATION:-PT1H"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin}, []string{defect.InvitationTime}},
		"a day and an hour":    {[]string{"DTSTART;VALUE=DATE:20261125", "DURATION:PT1H"}, schemas.CalendarEntry{Start: "2026-11-25"}, []string{defect.InvitationTime}},
		"no duration":          {[]string{start, "DURATION:long"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin}, []string{defect.InvitationTime}},
		"nothing but P":        {[]string{start, "DURATION:P"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin}, []string{defect.InvitationTime}},
		"a century":            {[]string{start, "DURATION:P99999W"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin}, []string{defect.InvitationTime}},
		"unreadable":           {[]string{"DTSTART:2026-11-25T09:00:00Z", "DTEND:20261125T250000Z"}, schemas.CalendarEntry{}, []string{defect.InvitationTime}},
		"a duration of none":   {[]string{"DTSTART:soon", "DURATION:PT1H"}, schemas.CalendarEntry{}, []string{defect.InvitationTime}},
		"it ends before":       {[]string{start, "DTEND;TZID=Europe/Berlin:20261125T080000"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T08:00:00"}, []string{defect.InvitationEnds}},
		"it ends before, zone": {[]string{start, "DTEND:20261125T073000Z"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T07:30:00Z"}, []string{defect.InvitationEnds}},

		"a zone of Windows":     {[]string{`DTSTART;TZID="W. Europe Standard Time":20261125T090000`, "DURATION:PT1H"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T10:00:00"}, nil},
		"a zone of Outlook":     {[]string{"DTSTART;TZID=(UTC+01:00) Amsterdam, Berlin:20261125T090000", "DURATION:PT1H"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: "Europe/Amsterdam", End: "2026-11-25T10:00:00"}, nil},
		"a zone that is folded": {[]string{"DTSTART;TZID=Europe/Ber", " lin:20261125T0900", "\t00", "DURATION:PT1H"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: berlin, End: "2026-11-25T10:00:00"}, nil},
		"an offset":             {[]string{"DTSTART;TZID=GMT+0100:20261125T090000", "DURATION:PT1H"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00+01:00", Zone: "GMT+0100", End: "2026-11-25T10:00:00+01:00"}, nil},
		"a zone of its own": {
			[]string{"DTSTART;TZID=Customized Time Zone:20260725T090000", "DTEND;TZID=Customized Time Zone:20261125T100000"},
			schemas.CalendarEntry{Start: "2026-07-25T09:00:00+02:00", Zone: "Customized Time Zone", End: "2026-11-25T10:00:00+01:00"},
			nil,
		},
		"an unknown zone": {[]string{"DTSTART;TZID=Nowhere:20261125T090000", "DURATION:PT1H"}, schemas.CalendarEntry{Start: "2026-11-25T09:00:00", Zone: "Nowhere", End: "2026-11-25T10:00:00"}, []string{defect.InvitationZone}},
	} {
		lines := slices.Concat([]string{"BEGIN:VCALENDAR", "METHOD:REQUEST"}, praxisZone, []string{"BEGIN:VEVENT"}, c.lines, []string{"END:VEVENT", "END:VCALENDAR"})
		mail := parseWith(t, attached("text/calendar", crlf(lines...)), mime.Options{})
		c.want.Method = "REQUEST"
		if len(mail.Calendar) != 1 || !reflect.DeepEqual(mail.Calendar[0], c.want) || !slices.Equal(mail.Problems, c.problems) {
			t.Errorf("%s:\n%+v\nwant\n%+v\n%v", name, mail.Calendar, c.want, mail.Problems)
		}
		validEvent(t, name, mail)
	}
}

// TestInvitationSeries: a series, and an entry that is about one occurrence of it, are told from a single event.
func TestInvitationSeries(t *testing.T) {
	t.Parallel()
	event := func(lines ...string) []string {
		return slices.Concat([]string{"BEGIN:VEVENT", "UID:1", "DTSTART;TZID=Europe/Berlin:20261102T090000", "DURATION:PT15M"}, lines, []string{"END:VEVENT"})
	}
	calendar := func(method string, events ...[]string) string {
		lines := slices.Concat(append([][]string{{"BEGIN:VCALENDAR", "METHOD:" + method}}, events...)...)
		return crlf(append(lines, "END:VCALENDAR", "")...)
	}
	base := schemas.CalendarEntry{UID: "1", Start: "2026-11-02T09:00:00", End: "2026-11-02T09:15:00", Zone: "Europe/Berlin"}
	entry := func(change func(*schemas.CalendarEntry)) schemas.CalendarEntry {
		one := base
		change(&one)
		return one
	}
	rules := []string{"RRULE:FREQ=WEEKLY;COUNT=10", "EXDATE;TZID=Europe/Berlin:20261109T090000", "RDATE;VALUE=DATE:20261224"}
	many := slices.Repeat([]string{"RDATE:20261224T090000Z"}, 200)
	for name, c := range map[string]struct {
		text     string
		want     []schemas.CalendarEntry
		problems []string
	}{
		"a series": {calendar("REQUEST", event(rules...)), []schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method, e.Recurrence = "REQUEST", rules })}, nil},
		"a series and one that is moved": {
			calendar("REQUEST", event(rules[0]), event("RECURRENCE-ID;TZID=Europe/Berlin:20261116T090000")),
			[]schemas.CalendarEntry{
				entry(func(e *schemas.CalendarEntry) { e.Method, e.Recurrence = "REQUEST", rules[:1] }),
				entry(func(e *schemas.CalendarEntry) { e.Method, e.RecurrenceID = "REQUEST", "2026-11-16T09:00:00" }),
			},
			nil,
		},
		"one that is cancelled": {
			calendar("CANCEL", event("STATUS:cancelled", "RECURRENCE-ID;TZID=Europe/Berlin:20261116T090000")),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) {
				e.Method, e.Status, e.RecurrenceID = "CANCEL", "CANCELLED", "2026-11-16T09:00:00"
			})},
			nil,
		},
		"one and all later ones": {
			calendar("CANCEL", event("RECURRENCE-ID;RANGE=THISANDFUTURE:20261116T080000Z")),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) {
				e.Method, e.RecurrenceID, e.RecurrenceRange = "CANCEL", "2026-11-16T08:00:00Z", "THISANDFUTURE"
			})},
			nil,
		},
		"one in another zone": {
			calendar("REQUEST", event("RECURRENCE-ID;TZID=America/New_York:20261116T030000")),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method, e.RecurrenceID = "REQUEST", "2026-11-16T08:00:00Z" })},
			nil,
		},
		"one of days": {
			calendar("REQUEST", event("RECURRENCE-ID;VALUE=DATE:20261116")),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method, e.RecurrenceID = "REQUEST", "2026-11-16" })},
			nil,
		},
		"an answer for one": {
			calendar("REPLY", event("RECURRENCE-ID;TZID=Europe/Berlin:20261116T090000", "ATTENDEE;CN=Ann;PARTSTAT=declined:mailto:a@b.c")),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) {
				e.Method, e.Answer, e.RecurrenceID = "REPLY", "DECLINED", "2026-11-16T09:00:00"
			})},
			nil,
		},
		"what the sender knows of others": {
			calendar("REQUEST", event("ATTENDEE;PARTSTAT=ACCEPTED:mailto:a@b.c")),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method = "REQUEST" })},
			nil,
		},
		"rules without an end": {calendar("REQUEST", event(many...)), []schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method, e.Recurrence = "REQUEST", many[:100] })}, []string{defect.InvitationSeries}},
		"two objects": {
			calendar("REQUEST", event()) + calendar("CANCEL", event()),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method = "REQUEST" }), entry(func(e *schemas.CalendarEntry) { e.Method = "CANCEL" })},
			nil,
		},
		"the same twice": {calendar("REQUEST", event()) + calendar("REQUEST", event()), []schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method = "REQUEST" })}, nil},
		"cut off": {
			strings.TrimSuffix(calendar("REQUEST", []string{"BEGIN:VEVENT", "UID:1", "DTSTART;TZID=Europe/Berlin:20261102T090000"}), "END:VCALENDAR\r\n"),
			[]schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method, e.End = "REQUEST", "" })},
			[]string{defect.InvitationCut},
		},
		"cut off in a line":      {"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTA", []schemas.CalendarEntry{{Method: "REQUEST", UID: "1"}}, []string{defect.InvitationCut}},
		"cut off before the end": {strings.TrimSuffix(calendar("CANCEL", event()), "END:VCALENDAR\r\n"), []schemas.CalendarEntry{entry(func(e *schemas.CalendarEntry) { e.Method = "CANCEL" })}, []string{defect.InvitationCut}},
	} {
		mail := parseWith(t, attached("application/octet-stream; name=invite.ICS", c.text), mime.Options{})
		if !reflect.DeepEqual(mail.Calendar, c.want) || !slices.Equal(mail.Problems, c.problems) {
			t.Errorf("%s:\n%+v\nwant\n%+v\n%v", name, mail.Calendar, c.want, mail.Problems)
		}
		validEvent(t, name, mail)
	}
}

// TestCalendarReplyIsNoRequest: what a calendar program sends when a person answers an invitation starts no work; with words of
// the person, or another file, it is a mail like any other.
func TestCalendarReplyIsNoRequest(t *testing.T) {
	t.Parallel()
	reply := func(method, words string, further ...string) string {
		return crlf(slices.Concat([]string{
			"From: Ann <a@b.c>", "Subject: Accepted: Stand-up", "Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/plain", "", words,
			"--b", "Content-Type: text/calendar; method=" + method, "", "BEGIN:VCALENDAR", "METHOD:" + method, "BEGIN:VEVENT", "UID:1",
			"ATTENDEE;PARTSTAT=ACCEPTED:mailto:a@b.c", "DTSTART:20261102T090000Z", "END:VEVENT", "END:VCALENDAR",
		}, further, []string{"--b--", ""})...)
	}
	for name, c := range map[string]struct {
		raw   string
		class schemas.MailClass
		text  string
	}{
		"REPLY":                    {reply("REPLY", ""), schemas.MailAutoReply, ""},
		"REPLY with blanks":        {reply("REPLY", " \r\n\t"), schemas.MailAutoReply, ""},
		"REPLY above a quotation":  {reply("REPLY", "> Stand-up on Monday"), schemas.MailHuman, "> Stand-up on Monday"},
		"COUNTER":                  {reply("COUNTER", ""), schemas.MailAutoReply, ""},
		"REFRESH":                  {reply("REFRESH", ""), schemas.MailAutoReply, ""},
		"DECLINECOUNTER":           {reply("DECLINECOUNTER", ""), schemas.MailAutoReply, ""},
		"REPLY with words":         {reply("REPLY", "I am ten minutes late."), schemas.MailHuman, "I am ten minutes late."},
		"REPLY beside No":          {reply("REPLY", "No"), schemas.MailHuman, "No"},
		"COUNTER with words":       {reply("COUNTER", "Could we meet later?"), schemas.MailHuman, "Could we meet later?"},
		"REPLY with a file":        {reply("REPLY", "", "--b", "Content-Type: application/pdf; name=a.pdf", "", "%PDF-1.7"), schemas.MailHuman, ""},
		"an invitation":            {reply("REQUEST", ""), schemas.MailHuman, ""},
		"a cancellation":           {reply("CANCEL", ""), schemas.MailHuman, ""},
		"REPLY and an invitation":  {reply("REPLY", "", "--b", "Content-Type: text/calendar", "", "BEGIN:VCALENDAR", "METHOD:REQUEST", "BEGIN:VEVENT", "UID:2", "END:VEVENT", "END:VCALENDAR"), schemas.MailHuman, ""},
		"REPLY as the mail itself": {crlf("From: a@b.c", "Content-Type: text/calendar; method=REPLY", "", "BEGIN:VCALENDAR", "METHOD:REPLY", "BEGIN:VEVENT", "UID:1", "END:VEVENT", "END:VCALENDAR"), schemas.MailAutoReply, ""},
	} {
		mail := parseWith(t, c.raw, mime.Options{})
		is := slices.Contains(mail.Signals, "calendar-reply")
		if mail.Class != c.class || mail.Text != c.text || is != (c.class == schemas.MailAutoReply) || len(mail.Calendar) == 0 {
			t.Errorf("%s: %s %v %q %+v", name, mail.Class, mail.Signals, mail.Text, mail.Calendar)
		}
	}
}
