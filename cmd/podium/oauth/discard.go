package oauth

import "time"

// Discard forgets an access token that a server has refused before its time, so
// that the next one to ask gets another. Any other token is kept: whoever comes
// late with an old one takes nothing from the others.
func (s *Source) Discard(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token != "" && s.state.AccessToken == token {
		s.discarded = token
		s.state.AccessToken, s.state.Expires, s.retry = "", time.Time{}, time.Time{}
	}
}
