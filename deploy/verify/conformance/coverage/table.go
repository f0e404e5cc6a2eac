package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/deploy/verify/conformance/suite"
)

// table writes the document. What is wrong with the rules themselves is found by the package's test, not here.
func table(rules []suite.Rule, checks []suite.Check, tests []test) string {
	var doc strings.Builder
	doc.WriteString(`# Coverage of the contract

Every rule of the interface's contract, of the decisions where it is silent, and of its administration, with what proves it: the checks of the
conformance suite ([conformance.md](conformance.md)), as "suite", and tests of the services' own packages. A rule that the contract calls "not shown" promises nothing.
A test fails when a rule has no proof. This page is generated (` + "`make gen`" + `).

| Part | Rules | Proved by the suite | Proved from inside | Promise nothing |
|---|---|---|---|---|
`)
	for _, part := range suite.Parts() {
		doc.WriteString(summary(part, rules, checks))
	}
	for _, part := range suite.Parts() {
		fmt.Fprintf(&doc, "\n## %s\n\n| Rule | What it says | Proved by |\n|---|---|---|\n", heading(part))
		for _, r := range rules {
			if r.Part() == part {
				fmt.Fprintf(&doc, "| %s | %s | %s |\n", cell(r.ID), cell(r.Text), proof(r, checks, tests))
			}
		}
		if more := furtherTests(part, rules, tests); more != "" {
			fmt.Fprintf(&doc, "\nFurther tests of this part: %s.\n", more)
		}
	}
	return doc.String()
}

func heading(part string) string {
	switch {
	case part == "administration":
		return "Administration"
	case strings.HasPrefix(part, "decisions "):
		return "Decisions, part " + strings.TrimPrefix(part, "decisions ")
	default:
		return "Part " + part
	}
}

func summary(part string, rules []suite.Rule, checks []suite.Check) string {
	var all, bySuite, inside, silent int
	for _, r := range rules {
		if r.Part() != part {
			continue
		}
		all++
		switch {
		case len(proving(r, checks)) > 0:
			bySuite++
		case r.Inside != "":
			inside++
		case r.Silent:
			silent++
		}
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d |\n", heading(part), all, bySuite, inside, silent)
}

// proving are the names of the checks that prove a rule.
func proving(r suite.Rule, checks []suite.Check) []string {
	var names []string
	for _, c := range checks {
		if slices.Contains(c.Rules, r.ID) {
			names = append(names, c.Name)
		}
	}
	return names
}

func proof(r suite.Rule, checks []suite.Check, tests []test) string {
	var lines []string
	for _, name := range proving(r, checks) {
		lines = append(lines, "suite `"+name+"`")
	}
	for _, t := range tests {
		if t.Name == r.Inside || t.names(r.ID) {
			lines = append(lines, t.Package+" `"+t.Name+"`")
		}
	}
	if r.Silent {
		lines = append(lines, "promises nothing")
	}
	return strings.Join(lines, "<br>")
}

// furtherTests are those that name the part, and no rule of it.
func furtherTests(part string, rules []suite.Rule, tests []test) string {
	var names []string
	for _, t := range tests {
		named := slices.ContainsFunc(rules, func(r suite.Rule) bool { return r.Inside == t.Name || t.names(r.ID) })
		if t.part() == part && !named {
			names = append(names, t.Package+" `"+t.Name+"`")
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// cell is text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}
