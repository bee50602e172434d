package session_test

import (
	"time"

	"podium/schemas"
)

// storyProfile answers in English and German, and knows two agents by their
// verbs. Stories change what they are about.
func storyProfile() schemas.Profile {
	words := func(mode schemas.KeywordMode, words ...string) (keywords []schemas.Keyword) {
		for _, word := range words {
			keywords = append(keywords, schemas.Keyword{Word: word, Mode: mode})
		}
		return keywords
	}
	return schemas.Profile{
		Name: "story", Language: schemas.LanguageOfWriter,
		Agents: []schemas.AgentUse{
			{Name: "calculator"}, {Name: "summary", Work: schemas.Duration(time.Minute)}, {Name: "clerk"},
		},
		Routers: []schemas.Router{{
			Kind: schemas.RouterKeywords, Mode: schemas.OrderConfigured,
			Groups: []schemas.KeywordGroup{
				{Name: "numbers", Agent: "calculator", Keywords: words(schemas.ModePrefix, "calculat", "berechn")},
				{Name: "texts", Agent: "summary", Keywords: words(schemas.ModePrefix, "summari", "zusammenfass")},
				{Name: "letters", Agent: "clerk", Keywords: words(schemas.ModePrefix, "write", "schreib")},
			},
		}},
		Complexity: &schemas.ComplexityRules{
			Verbs:      words(schemas.ModePrefix, "calculat", "summari", "write", "juggle"),
			Separators: []string{"then"},
		},
		Execution: schemas.Execution{Mode: schemas.ExecutionSingle},
		Retry:     schemas.Retry{Attempts: 2, Wait: schemas.Duration(time.Second)},
		Delivery:  schemas.Retry{Attempts: 3, Wait: schemas.Duration(2 * time.Second)},
		Deadlines: schemas.Deadlines{Queue: schemas.Duration(20 * time.Second), Work: schemas.Duration(30 * time.Second)},
		Languages: []schemas.Language{
			{Tag: "en", Markers: []string{"the", "and", "please"}, Withdraw: []string{"never mind", "cancel"}, Approve: []string{"approve", "yes"}, Reject: []string{"reject", "no"}, Raise: []string{"raise"}, Sentences: map[string]string{
				"out_of_budget": "The budget is used up.", "approval_rejected": "Somebody has said no.", "approval_rejected_because": "Somebody has said no. “{words}”", "approvers_unreachable": "Nobody could be asked.", "input_missing": "This is lacking: {missing}.", "unanswered": "Nobody has answered.", "work_declined": "It was declined.", "effect_unapproved": "Nobody has agreed to it.",
			}, Texts: schemas.Texts{
				Escalation: "{work} What now? {agent} has failed, {attempts} attempts, {detail}. Say {choices}.", ChoiceAnswer: "{word} and the result",
				Budget: "{agent} needs {need} for {work}, and {taken} of {limit} are gone.\n\nSay {raise} for {offer} or {reject}.", Tokens: "{amount} tokens", Cost: "{amount} of money",
				Approval: "May {agent} do this?\n\n{work}\n\nSay {approve} or {reject}.", Sending: "Send this to {recipients}?\n\n{work}\n\nSay {approve} or {reject}.", Together: "{need} of you.", Editing: "Change it by {change}.", Indecisive: "That decides nothing.",
				TaskFailed: "This could not be done: {detail}", Timeout: "Nobody answered in time.",
				NoRoute: "Nobody here is responsible for that.", Undecided: "Nobody can say who is responsible.", Cancelled: "It was stopped.",
				Partial: "This much is there:", Empty: "It is done.", UnknownEffect: "Please look whether this was done. {detail}",
				Missing: "I need: {missing}.", Unsure: "{missing}: {readings}?", Unfit: "Not {said}.", OneOf: "One of {choices}.", Number: "A number.", Date: "A day.", AtLeast: "Not below {bound}.", AtMost: "Not above {bound}.", Reminder: "Once more:", Handed: "Please answer this:", WrongLanguage: "In English, please.", ReviewFailed: "It did not pass the review: {detail}",
			}},
			{Tag: "de", Markers: []string{"und", "bitte", "der", "die"}, Withdraw: []string{"vergiss es", "hat sich erledigt"}, Approve: []string{"freigeben", "ja"}, Reject: []string{"ablehnen", "nein"}, Raise: []string{"erhöhen"}, Sentences: map[string]string{
				"out_of_budget": "Das Budget ist aufgebraucht.", "approval_rejected": "Jemand hat nein gesagt.", "approval_rejected_because": "Jemand hat nein gesagt. „{words}“", "approvers_unreachable": "Niemand konnte gefragt werden.", "input_missing": "Es fehlt: {missing}.", "unanswered": "Niemand hat geantwortet.", "work_declined": "Es wurde abgelehnt.", "effect_unapproved": "Dem hat niemand zugestimmt.",
			}, Texts: schemas.Texts{
				Budget: "{agent} braucht {need} für {work}, und {taken} von {limit} sind weg.\n\n{raise} für {offer} oder {reject}.", Tokens: "{amount} Tokens", Cost: "Kosten von {amount}",
				Approval: "Darf {agent} das tun?\n\n{work}\n\n{approve} oder {reject}.", Together: "{need} von Ihnen.", Indecisive: "Das entscheidet nichts.",
				TaskFailed: "Das ging nicht: {detail}", Timeout: "Niemand hat rechtzeitig geantwortet.",
				NoRoute: "Dafür ist hier niemand zuständig.", Undecided: "Niemand kann sagen, wer zuständig ist.", Cancelled: "Es wurde angehalten.",
				Partial: "So viel liegt vor:", Empty: "Es ist erledigt.", UnknownEffect: "Bitte nachsehen, ob das erledigt ist. {detail}",
				Missing: "Mir fehlt: {missing}.", Unsure: "{missing}: {readings}?", Unfit: "Nicht {said}.", OneOf: "Eins von {choices}.", Number: "Eine Zahl.", Date: "Ein Tag.", AtLeast: "Nicht unter {bound}.", AtMost: "Nicht über {bound}.", Reminder: "Noch einmal:", Handed: "Bitte antworten:", WrongLanguage: "Bitte auf Deutsch.", ReviewFailed: "Die Prüfung hat es nicht bestanden: {detail}",
			}},
		},
	}
}
