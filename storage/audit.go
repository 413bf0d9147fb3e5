package storage

import (
	"fmt"
	"strings"
)

// An Issuer is who gave a command to a run, or changed something else that Ebb keeps.
type Issuer struct {
	Via  Via    // how the command was given
	Name string // name of the person, or of the key of a program; "" if it is not known
}

// Via is how a command was given.
type Via string

// The ways to give a command.
const (
	ViaCommand Via = "command" // by the ebb command, which opened the database itself
	ViaLibrary Via = "library" // by a program that uses Ebb as a library
	ViaConsole Via = "console" // on a page of the console
	ViaAPI     Via = "api"     // through the REST API
	ViaBulk    Via = "bulk"    // by a bulk command, whose id is the name, see package bulk
)

// Claimed reports whether Ebb did not check the name. A process that opens the database directly can give any name.
func (i *Issuer) Claimed() bool { return i.Via == ViaCommand || i.Via == ViaLibrary }

// String returns the name and how the command was given, such as "alice (console)" or "bob (command, claimed)".
func (i *Issuer) String() string {
	if i == nil { // of an entry that is damaged
		return "unknown caller"
	}
	name, way := i.Name, string(i.Via)
	if name == "" {
		name = "unnamed caller"
	} else if i.Claimed() {
		way += ", claimed"
	}
	return fmt.Sprintf("%s (%s)", name, way)
}

// Text returns the issuer as one text, for [ParseIssuer]; "" for nil.
func (i *Issuer) Text() string {
	if i == nil {
		return ""
	}
	return string(i.Via) + ":" + i.Name
}

// ParseIssuer returns the issuer of a text of [Issuer.Text]; nil for "".
func ParseIssuer(text string) *Issuer {
	if text == "" {
		return nil
	}
	via, name, _ := strings.Cut(text, ":")
	return &Issuer{Via(via), name}
}
