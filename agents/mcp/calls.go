package mcp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"podium/bus/agent"
	"podium/schemas"
)

// The calls that are under way, by their progress tokens.
type calls struct {
	mu  sync.Mutex
	all map[string]*call
}

// A call is one of a tool for a request.
type call struct {
	owner   *calls
	session *session
	token   string
	request *agent.Request
	report  agent.Report
	lost    atomic.Pointer[error] // why its answer was cut short

	telling sync.Mutex // held while something is reported
	ended   bool       // nothing is reported any more

	needed []need // what the server has asked for and nobody has answered yet; guarded by the owner's mu
}

// A need is what a server has asked its user for.
type need struct {
	message string
	schema  jsontext.Value // of an object of plain values
}

func (c *calls) begin(live *session, request *agent.Request, report agent.Report) *call {
	begun := &call{owner: c, session: live, token: uuid.NewString(), request: request, report: report}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]*call{}
	}
	c.all[begun.token] = begun
	return begun
}

// end forgets the call: nothing is reported afterwards.
func (c *call) end() {
	c.owner.mu.Lock()
	delete(c.owner.all, c.token)
	c.owner.mu.Unlock()
	c.telling.Lock()
	defer c.telling.Unlock()
	c.ended = true
}

type callKey struct{}

// in marks a context as that of this call.
func (c *call) in(ctx context.Context) context.Context { return context.WithValue(ctx, callKey{}, c) }

// progress passes on how far a call is.
func (c *calls) progress(params *sdk.ProgressNotificationParams) {
	token, _ := params.ProgressToken.(string)
	c.mu.Lock()
	called := c.all[token]
	c.mu.Unlock()
	if called == nil {
		return
	}
	percentage := 0
	if params.Total > 0 && params.Progress > 0 {
		percentage = int(min(params.Progress/params.Total, 1) * 100)
	}
	called.telling.Lock()
	defer called.telling.Unlock()
	if !called.ended {
		called.report(percentage, plain(params.Message, maxSaid))
	}
}

// elicit answers a server that asks its user something, with what people have answered before. It notes what nobody has
// answered. A question that could be for any of several calls is declined.
func (c *calls) elicit(ctx context.Context, live *session, params *sdk.ElicitParams) *sdk.ElicitResult {
	c.mu.Lock()
	defer c.mu.Unlock()
	asking, _ := ctx.Value(callKey{}).(*call)
	if asking == nil {
		of := slices.DeleteFunc(slices.Collect(maps.Values(c.all)), func(one *call) bool { return one.session != live })
		if len(of) != 1 {
			return &sdk.ElicitResult{Action: "decline"}
		}
		asking = of[0]
	}
	asked, err := readNeed(params)
	if err != nil {
		return &sdk.ElicitResult{Action: "decline"}
	}
	if result, answered := asked.answer(asking.request.Task().Context.Answers); answered {
		return result
	}
	asking.needed = append(asking.needed, asked)
	return &sdk.ElicitResult{Action: "cancel"}
}

// asked is what the server has asked for; nil is nothing.
func (c *call) asked() []need {
	c.owner.mu.Lock()
	defer c.owner.mu.Unlock()
	return c.needed
}

// readNeed reads what a server asks for.
func readNeed(params *sdk.ElicitParams) (need, error) {
	body, err := schemas.Marshal(params.RequestedSchema)
	if err != nil || string(body) == "null" {
		body = jsontext.Value(`{}`)
	}
	asked := need{message: plain(params.Message, maxSaid), schema: body}
	asks := asked.form()
	for _, name := range asks.wanted() {
		if name == "" || plain(name, maxName) != name {
			return need{}, errName
		}
	}
	return asked, bounded(body)
}

// errName reports a value that cannot be asked for under the name that a server gives it.
var errName = errors.New("a name in it is empty, too long, or cannot be seen as it is")
