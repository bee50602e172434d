package session

import "podium/schemas"

// HasMade reports whether the request that an answer names by its headers is one that the session has made: of the active run, of an
// earlier run for the same effect, or of one that has ended.
func (s *State) HasMade(shard int, answer *schemas.Event) bool {
	if answer.CausationID == "" {
		return false
	}
	made := decision{state: *s, env: Env{Shard: shard}, input: &Input{Event: *answer}}
	if task, _ := made.asked(answer.CausationID); task != nil || s.HasTaken(settledKey(answer.CausationID)) {
		return true
	}
	if s.leftFor(s.Active).Call(answer.CausationID) != nil {
		return true
	}
	_, _, _, past := made.askedByEndedRun(answer.CausationID)
	return past
}
