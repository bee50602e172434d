package chat

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"podium/schemas"
)

// Words from an agent ping nobody and fetch nothing.
func TestRender(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		provider    schemas.ChatProvider
		given, want string
	}{
		{schemas.ProviderSlack, "<!channel> <@U1> a & b <https://x|y>", "&lt;!channel&gt; &lt;@U1&gt; a &amp; b &lt;https://x|y&gt;"},
		{schemas.ProviderMattermost, "@all @Channel @here @ann a@allb", "@\u200ball @\u200bChannel @\u200bhere @ann a@\u200ballb"},
		{schemas.ProviderMattermost, "![x](https://evil/?q=1) [x](https://y)", "!\u200b[x](https://evil/?q=1) [x](https://y)"},
		{schemas.ProviderMattermost, `\![x](https://evil/?q=1)`, `\!` + "\u200b[x](https://evil/?q=1)"}, // escaped by whoever wants it to be one
		{schemas.ProviderTelegram, "<b>*_[x](y)", "<b>*_[x](y)"},
		{schemas.ProviderTeams, "<at>x</at>", "<at>x</at>"},
	} {
		if got := Render(test.provider, test.given); got != test.want {
			t.Errorf("%s: %q, want %q", test.provider, got, test.want)
		}
	}
}

func TestSplitPrefersGoodPlaces(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text  string
		limit int
		want  []string
	}{
		"fits":          {"one two", 7, []string{"one two"}},
		"paragraph":     {"aaaa\nbb\n\ncc dddd", 12, []string{"aaaa\nbb", "cc dddd"}},
		"line":          {"aaaa bb\ncc dddd", 12, []string{"aaaa bb", "cc dddd"}},
		"word":          {"aaaa bb cc dddd", 12, []string{"aaaa bb cc", "dddd"}},
		"no good place": {"aaaaaaaaaa", 4, []string{"aaaa", "aaaa", "aa"}},
		"blank":         {" \n ", 4, nil},
		"wide":          {"ääää", 2, []string{"ää", "ää"}},
	} {
		pieces, whole := split(test.text, test.limit, character)
		if !whole || strings.Join(pieces, "|") != strings.Join(test.want, "|") {
			t.Errorf("%s: %q (%v), want %q", name, pieces, whole, test.want)
		}
	}
	if pieces, whole := split(strings.Repeat("x", 100), 5, character); len(pieces) != maxPieces || whole {
		t.Errorf("%d pieces, whole: %v", len(pieces), whole)
	}
}

// character counts every character as one.
func character(rune) int { return 1 }

// Every piece is one that the provider takes, and together they are the answer.
func TestPiecesFit(t *testing.T) {
	t.Parallel()
	posters := map[schemas.ChatProvider]struct {
		poster poster
		limit  int
		size   func(string) int
	}{
		schemas.ProviderSlack:      {&slackPoster{}, slackLimit, utf8.RuneCountInString},
		schemas.ProviderMattermost: {&mattermostPoster{}, mattermostLimit, utf8.RuneCountInString},
		schemas.ProviderTelegram:   {&telegramPoster{}, telegramLimit, func(s string) int { return len(utf16.Encode([]rune(s))) }},
	}
	without := func(text string) string { return strings.Join(strings.Fields(text), "") }
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("a&<>@!ö😀 \n")), 1, 40, -1).Draw(t, "word")
		text := strings.Repeat(word, rapid.IntRange(1, 2000).Draw(t, "times"))
		for provider, p := range posters {
			pieces, whole := p.poster.split(text)
			for _, piece := range pieces {
				if size := p.size(Render(provider, piece)); size == 0 || size > p.limit {
					t.Fatalf("%s: a piece of %d", provider, size)
				}
			}
			if whole && without(strings.Join(pieces, "")) != without(text) {
				t.Fatalf("%s: the pieces are not the text", provider)
			}
		}
	})
}

func TestSameHost(t *testing.T) {
	t.Parallel()
	const base = "https://hooks.slack.com"
	for target, same := range map[string]bool{
		"https://hooks.slack.com/commands/x":     true,
		"http://hooks.slack.com/x":               false,
		"https://hooks.slack.com:8443/x":         false,
		"https://hooks.slack.com@evil.example/x": false,
		"https://hooks.slack.com.evil.example/x": false,
		"https://u:p@hooks.slack.com/x":          false,
		"https://169.254.169.254/latest":         false,
		"//hooks.slack.com/x":                    false,
		"https:hooks.slack.com":                  false,
		"":                                       false,
		"%":                                      false,
	} {
		if got := sameHost(target, base) == nil; got != same {
			t.Errorf("%q: %v", target, got)
		}
	}
	if sameHost("", "") == nil || sameHost("/x", "") == nil {
		t.Error("without an address everything is the same")
	}
}
