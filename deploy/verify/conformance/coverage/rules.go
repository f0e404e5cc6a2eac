package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// rulesText has a rule a line: its id, what it says, and for one that the conformance tests don't prove, the test
// of a package that does, or "promises nothing".
//
//go:embed rules.txt
var rulesText string

// rule is one sentence of the contract, of decisions or of administration that can be kept or broken.
type rule struct {
	id   string // part and place, such as "4.2 rule 5" or "decisions 2 cookie"
	text string // in our words
	// the contract says "not shown", and what was decided, if anything, is another rule: there is nothing to check
	silent bool
	inside string // the test of a package that proves what no client can see, or can see only by disturbing others
}

// part is that of the rule: "4.2", "decisions 2", "administration".
func (r rule) part() string { return ofRule.FindString(r.id) }

var ofRule = regexp.MustCompile(`^(decisions \S+|\S+)`)

// readRules returns every rule, in the order of the documents.
func readRules(text string) ([]rule, error) {
	var rules []rule
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		fields := strings.Split(line, " | ")
		if len(fields) < 2 || len(fields) > 3 {
			return nil, fmt.Errorf("%q is no rule", line)
		}
		r := rule{id: fields[0], text: fields[1]}
		switch {
		case len(fields) == 2:
		case fields[2] == "promises nothing":
			r.silent = true
		default:
			r.inside = fields[2]
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// partsOf are the parts of the rules, in the order of the documents.
func partsOf(rules []rule) []string {
	var parts []string
	for _, r := range rules {
		if !slices.Contains(parts, r.part()) {
			parts = append(parts, r.part())
		}
	}
	return parts
}
