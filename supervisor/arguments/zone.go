package arguments

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// zoneinfo is the time zone database that comes with Go (lib/time/zoneinfo.zip). That of the machine would
// have the same words mean another moment elsewhere.
//
//go:embed zones/zoneinfo.zip
var zoneinfo []byte

// ErrUnknownZone reports a name that is no IANA time zone.
var ErrUnknownZone = errors.New("it is no time zone such as Europe/Berlin")

// Zone returns a time zone by its IANA name; UTC when that is empty.
func Zone(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	archive, err := zip.NewReader(bytes.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(archive, name)
	if err != nil || len(data) == 0 {
		return nil, fmt.Errorf("%q: %w", name, ErrUnknownZone)
	}
	location, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, ErrUnknownZone)
	}
	return location, nil
}
