package main

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// rulesText has one rule on each line: its id and its text. A rule that no conformance test proves has the test of
// a package that does, or "promises nothing".
//
//go:embed rules.txt
var rulesText string

// rule is one sentence of the contract, of decisions or of administration that can be kept or broken.
type rule struct {
	id   string // part and place, such as "4.2 rule 5" or "decisions 2 cookie"
	text string // in our words
	// the contract says "not shown": there is nothing to check. A decision about it, if any, is a rule of its own.
	silent bool
	inside string // the test of a package; it proves what clients cannot see without disturbing others
}

// part returns the part of the rule: "4.2", "decisions 2", "administration".
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

// partsOf returns the parts of the rules, in the order of the documents.
func partsOf(rules []rule) []string {
	var parts []string
	for _, r := range rules {
		if !slices.Contains(parts, r.part()) {
			parts = append(parts, r.part())
		}
	}
	return parts
}
