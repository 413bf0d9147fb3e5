package definition

import "github.com/ebbflow/ebb/flow"

// A Rule is one thing that is demanded of definitions. Every problem names the
// rule that it breaks.
type Rule struct {
	Name     string              // stable, such as "next-or-end"
	Code     flow.DiagnosticCode // what the inventor of the language calls a breach; "" where there is no such word
	Severity flow.Severity       // what a breach means
	Demands  string              // what is demanded, one sentence
}

// A Catalogue has the rules of a language, in the order of its manual.
type Catalogue struct {
	Code  flow.DiagnosticCode // of most rules
	rules []*Rule
}

// New adds a rule.
func (c *Catalogue) New(name string, code flow.DiagnosticCode, severity flow.Severity, demands string) *Rule {
	r := &Rule{Name: name, Code: code, Severity: severity, Demands: demands}
	c.rules = append(c.rules, r)
	return r
}

// Illegal adds a rule that a legal definition keeps.
func (c *Catalogue) Illegal(name, demands string) *Rule {
	return c.New(name, c.Code, flow.SeverityError, demands)
}

// Doubtful adds a rule whose breach is warned of.
func (c *Catalogue) Doubtful(name, demands string) *Rule {
	return c.New(name, c.Code, flow.SeverityWarning, demands)
}

// Rules returns the rules.
func (c *Catalogue) Rules() []*Rule { return c.rules }

// Common are the rules that every language has.
type Common struct {
	Size      *Rule // of the text
	JSON      *Rule
	Nesting   *Rule
	Object    *Rule // the definition is one
	Once      *Rule // a name in an object
	Required  *Rule
	Type      *Rule
	Value     *Rule
	Empty     *Rule
	Extension *Rule // what Ebb adds, under strict validation

	Deep string // says that objects and arrays nest too deeply
}
