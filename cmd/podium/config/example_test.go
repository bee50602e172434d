package config_test

import (
	"fmt"
	"strings"
	"time"

	"podium/cmd/podium/config"
	"podium/schemas"
)

// A profile is written in podium.yaml: it is read with every default, and a mistake is named by its
// line, its place, and what was probably meant.
func ExampleParse() {
	const deployment = `
agents:
  clerk: {kind: echo}
profiles:
  desk:
    agents: [clerk]
    routers: [{kind: default, agent: clerk}]
`
	read, err := config.Parse([]byte(deployment), "podium.yaml")
	if err != nil {
		fmt.Println(err)
	}
	profile := read.Profile("desk")
	fmt.Println(profile.Agents[0].Name, profile.Retry.Attempts, time.Duration(profile.Deadlines.Queue))
	body, err := schemas.Marshal(profile)
	fmt.Println(err, schemas.Validate("profile", body))

	_, err = config.Parse([]byte(strings.Replace(deployment, "agent: clerk", "agent: clark", 1)), "podium.yaml")
	fmt.Println(err)
	// Output:
	// clerk 2 1m0s
	// <nil> <nil>
	// podium.yaml:7:38: profiles.desk.routers[0].agent: "clark" is not one of this profile's agents; did you mean "clerk"?
}
