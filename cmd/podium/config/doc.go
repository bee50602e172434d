// Package config reads podium.yaml: it is the only place where a deployment says
// what it wants, and the Go structs here are the only description of that file.
//
// The structs' tags hold the rules that need no other part of the file, and both the
// reader (package strictyaml, which lists them) and the JSON Schema for editors follow
// from them. Two more are for the schema's reader alone:
//
//	default:"8080"       what WithDefaults sets
//	doc:"…"              one sentence
//
// docs/configuration.md, the reference for people, is made of the same tags.
package config
