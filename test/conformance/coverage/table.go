package main

import (
	"fmt"
	"slices"
	"strings"
)

// table returns the document. It does not check the rules; the package's test does.
func table(rules []rule, checks []check, tests []test) string {
	var doc strings.Builder
	doc.WriteString(`# Coverage of the contract

Every rule of the interface's contract, of the decisions where it is silent, and of its administration, with what
proves it: the conformance tests ([conformance.md](conformance.md)), as "suite", and tests of the services' own
packages. A rule that the contract calls "not shown" promises nothing.
A test fails when a rule has no proof. This page is generated (` + "`make gen`" + `).

| Part | Rules | Proved by the suite | Proved from inside | Promise nothing |
|---|---|---|---|---|
`)
	for _, part := range partsOf(rules) {
		doc.WriteString(summary(part, rules, checks))
	}
	for _, part := range partsOf(rules) {
		fmt.Fprintf(&doc, "\n## %s\n\n| Rule | What it says | Proved by |\n|---|---|---|\n", heading(part))
		for _, r := range rules {
			if r.part() == part {
				fmt.Fprintf(&doc, "| %s | %s | %s |\n", cell(r.id), cell(r.text), proof(r, checks, tests))
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
	case part == "clients":
		return "What clients of a calendar expect"
	case strings.HasPrefix(part, "decisions "):
		return "Decisions, part " + strings.TrimPrefix(part, "decisions ")
	default:
		return "Part " + part
	}
}

func summary(part string, rules []rule, checks []check) string {
	var all, bySuite, inside, silent int
	for _, r := range rules {
		if r.part() != part {
			continue
		}
		all++
		switch {
		case len(proving(r, checks)) > 0:
			bySuite++
		case r.inside != "":
			inside++
		case r.silent:
			silent++
		}
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d |\n", heading(part), all, bySuite, inside, silent)
}

// proving returns the names of the checks that prove a rule.
func proving(r rule, checks []check) []string {
	var names []string
	for _, c := range checks {
		if slices.Contains(c.rules, r.id) {
			names = append(names, c.name)
		}
	}
	return names
}

func proof(r rule, checks []check, tests []test) string {
	var lines []string
	for _, name := range proving(r, checks) {
		lines = append(lines, "suite `"+name+"`")
	}
	for _, t := range tests {
		if t.Name == r.inside || t.names(r.id) {
			lines = append(lines, t.Package+" `"+t.Name+"`")
		}
	}
	if r.silent {
		lines = append(lines, "promises nothing")
	}
	return strings.Join(lines, "<br>")
}

// furtherTests returns the tests that name the part, and no rule of it.
func furtherTests(part string, rules []rule, tests []test) string {
	var names []string
	for _, t := range tests {
		named := slices.ContainsFunc(rules, func(r rule) bool { return r.inside == t.Name || t.names(r.id) })
		if t.part() == part && !named {
			names = append(names, t.Package+" `"+t.Name+"`")
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// cell returns text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}
