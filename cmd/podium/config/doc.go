// Package config reads podium.yaml: it is the only place where a deployment says
// what it wants, and the Go structs here are the only description of that file.
//
// The structs' tags hold the rules that need no other part of the file (a bound,
// a closed set of words, a required key), and both the reader and the JSON Schema
// for editors follow from them:
//
//	yaml:"port"          the key
//	min:"1" max:"65535"  bounds of a number, or of how many entries a list has
//	enum:"a b"           the words that are allowed
//	required:"true"      the key may not be missing
//	default:"8080"       what WithDefaults sets, for the reader of the schema
//	doc:"…"              one sentence for the reader of the schema
//
// docs/configuration.md, the reference for people, is made of the same tags.
//
// Reading is strict. Every problem of a file is found in one go and named with
// its line and column. "${NAME}" in a value stands for an environment variable;
// its content is never parsed as YAML. "$${" is a literal "${".
package config
