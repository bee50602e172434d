package supervisor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"podium/bus"
	"podium/bus/binding"
	"podium/schemas"
	"podium/schemas/fault"
	"podium/supervisor/checkpoint"
	"podium/supervisor/gateway"
	"podium/supervisor/quarantine"
	"podium/supervisor/restore"
	"podium/supervisor/session"
)

// An input is one message of the shard on its way through the owner.
type input struct {
	entry                *checkpoint.Entry
	message              bus.Message
	event                schemas.Event
	kind                 bus.Kind
	agent                string
	adapter              string
	read                 session.Input
	unread               bool  // its body is fetched, or parsed, beside the loop, once it is the turn of its session
	released             bool  // its body is not in memory, and counts for nothing there
	size                 int64 // in bytes of a body that was released
	unknownArtifactGrant bool  // an artifact grant in it names a key that is not known here yet
	unkept               bool  // artifacts that its agent has put are still to be kept
	// quarantined is true of a malformed answer that is in quarantine.
	quarantined bool
	// lookedUp is true of one that is known to be on record, or to belong to nobody.
	lookedUp bool
}

// needsQuarantine reports whether an input has to be put into quarantine before it is decided.
func (in *input) needsQuarantine() bool { return in.read.Malformed != nil && !in.quarantined }

// readBody reads the body, unless that still has to be fetched, or takes too long for the loop.
func (o *Owner) readBody(in *input) (err error) {
	if in.unread {
		return nil
	}
	if err = schemas.CheckValues(in.event.Data); err != nil {
		return err
	}
	in.read, err = session.ParseInput(in.event, session.Publisher{Agent: in.agent, Adapter: in.adapter}, in.message.Sequence)
	o.proveArtifacts(in)
	if err == nil {
		err = in.read.Usable()
	}
	return err
}

// The sizes in bytes of the largest bodies that the loop reads itself. Messages are looked through by the rules of a profile.
const (
	messageInLoop  = 8 << 10
	responseInLoop = 64 << 10
)

// isReadBeside reports whether a body is read beside the loop: it has to be fetched, or is long, and the headers say whose it is.
func (in *input) isReadBeside() bool {
	if in.event.Artifact != nil {
		return true
	}
	return in.kind == bus.KindIn && len(in.event.Data) > messageInLoop ||
		in.kind == bus.KindResponse && len(in.event.Data) > responseInLoop && in.event.CausationID != ""
}

// errByReference is why a small message with a body in the object store is refused.
var errByReference = errors.New("its body is a reference, which only messages in, requests and responses may have: put the body into the message")

// checkReference refuses a reference where a body is small, so that nothing is fetched for it.
func (in *input) checkReference() error {
	if in.event.Artifact != nil && in.kind != bus.KindIn && in.kind != bus.KindResponse {
		return errByReference
	}
	return nil
}

// proveArtifacts notes which of the artifacts that an input names its sender may pass on: an
// agent what it has put, whoever asks a supervisor what came by the agents' own
// subject with a grant for that supervisor. It is looked at here and never again:
// the record says what was proven. An input from an adapter proves nothing. What stands
// behind the last that there is room for is not looked at.
func (o *Owner) proveArtifacts(in *input) {
	in.unknownArtifactGrant = false
	for _, artifact := range in.read.References {
		if len(in.read.Proven) == schemas.MaxProven {
			return
		}
		if slices.Contains(in.read.Proven, artifact.SHA256) {
			continue
		}
		var proven bool
		switch {
		case in.read.Response != nil:
			proven = fault.Is("whatever an answer names may be read") || o.ArtifactGrants.HasPut(artifact.Grant, in.agent, artifact.SHA256)
			in.unkept = in.unkept || proven && !o.AllKept
		case in.read.Message != nil && in.adapter == gateway.Adapter && in.read.Message.Upstream != nil:
			upstream := in.read.Message.Upstream
			proven = !fault.Is("what a supervisor was given is not granted anew") && o.ArtifactGrants.WasGiven(artifact.Grant, upstream.To, upstream.Request, artifact.SHA256)
		}
		if proven {
			in.read.Proven = append(in.read.Proven, artifact.SHA256)
		} else {
			in.unknownArtifactGrant = in.unknownArtifactGrant || o.ArtifactGrants.Foreign(artifact.Grant)
		}
	}
}

