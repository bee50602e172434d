package main

import (
	"fmt"
	"maps"
	"slices"
)

type state string

const (
	stateDone   state = "done"
	statePartly state = "partly"
	stateNotYet state = "not yet"
)

// A verdict is what the page says of one item.
type verdict struct {
	state state
	why   string // what is missing, or why there is nothing
	tests []test // by file, then by name
}

// judge holds names and judgements against each other and against the items. A test whose
// name bears an item's number shows all of it, unless a judgement says what is missing.
func judge(items []item, tests []test, judgements map[string]judgement) (map[string]verdict, []string) {
	known, named := map[string]bool{}, map[string]test{}
	var faults []string
	for _, item := range items {
		if known[item.id] {
			faults = append(faults, item.id+": it is there twice")
		}
		known[item.id] = true
	}
	numbered := map[string][]test{}
	for _, test := range tests {
		named[test.name] = test
		for _, fault := range test.faults {
			faults = append(faults, test.name+": "+fault)
		}
		for _, id := range test.numbers {
			if !known[id] {
				faults = append(faults, fmt.Sprintf("%s: there is no requirement %s", test.name, id))
			}
			numbered[id] = append(numbered[id], test)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(judgements)) {
		if !known[id] {
			faults = append(faults, id+": a judgement about no requirement")
		}
	}
	verdicts := map[string]verdict{}
	for _, item := range items {
		judged, is := judgements[item.id]
		v := verdict{state: stateDone, tests: slices.Clone(numbered[item.id])}
		for _, name := range judged.Tests {
			shows, found := named[name]
			switch {
			case !found:
				faults = append(faults, fmt.Sprintf("%s: there is no test %s", item.id, name))
			case slices.ContainsFunc(v.tests, func(other test) bool { return other.name == name }):
				faults = append(faults, fmt.Sprintf("%s: %s need not be named: it bears the number, or is named twice", item.id, name))
			default:
				v.tests = append(v.tests, shows)
			}
		}
		switch {
		case judged.Partly != "" && judged.NotYet != "":
			faults = append(faults, item.id+": it is partly there, or not yet, but not both")
		case judged.Partly != "":
			v.state, v.why = statePartly, judged.Partly
			if len(v.tests) == 0 {
				faults = append(faults, item.id+": no test shows the part that is there")
			}
		case judged.NotYet != "":
			v.state, v.why = stateNotYet, judged.NotYet
			for _, test := range v.tests {
				faults = append(faults, fmt.Sprintf("%s: it is not there yet, but %s shows it", item.id, test.name))
			}
		case is && len(judged.Tests) == 0:
			faults = append(faults, item.id+": the judgement says nothing")
		case len(v.tests) == 0:
			faults = append(faults, item.id+": no test has its number, and no judgement says why")
		}
		slices.SortFunc(v.tests, byFile)
		verdicts[item.id] = v
	}
	return verdicts, faults
}
