package embedded

import (
	"fmt"
	"math"

	"golang.org/x/sys/windows"
)

func free(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var available, total, all uint64
	if err := windows.GetDiskFreeSpaceEx(name, &available, &total, &all); err != nil {
		return 0, fmt.Errorf("look how much room %s has: %w", path, err)
	}
	return int64(min(available, math.MaxInt64)), nil
}
