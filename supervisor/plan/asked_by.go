package plan

import (
	"cmp"
	"strings"
	"unicode"

	"podium/schemas"
)

// askedBy tells approvers who has begun the run, how far that is known, which run it is, and what the requester has written, set apart as a
// quotation. It is empty before schemas.Edition9.
func (d *Decision) askedBy() string {
	if d.Run.Edition < schemas.Edition9 {
		return ""
	}
	texts := d.texts()
	told := strings.NewReplacer(
		"{requester}", d.requester(), "{proof}", d.requesterProof(texts), "{run}", schemas.RunID(d.Session, d.Run.Number),
	).Replace(cmp.Or(texts.AskedBy, "Requested by {requester} ({proof}), run {run}"))
	words := strings.TrimSpace(RequestText(&d.Run.Message, d.Read))
	if words == "" {
		return told
	}
	return told + "\n\n" + quotation(truncate(words, maxQuestion))
}

// requester is who has begun the run, as their message names them.
func (d *Decision) requester() string {
	message := &d.Run.Message
	if message.Upstream != nil {
		return oneLine(message.Upstream.From)
	}
	named, id := "", ""
	if author := message.Author; author != nil {
		named, id = oneLine(author.Name), oneLine(cmp.Or(author.Address, author.User))
	}
	if id == "" && message.Reply != nil {
		id = oneLine(strings.TrimSpace(message.Reply.Provider + " " + message.Reply.Channel))
	}
	switch {
	case named == "":
		return cmp.Or(id, "?")
	case id == "":
		return named
	}
	return named + " <" + id + ">"
}

// requesterProof tells how far it is known who has begun the run.
func (d *Decision) requesterProof(texts *schemas.Texts) string {
	switch message := &d.Run.Message; {
	case message.Upstream != nil:
		return cmp.Or(texts.AskedByProgram, "a program")
	case message.Channel == schemas.ChannelChat:
		return cmp.Or(texts.AskedInChat, "as the chat names them")
	case message.Origin == schemas.OriginProven:
		return cmp.Or(texts.SenderVouched, "sender confirmed")
	}
	return cmp.Or(texts.SenderUnvouched, "sender not confirmed: anybody can have written this")
}

// describedTask is what a task is to do, as approvers are told it. Words of the requester, and what an agent has made of them, are a quotation,
// and a template's own words are none; they are left out where askedBy quotes the same.
func (d *Decision) describedTask(description string) string {
	told := truncate(description, maxQuestion)
	if d.Run.Edition < schemas.Edition9 {
		return told
	}
	description, request := strings.TrimSpace(description), strings.TrimSpace(RequestText(&d.Run.Message, d.Read))
	ofProfile := d.Run.Source == schemas.PlannerTemplate && !strings.Contains(description, request) && !strings.ContainsFunc(description, isLineBreak)
	switch {
	case description == request:
		return ""
	case ofProfile:
		return told
	}
	return quotation(told)
}

// describedAgent is what an agent is called where approvers are told of it: what it does, from schemas.Edition9 on.
func (d *Decision) describedAgent(agent string) string {
	use := d.Profile.agentUse(agent)
	if use == nil || d.Run.Edition < schemas.Edition9 {
		return agent
	}
	return cmp.Or(strings.TrimRight(oneLine(use.Description), ". "), agent)
}

// quotation sets words apart from those of Podium, by a mark before each line.
func quotation(words string) string {
	lines := strings.FieldsFunc(words, func(c rune) bool { return isLineBreak(c) })
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+strings.TrimSpace(line), " ")
	}
	return strings.Join(lines, "\n")
}

func isLineBreak(c rune) bool {
	return c == '\n' || c == '\r' || c == '\v' || c == '\f' || c == '\u0085' || c == '\u2028' || c == '\u2029'
}

// oneLine is a name on one line, without marks that change how it reads, and without those around an address.
func oneLine(name string) string {
	const longest = 200 // bytes
	name = strings.Map(func(c rune) rune {
		switch {
		case isLineBreak(c) || unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '<' || c == '>':
			return -1
		}
		return c
	}, name)
	return truncate(strings.Join(strings.Fields(name), " "), longest)
}
