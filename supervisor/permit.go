package supervisor

import (
	"podium/bus"
	"podium/schemas"
	"podium/supervisor/session"
)

// once makes sure that a permit is brought along by one message at most: that
// which is published right after its record by whoever wrote it. Any other copy of
// the request goes without, so that its agent asks.
func (c *conversation) once(outputs []session.Output) []session.Output {
	fresh := c.fresh
	c.fresh = false
	for i := range outputs {
		if !fresh {
			outputs[i].Event.Permit = ""
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
