package chat

import "testing"

// TestTelegramSendersThatAreNoUsers: an anonymous administrator is heard, in the group's name; posts of a linked channel,
// people who speak as a channel, and bots are not.
func TestTelegramSendersThatAreNoUsers(t *testing.T) {
	t.Parallel()
	const group = `"chat":{"id":-1007,"type":"supergroup","title":"Works"},"text":"when is the gate open?"`
	for name, test := range map[string]struct{ message, user, ignored string }{
		"administrator":              {`"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-1007,"title":"Works"},` + group, "-1007", ""},
		"administrator without from": {`"sender_chat":{"id":-1007,"title":"Works"},` + group, "-1007", ""},
		"linked channel":             {`"from":{"id":777000,"is_bot":false,"first_name":"Telegram"},"sender_chat":{"id":-1008,"type":"channel"},"is_automatic_forward":true,` + group, "", ignoredBot},
		"linked channel, bare":       {`"from":{"id":777000,"is_bot":false,"first_name":"Telegram"},` + group, "", ignoredBot},
		"Channel Bot":                {`"from":{"id":136817688,"is_bot":true,"first_name":"Channel"},"sender_chat":{"id":-1009,"type":"channel"},` + group, "", ignoredBot},
		"Channel Bot, no bot":        {`"from":{"id":136817688,"is_bot":false,"first_name":"Channel"},` + group, "", ignoredBot},
		"group bot for another chat": {`"from":{"id":1087968824,"is_bot":true},"sender_chat":{"id":-1010},` + group, "", ignoredBot},
		"group bot alone":            {`"from":{"id":1087968824,"is_bot":true},` + group, "", ignoredBot},
		"bot as the group":           {`"from":{"id":5,"is_bot":true},"sender_chat":{"id":-1007},` + group, "", ignoredBot},
		"user":                       {`"from":{"id":9,"is_bot":false,"first_name":"Ann"},` + group, "9", ""},
	} {
		got, err := (&telegram{}).Normalize([]byte(`{"update_id":1,"message":{"message_id":3,`+test.message+`}}`), jsonHeader())
		if err != nil || len(got) != 1 || got[0].Ignored != test.ignored || got[0].User.ID != test.user {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
