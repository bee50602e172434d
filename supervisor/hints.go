package supervisor

import (
	"time"

	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// sendHints sends those outputs that nobody acknowledges, to agents that may miss them: permit
// answers and cancel hints. It also remembers results that can be reused, as old as the answer at hand, which
// the ledger took at recorded: an answer that is decided again is not newer for that.
func (o *Owner) sendHints(outputs []session.Output, recorded time.Time) {
	for i := range outputs {
		switch output := &outputs[i]; output.Kind {
		case session.OutputPermitAnswer:
			o.answerPermit(output.Agent, output.Permit)
		case session.OutputCancelHint:
			o.hintCancel(output.Agent, output.Request)
		case session.OutputReusable:
			o.admission.RememberResult(output.Reuse, recorded)
		case session.OutputRequest, session.OutputResponse, session.OutputRepeatedResponse, session.OutputQuarantine:
		}
	}
}

// answerPermit signals to an agent whether it has its permit. The signal is not stored: an
// agent that misses it asks again, and gets the same answer.
func (o *Owner) answerPermit(agent string, answer *schemas.PermitAnswer) {
	body, err := schemas.Marshal(answer)
	if err == nil {
		err = o.Core.Signal(bus.ServiceSubject(agent, bus.SignalPermitted), body)
	}
	if err != nil {
		o.Log.Debug().Err(err).Msg("answer about a permit not sent")
	}
}

// hintCancel tells an agent that nobody waits for a request any more. Who does not hear
// it is told again when it says that it works on the request.
func (o *Owner) hintCancel(agent, request string) {
	if err := o.Core.Signal(bus.ServiceSubject(agent, bus.SignalCancel), []byte(request)); err != nil {
		o.Log.Debug().Err(err).Msg("cancel hint not sent")
	}
}
