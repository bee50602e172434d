package oauth

// FileOf lets a test move the file of a source.
func FileOf(s *Source) *string { return &s.config.File }
