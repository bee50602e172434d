package main

import (
	"os"
	"os/user"
	"strconv"

	"podium/schemas"
)

// speakerFlags are those of verbs by which a person decides something.
type speakerFlags struct {
	As string `help:"The person of the people section for whom you say it. It is on record beside your user of the operating system, as what you claim." placeholder:"NAME"`
}

// signs notes on a control message who says it: the user of the operating system, and for whom.
func (f *speakerFlags) signs(control *schemas.Control) {
	control.Via, control.By, control.As = schemas.ViaCLI, systemUser(), f.As
}

// systemUser is the user of the operating system that runs the command; its number where it has no name.
func systemUser() string {
	known, err := user.Current()
	if err != nil || known.Username == "" {
		return "uid " + strconv.Itoa(os.Getuid())
	}
	return known.Username
}
