package suite

import (
	"slices"
	"strings"
)

// Rule is one sentence of the contract, of decisions or of administration that can be kept or broken.
type Rule struct {
	ID     string // part and place, such as "4.2 rule 5" or "decisions 2 cookie"
	Text   string // in our words
	Silent bool   // the contract says "not shown" and nothing was decided, or decided elsewhere as the text says: there is nothing to check
	Inside string // the test of a package that proves what no client can see, or can see only by disturbing others
}

// Part is that of the rule: "4.2", "decisions 2", "administration".
func (r Rule) Part() string {
	words := strings.Fields(r.ID)
	if words[0] == "decisions" {
		return "decisions " + words[1]
	}
	return words[0]
}

// Rules returns every rule, in the order of the documents.
func Rules() []Rule {
	return slices.Concat(fieldRules(), stateRules(), endpointRules(), sessionRules(), envelopeDecisions(), elementDecisions(), eventDecisions(), administrationRules())
}

// Parts returns the parts of the rules, in the order of the documents.
func Parts() []string {
	var parts []string
	for _, r := range Rules() {
		if !slices.Contains(parts, r.Part()) {
			parts = append(parts, r.Part())
		}
	}
	return parts
}

// Part is the part that the check is reported under: that of its first rule.
func (c Check) Part() string { return Rule{ID: c.Rules[0]}.Part() }
