package binding

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"podium/bus"
	"podium/schemas"
)

// NamedRequest returns the id of the request that a message is about, though the
// message may break its schema, or be no event at all: by its attribute causationid,
// else by in_reply_to of its body, else by the run, the task and the attempt of
// its attributes, in a ledger of so many shards: then it is what schemas.AttemptKey has of it, since
// nothing says its epoch. Empty is none. Whoever sent it may
// have made it up.
func NamedRequest(m bus.Message, shards int) string {
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

// namedPlaces is how many places of a body may name a request.
const namedPlaces = 3

// named returns the texts of a body that may name a request, by their place, as far
// as the body can be read. It takes time in proportion to the body, whatever that holds.
func named(body []byte) map[string]string {
	found := make(map[string]string, namedPlaces)
	decoder := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	member, of := "", "" // whose value is read, and of which member of the body
	for len(found) < namedPlaces {
		token, err := decoder.ReadToken()
		depth := decoder.StackDepth()
		if err != nil || depth > schemas.MaxDepth {
			return found
		}
		if depth == 0 {
			member, of = "", ""
		}
		in, count := decoder.StackIndex(depth)
		if token.Kind() != '"' || in != '{' || depth > 2 || depth == 2 && of != "data" {
			continue
		}
		isName := count%2 == 1
		switch {
		case isName && depth == 1:
			member, of = token.String(), token.String()
		case isName:
			member = token.String()
		case depth == 2 && member == "in_reply_to":
			found["/data/in_reply_to"] = token.String()
		case depth == 1 && (member == "in_reply_to" || member == "causationid"):
			found["/"+member] = token.String()
		}
	}
	return found
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
	return schemas.RequestID(schemas.ShardOf(session, shards), 0, run, task, number)
}