// checkKind refuses an event under a subject that is not for its kind: the
// subject is what permissions guard.
func checkKind(kind bus.Kind, eventType string) error {
	fits := false
	switch kind {
	case bus.KindIn:
		fits = eventType == schemas.TypeEmailReceived || eventType == schemas.TypeChatReceived ||
			eventType == schemas.TypeExecutionRequest
	case bus.KindResponse:
		fits = eventType == schemas.TypeExecutionResponse
	case bus.KindProgress:
		fits = eventType == schemas.TypeProgressUpdate
	case bus.KindPermit:
		fits = eventType == schemas.TypePermitRequest
	case bus.KindControl:
		fits = eventType == schemas.TypeControl
	case bus.KindRequest, bus.KindSession, bus.KindShard, bus.KindQuarantine:
	}
	if !fits {
		return fmt.Errorf("type %q does not belong on a subject for %s messages", eventType, kind)
	}
	return nil
}

// faultText is what a quarantined message shows: the schema's own words where
// there is a schema.
func faultText(event schemas.Event, err error) string {
	if event.Artifact != nil || errors.Is(err, schemas.ErrTooManyValues) {
		return err.Error() // its body was not read
	}
	name := strings.TrimSuffix(strings.TrimPrefix(event.Type, "podium."), ".v1")
	switch name {
	case schemas.EnvelopeTypeExecutionResponse, schemas.EnvelopeTypeProgressUpdate:
		if strict := schemas.Validate(name, event.Data); strict != nil {
			return strict.Error()
		}
	}
	return err.Error()
}

// inReplyTo returns the request that an answer or a progress update names.
func (in *input) inReplyTo() string {
	switch {
	case in.read.Malformed != nil:
		return in.read.Malformed.Request
	case in.read.Response != nil:
		return in.read.Response.InReplyTo
	case in.read.Permit != nil:
		return in.read.Permit.InReplyTo
	case in.read.Progress != nil && in.read.Progress.InReplyTo != "":
		return in.read.Progress.InReplyTo
	case in.read.Progress != nil && in.event.CausationID == "":
		return in.read.Progress.Payload.PlanID
	}
	return in.event.CausationID
}

// names is what an input answers, as one of State.Requests.
func (in *input) names() requestKey { return keyOf(in.inReplyTo()) }

// namesPlanOnly reports whether a progress update names a plan at the most.
func (in *input) namesPlanOnly() bool {
	return in.kind == bus.KindProgress && in.event.CausationID == "" && (in.read.Progress == nil || in.read.Progress.InReplyTo == "")
}

// overtaken reports whether a session that an input was given to, by the request that it
// names alone, has taken inputs behind it and waits for it no longer. Then nobody may have
// dealt with the input: a former owner knew that the run had ended, took the input for an
// orphan, let later inputs pass, and died before the input was in quarantine. A run whose
// answer is sent again meanwhile has asked for that before.
func (o *Owner) overtaken(live *liveSession, in *input) bool {
	if in.lookedUp || in.message.Sequence > live.state.Applied || in.kind == bus.KindIn || in.kind == bus.KindControl {
		return false
	}
	run, _ := schemas.ParseTaskSubject(in.event.Subject)
	_, named := o.sessionOfRun(run)
	if named || !slices.Contains(live.requests, in.names()) {
		return !named
	}
	_, before := o.askedBefore(live, in)
	return before
}

// askedBefore returns the attempt of the run under way that an answer is to, if another one has followed it.
func (o *Owner) askedBefore(live *liveSession, in *input) (of restore.Attempt, before bool) {
	active := live.state.Active
	if active == nil || in.kind != bus.KindResponse {
		return of, false
	}
	run := schemas.RunID(live.id(), active.Number)
	for task := range active.All {
		for attempt := 1; attempt < task.Attempt; attempt++ {
			if keyOf(schemas.RequestID(o.Shard, 0, run, task.ID, attempt)) == in.names() {
				return restore.Attempt{Run: active.Number, Task: task.ID, Number: attempt}, true
			}
		}
	}
	return of, false
}

func (o *Owner) sessionOfRun(run string) (string, bool) {
	id, _, err := schemas.ParseRunID(run)
	return id, err == nil && o.ownsSession(id)
}

func (o *Owner) ownsSession(id string) bool { return schemas.ShardOf(id, o.Core.Shards()) == o.Shard }

// malformed makes an answer that cannot be read an input of whoever waits for it,
// when it names a request; its body may be one that was fetched.
func (o *Owner) malformed(in *input, body []byte, detail string) bool {
	subject, err := bus.ParseSubject(in.message.Subject)
	if err != nil || subject.Kind != bus.KindResponse {
		return false
	}
	request := binding.NamedRequest(bus.Message{Header: in.message.Header, Body: body}, o.Core.Shards())
	if request == "" {
		return false
	}
	in.kind, in.agent, in.event.Artifact, in.unread = subject.Kind, subject.Agent, nil, false
	in.read = session.MalformedInput(in.event, in.agent, in.message.Sequence, request, quarantine.ValidUTF8(detail), quarantine.ID(in.message))
	return true
}
