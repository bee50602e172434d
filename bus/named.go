package bus

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/schemas"
)

// NamedRequest returns the id of the request that a message is about, though the
// message may break its schema, or be no event at all: by its attribute causationid,
// else by in_reply_to of its body, else by the run, the task and the attempt of
// its attributes, in a ledger of so many shards. Empty is none. Whoever sent it may
// have made it up.
func NamedRequest(m Message, shards int) string {
	header := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(m.Header)) {
		if value, ok := DecodeHeader(strings.Join(m.Header[name], "")); ok {
			header[strings.ToLower(name)] = value
		}
	}
	body := named(m.Body)
	for _, request := range [...]string{
		header["ce-causationid"], body["/causationid"], body["/in_reply_to"], body["/data/in_reply_to"],
		attempted(header["ce-subject"], header["ce-attempt"], shards),
	} {
		if _, proper := schemas.ShardOfRequest(request); proper {
			return request
		}
	}
	return ""
}

// named returns the texts of a body that may name a request, by their place, as far
// as the body can be read.
func named(body []byte) map[string]string {
	found := map[string]string{}
	decoder := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return found
		}
		_, count := decoder.StackIndex(decoder.StackDepth())
		if token.Kind() != '"' || count%2 == 1 { // in an object, what is odd is a name
			continue
		}
		switch place := string(decoder.StackPointer()); place {
		case "/causationid", "/in_reply_to", "/data/in_reply_to":
			found[place] = token.String()
		}
	}
}

// attempted returns the request for an attempt that attributes name: a subject of
// <run>/<task>, and the attempt.
func attempted(subject, attempt string, shards int) string {
	run, task, _ := strings.Cut(subject, "/")
	session, _, err := schemas.ParseRunID(run)
	number, malformed := strconv.Atoi(attempt)
	if err != nil || malformed != nil || task == "" {
		return ""
	}
	return schemas.RequestID(schemas.ShardOf(session, shards), run, task, number)
}
