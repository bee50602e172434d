package dav

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"podium/agents/members"
	"podium/bus/agent"
	"podium/schemas"
)

// namespace makes names of effects.
const namespace = "5d1f0b0a-6a0e-5b0f-9d52-0f3a4f1c7c58"

// Name is the name of the resource that a request makes: the same for every attempt, and so is the id in it.
func Name(request *agent.Request) string {
	return uuid.NewSHA1(uuid.MustParse(namespace), []byte(request.EffectID)).String()
}

// ReadArguments reads the arguments of a request into a struct, and over them what people have answered since. Their members are called by the names of the installation.
func ReadArguments(request *agent.Request, names members.Names, into any) error {
	context := &request.Task().Context
	read := func(body []byte) error {
		if len(bytes.TrimSpace(body)) == 0 || string(body) == "null" {
			return nil
		}
		return schemas.Unmarshal(names.Read(body), into)
	}
	if err := read(context.Arguments); err != nil {
		return err
	}
	for i := range context.Answers {
		if err := read(context.Answers[i].Values); err != nil {
			return err
		}
	}
	return nil
}

// actionOf is what a permit is asked for: the arguments as ReadArguments reads them, since nothing else decides what is written.
func actionOf(request *agent.Request, summary string) (schemas.Action, error) {
	context := &request.Task().Context
	action := schemas.Action{Summary: summary, Data: context.Arguments}
	if len(context.Answers) == 0 {
		return action, nil
	}
	told := struct {
		Arguments jsontext.Value   `json:"arguments,omitzero"`
		Answers   []jsontext.Value `json:"answers"`
	}{Arguments: context.Arguments}
	for i := range context.Answers {
		told.Answers = append(told.Answers, context.Answers[i].Values)
	}
	var err error
	action.Data, err = schemas.Marshal(told)
	return action, err
}
