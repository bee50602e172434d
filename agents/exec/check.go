package exec

import (
	"context"
	"fmt"

	"podium/subprocess"
)

// Check reports whether the program is there and may be run.
func (a *Agent) Check(context.Context) error {
	if _, err := subprocess.Find(a.config.Command[0], a.config.Dir); err != nil {
		return fmt.Errorf("the program %q cannot be run: %w", a.config.Command[0], err)
	}
	return subprocess.FindScript(a.config.Command, a.config.Dir)
}
