package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podium/bus/embedded/wholefile"
)

// grant is a hash of what the tokens were given for. A configuration with another
// one, such as a new first refresh token, begins anew.
func (s *Source) grant() string {
	body, _ := json.Marshal([]any{s.config.TokenURL, s.config.ClientID, s.config.RefreshToken, s.config.Scopes}) // texts only
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:16])
}

// load reads the tokens of the file, as far as they belong to this configuration.
func (s *Source) load() (state, error) {
	if s.config.File == "" {
		return state{}, nil
	}
	body, err := os.ReadFile(s.config.File)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	var kept state
	if err == nil {
		err = json.Unmarshal(body, &kept)
	}
	if err != nil {
		return state{}, fmt.Errorf("tokens in %s: %w; remove it to begin with the refresh token of the configuration", s.config.File, err)
	}
	if kept.Grant != s.grant() {
		return state{}, nil
	}
	return kept, nil
}

// save writes the tokens so that a crash leaves either the old ones or the new.
func (s *Source) save(next state) error {
	if s.config.File == "" {
		return nil
	}
	body, err := json.Marshal(next)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(s.config.File), 0o700)
	}
	if err == nil {
		err = wholefile.Replace(s.config.File, body)
	}
	if err != nil {
		return fmt.Errorf("keep the tokens: %w", err)
	}
	return nil
}
