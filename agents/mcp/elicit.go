package mcp

import (
	"cmp"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/bus/agent"
	"podium/schemas"
	"podium/schemas/validation"
)

// confirmed is what is asked for by a server that wants nothing but a yes.
const confirmed = "confirmed"

// form is what a server asks for: an object of plain values.
type form struct {
	Properties map[string]jsontext.Value `json:"properties"`
	Required   []string                  `json:"required"`
}

func (n *need) form() (read form) {
	if schemas.Unmarshal(n.schema, &read) != nil {
		return form{}
	}
	return read
}

// wanted are the names that a person is asked for: what is required, or all when nothing is.
func (f *form) wanted() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.Properties)) {
		if len(f.Required) == 0 || slices.Contains(f.Required, name) {
			names = append(names, name)
		}
	}
	return names
}

// blocked is the outcome of a call in which the server has asked for what a person has to say.
func (a *Agent) blocked(asked []need) agent.Outcome {
	made := agent.Outcome{Status: schemas.StatusBlocked}
	for i := range asked {
		form := asked[i].form()
		names := form.wanted()
		if len(names) == 0 {
			names, form.Properties = []string{confirmed}, map[string]jsontext.Value{confirmed: jsontext.Value(`{"type":"boolean"}`)}
		}
		for at, name := range names {
			need := schemas.Need{Name: name, Schema: form.Properties[name], From: schemas.NeededFromRequester}
			var about struct {
				Title string `json:"title"`
			}
			if schemas.Unmarshal(form.Properties[name], &about) == nil {
				need.Title = plain(about.Title, maxSummary)
			}
			need.Question = a.question(cmp.Or(need.Title, name), asked[i].message, at == 0, len(names))
			if made.Needs = append(made.Needs, need); len(made.Needs) == schemas.MaxNeeds {
				return made
			}
		}
	}
	return made
}

// question tells in every language that the words are the server's, also where it asks for one of several values: what it calls them are its words too.
func (a *Agent) question(title, message string, first bool, of int) map[string]string {
	question := map[string]string{}
	for language := range a.words {
		switch {
		case !first || message == "":
			question[language] = a.words.Say(language, "asks", "{message}", title, "{tool}", a.config.Tool)
		case of > 1:
			question[language] = a.words.Say(language, "asks_for", "{message}", message, "{title}", title, "{tool}", a.config.Tool)
		default:
			question[language] = a.words.Say(language, "asks", "{message}", message, "{tool}", a.config.Tool)
		}
	}
	return question
}

// answer is what people have answered to what a server asks for, the newest word of each; false when they have not said all of it.
func (n *need) answer(answers []schemas.InquiryAnswer) (*sdk.ElicitResult, bool) {
	said := map[string]any{}
	for i := range answers {
		var values map[string]any
		if schemas.Unmarshal(answers[i].Values, &values) == nil {
			maps.Copy(said, values)
		}
	}
	form := n.form()
	names := form.wanted()
	if len(names) == 0 {
		yes, known := said[confirmed].(bool)
		if !yes {
			return &sdk.ElicitResult{Action: "decline"}, known
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, true
	}
	content := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(form.Properties)) {
		if value, known := said[name]; known {
			content[name] = value
		} else if slices.Contains(names, name) && len(form.Required) > 0 {
			return nil, false
		}
	}
	body, err := schemas.Marshal(content)
	if err != nil || len(content) == 0 {
		return nil, false
	}
	if schema, err := validation.Compile(n.schema); err != nil || schema.Validate(body) != nil {
		return nil, false
	}
	return &sdk.ElicitResult{Action: "accept", Content: content}, true
}
