package main

import (
	"fmt"
	"slices"
	"strings"
)

// table returns the document.
func table(rules []rule, tests []test) string {
	var doc strings.Builder
	doc.WriteString(`# Coverage of the contract

Every rule of the interface's contract, of the decisions where it is silent, and of its administration, with what
proves it: the conformance tests ([conformance.md](conformance.md)), as "suite", and tests of the services' own
packages. A rule that the contract calls "not shown" promises nothing.
A test fails when a rule has no proof. This page is generated (` + "`make gen`" + `).

| Part | Rules | Proved by the suite | Proved from inside | Promise nothing |
|---|---|---|---|---|
`)
	for _, p := range parts {
		doc.WriteString(summary(p.name, rules))
	}
	for _, p := range parts {
		fmt.Fprintf(&doc, "\n## %s\n\n| Rule | What it says | Proved by |\n|---|---|---|\n", heading(p.name))
		for _, r := range rules {
			if part(r.id) == p.name {
				fmt.Fprintf(&doc, "| %s | %s | %s |\n", cell(r.id), cell(r.text), proofs(r))
			}
		}
		if more := furtherTests(p.name, rules, tests); more != "" {
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

func summary(of string, rules []rule) string {
	var all, bySuite, inside, silent int
	for _, r := range rules {
		if part(r.id) != of {
			continue
		}
		all++
		switch {
		case r.silent:
			silent++
		case slices.ContainsFunc(r.proofs, func(t test) bool { return t.Package == suite }):
			bySuite++
		default:
			inside++
		}
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d |\n", heading(of), all, bySuite, inside, silent)
}

func proofs(r rule) string {
	var lines []string
	for _, p := range r.proofs {
		where := p.Package
		if where == suite {
			where = "suite"
		}
		lines = append(lines, where+" `"+p.Name+"`")
	}
	if r.silent {
		lines = append(lines, "promises nothing")
	}
	return strings.Join(lines, "<br>")
}

// furtherTests returns the tests that name the part, and prove no rule of it.
func furtherTests(part string, rules []rule, tests []test) string {
	var names []string
	for _, t := range tests {
		proves := slices.ContainsFunc(rules, func(r rule) bool { return slices.Contains(r.proofs, t) })
		if t.part() == part && !proves {
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
