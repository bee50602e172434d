package bench

import (
	"fmt"
	"syscall"
	"time"
)

// processorTime returns how long this process has kept processors busy.
func processorTime() (time.Duration, error) {
	process, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	var created, ended, kernel, user syscall.Filetime
	if err = syscall.GetProcessTimes(process, &created, &ended, &kernel, &user); err != nil {
		return 0, fmt.Errorf("read the processor time: %w", err)
	}
	const unit = 100 * time.Nanosecond // a Filetime that is a duration counts these
	ticks := func(t syscall.Filetime) time.Duration {
		return time.Duration(int64(t.HighDateTime)<<32 | int64(t.LowDateTime))
	}
	return unit * (ticks(kernel) + ticks(user)), nil
}
