package definition

import "github.com/ebbflow/ebb/flow"

// A Rule is one requirement for definitions. Every problem names the rule that is broken.
type Rule struct {
	Name     string              // stable name, such as "next-or-end"
	Code     flow.DiagnosticCode // code of a breach in the words of the language's inventor; "" if there is none
	Severity flow.Severity       // severity of a breach
	Demands  string              // the requirement, in one sentence

	// Databases have definitions that are older than the rule. To those, a breach is a warning.
	Later bool
}

// A Catalog contains the rules of a language, in the order of its manual.
type Catalog struct {
	Code  flow.DiagnosticCode // code of most rules
	rules []*Rule
}

// New adds a rule.
func (c *Catalog) New(name string, code flow.DiagnosticCode, severity flow.Severity, demands string) *Rule {
	r := &Rule{Name: name, Code: code, Severity: severity, Demands: demands}
	c.rules = append(c.rules, r)
	return r
}

// Illegal adds a rule whose breach makes a definition illegal.
func (c *Catalog) Illegal(name, demands string) *Rule {
	return c.New(name, c.Code, flow.SeverityError, demands)
}

// Later adds a rule like Illegal. In a definition that was accepted before the rule was made, a breach is a warning.
func (c *Catalog) Later(name string, code flow.DiagnosticCode, demands string) *Rule {
	r := c.New(name, code, flow.SeverityError, demands)
	r.Later = true
	return r
}

// Doubtful adds a rule whose breach is a warning.
func (c *Catalog) Doubtful(name, demands string) *Rule {
	return c.New(name, c.Code, flow.SeverityWarning, demands)
}

// Rules returns the rules.
func (c *Catalog) Rules() []*Rule { return c.rules }

// Common are the rules that every language has.
type Common struct {
	Size      *Rule // size of the text
	JSON      *Rule
	Nesting   *Rule
	Object    *Rule // the definition is an object
	Once      *Rule // names occur once in an object
	Required  *Rule
	Type      *Rule
	Value     *Rule
	Empty     *Rule
	Extension *Rule // additions of Ebb, under strict validation

	Deep string // message for objects and arrays that nest too deeply
}
