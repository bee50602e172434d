// Package strictyaml reads a YAML file into structs whose tags are its only
// description. The tags are:
//
//	yaml:"port"          the key
//	min:"1" max:"65535"  bounds of a number, or of how many entries a list has
//	enum:"a b"           the words that are allowed
//	required:"true"      the key may not be missing
//	single:"true"        a list may be written as its only entry
//
// Every problem of a file is found in one go and named with its line and column, in
// words that need no knowledge of a parser or of Go. "${NAME}" in a value stands for an
// environment variable; its content is never parsed as YAML. "$${" is a literal "${".
package strictyaml
