package chat

import (
	"regexp"
	"strings"
)

// slackMarkup is what Slack writes for a link, a mention or a date. What a person types as < or > comes escaped, so that
// each of these signs is Slack's own ("Formatting text for app surfaces").
var slackMarkup = regexp.MustCompile(`<([^<>|]+)(?:\|([^<>]*))?>`)

// plainSlack returns a text as its writer typed and saw it: links and mentions are read first, then what is escaped. So a
// text such as "<@U77>" that somebody has typed is told from a mention: of a person who has no name in it, "@U77" is left.
func plainSlack(text string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(slackMarkup.ReplaceAllStringFunc(text, func(markup string) string {
		target, label, _ := strings.Cut(markup[1:len(markup)-1], "|")
		return plainSlackLink(target, label)
	}))
}

// plainSlackLink returns what a person sees of one link, mention or date. Both are escaped still.
func plainSlackLink(target, label string) string {
	scheme, rest, _ := strings.Cut(target, ":")
	switch {
	case target[0] == '@', target[0] == '#':
		if label == "" {
			label = target[1:]
		}
		return target[:1] + strings.TrimPrefix(label, target[:1])
	case target[0] == '!':
		return plainSlackCommand(target[1:], label)
	case strings.EqualFold(scheme, "mailto"), strings.EqualFold(scheme, "tel"):
		if label == "" {
			label = rest
		}
		return label
	case label == "" || label == target || strings.HasSuffix(target, "://"+label) || strings.HasSuffix(target, "://"+label+"/"):
		return target
	}
	return label + " (" + target + ")"
}

// plainSlackCommand returns what a person sees of <!here>, <!subteam^S1|@team> or <!date^…^{date}|on Monday>.
func plainSlackCommand(command, label string) string {
	name, _, _ := strings.Cut(command, "^")
	switch {
	case name == "date", label != "" && name != "subteam":
		return label
	case label != "":
		return "@" + strings.TrimPrefix(label, "@")
	case name == "subteam":
		_, name, _ = strings.Cut(command, "^")
	}
	return "@" + name
}

// cutMention cuts the mention of a user that a text begins with.
func cutMention(text, user string) (rest string, begins bool) {
	found := slackMarkup.FindStringSubmatchIndex(text)
	if user == "" || found == nil || found[0] != 0 || text[found[2]:found[3]] != "@"+user {
		return text, false
	}
	return text[found[1]:], true
}
