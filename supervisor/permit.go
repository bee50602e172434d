package supervisor

import (
	"podium/bus"
	"podium/schemas"
	"podium/supervisor/publisher"
	"podium/supervisor/session"
)

// once makes sure that one message at most says that it is the first copy of its
// request, and brings a permit along: that which is published right after its record by
// whoever wrote it. Any other copy goes without, so that its agent asks.
func (o *Owner) once(c *conversation, outputs []session.Output) []session.Output {
	server := ""
	if c.fresh {
		server = o.Core.Server()
	}
	c.fresh = false
	for i := range outputs {
		if output := &outputs[i]; output.Event.Type == schemas.TypeExecutionRequest {
			output.Event.First = server
		}
		if server == "" {
			publisher.NotFirst(&outputs[i].Event)
		}
	}
	return outputs
}

// tell answers a question for a permit. An answer that is missed is given again
// when the question is asked again.
func (o *Owner) tell(agent string, answer *schemas.PermitAnswer) {
	body, err := schemas.Marshal(answer)
	if err == nil {
		err = o.Core.Signal(bus.ServiceSubject(agent, bus.SignalPermitted), body)
	}
	if err != nil {
		o.Log.Debug().Err(err).Msg("answer about a permit not sent")
	}
}
