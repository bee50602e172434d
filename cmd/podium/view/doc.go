// Package view shows runs to people: as plain lines, and live in a terminal.
package view
