package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/deploy/verify/conformance/suite"
)

// report is the outcome of a run, by the parts of the contract.
type report struct {
	counts
	Seconds float64 `json:"seconds"`
	Parts   []part  `json:"parts"`
}

// counts are numbers of checks.
type counts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// part is one part's share of a report.
type part struct {
	Part string `json:"part"`
	counts
	Checks []suite.Result `json:"checks"`
}

func (c *counts) add(v suite.Verdict) {
	switch v {
	case suite.Passed:
		c.Passed++
	case suite.Failed:
		c.Failed++
	case suite.Skipped:
		c.Skipped++
	}
}

func (c counts) String() string {
	text := fmt.Sprintf("%d passed", c.Passed)
	if c.Failed > 0 {
		text += fmt.Sprintf(", %d failed", c.Failed)
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

// newReport sorts results, which come as they ended, by part and as the checks are declared.
func newReport(results []suite.Result, took time.Duration) report {
	byName := map[string]suite.Result{}
	for _, r := range results {
		byName[r.Check] = r
	}
	all := report{Seconds: took.Seconds(), Parts: []part{}}
	for _, name := range suite.Parts() {
		p := part{Part: name}
		for _, c := range suite.Checks() {
			r, ran := byName[c.Name]
			if !ran || c.Part() != name {
				continue
			}
			p.Checks = append(p.Checks, r)
			p.add(r.Verdict)
			all.add(r.Verdict)
		}
		if len(p.Checks) > 0 {
			all.Parts = append(all.Parts, p)
		}
	}
	return all
}

func (r report) write(w io.Writer) error {
	var text strings.Builder
	for _, p := range r.Parts {
		fmt.Fprintf(&text, "%-15s %s\n", p.Part, p.counts)
		for _, c := range p.Checks {
			switch c.Verdict {
			case suite.Failed:
				fmt.Fprintf(&text, "  FAILED %s (%s)\n", c.Check, strings.Join(c.Rules, "; "))
				for _, failure := range c.Failures {
					fmt.Fprintf(&text, "    %s\n", strings.ReplaceAll(failure, "\n", "\n    "))
				}
			case suite.Skipped:
				fmt.Fprintf(&text, "  skipped %s: %s\n", c.Check, c.Why)
			}
		}
	}
	fmt.Fprintf(&text, "%-15s %s, in %.0f s\n", "all", r.counts, r.Seconds)
	_, err := io.WriteString(w, text.String())
	return err
}
