package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// shownComplaints bounds how many are printed: one fault of Belfry may cause thousands.
const shownComplaints = 50

// report prints what was written, what was broken, how long recoveries took, and what did not hold.
func report(out io.Writer, o arguments, l *ledger, t *trial, c *check, found []string) error {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...any) {
		for _, cell := range cells {
			fmt.Fprint(table, cell, "\t")
		}
		fmt.Fprintln(table)
	}
	head := []any{"answers"}
	for _, outcome := range outcomes {
		head = append(head, outcome)
	}
	row(append(head, "longest")...)
	names := []string{}
	for _, k := range kinds {
		names = append(names, k.name)
	}
	for _, kind := range append(names, allKinds) {
		cells := []any{kind}
		for _, outcome := range outcomes {
			cells = append(cells, l.counts.times[answered{kind, outcome}])
		}
		row(append(cells, seconds(l.counts.longest[kind]))...)
	}
	row()
	row("faults", "times", "stores back, longest", "then Belfry, longest")
	for _, fault := range slices.Sorted(maps.Keys(t.outages)) {
		o := t.outages[fault]
		row(fault, o.times, seconds(o.store), seconds(o.back))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	acknowledged := l.counts.times[answered{allKinds, outcomes[0]}]
	fmt.Fprintf(&text, "\n%d acknowledged writes in %s, %.1f a second; %d events of %d stand, %d notices, %d of them "+
		"sent again; settled after %s, %d reservations left; %d changes listed\n",
		acknowledged, o.duration, float64(acknowledged)/o.duration.Seconds(), len(c.standing), len(l.bookings),
		len(c.distinct), c.repeats, c.settled.Round(time.Second), c.reserved, c.listed)
	if t.replicaSet {
		fmt.Fprintf(&text, "the primary was stepped down every %s, %d times\n", stepDownEvery, t.stepDowns)
	}
	for _, note := range t.notes {
		fmt.Fprintln(&text, note)
	}
	for i, complaint := range found {
		if i == shownComplaints {
			fmt.Fprintf(&text, "… and %d more\n", len(found)-i)
			break
		}
		fmt.Fprintln(&text, "FAIL:", complaint)
	}
	if len(found) == 0 {
		fmt.Fprintf(&text, "PASS (seed %d)\n", o.seed)
	}
	_, err := io.WriteString(out, "\n"+text.String())
	return err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// console prints lines with the time since the start. It is safe for concurrent use.
type console struct {
	mu    sync.Mutex
	out   io.Writer
	began time.Time
}

func newConsole(out io.Writer) *console { return &console{out: out, began: time.Now()} }

func (t *console) line(format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// a closed terminal is no reason to stop
	fmt.Fprintf(t.out, "%6.1f  %s\n", time.Since(t.began).Seconds(), fmt.Sprintf(format, values...))
}

// complaints are what did not hold. They are safe for concurrent use.
type complaints struct {
	mu    sync.Mutex
	texts []string
}

func (c *complaints) add(format string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, fmt.Sprintf(format, values...))
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.texts)
}

// outcomes are the ways in which a request can be answered.
var outcomes = []string{"acknowledged", "503", "under way", "none", "other"}

// allKinds are the writes of all kinds together.
const allKinds = "all"

// answered is a kind of write and how its requests were answered.
type answered struct{ kind, outcome string }

// counts are the answers by kind of write. A write that is repeated counts each time. They are safe for concurrent use.
type counts struct {
	mu      sync.Mutex
	times   map[answered]int
	longest map[string]time.Duration // until any answer or the end of the connection, by kind
}

func newCounts() *counts {
	return &counts{times: map[answered]int{}, longest: map[string]time.Duration{}}
}

func (c *counts) answer(kind string, a servicetest.Answer, err error, took time.Duration) {
	outcome := "other"
	switch {
	case err != nil:
		outcome = "none"
	case a.Code == http.StatusOK || a.Code == http.StatusCreated:
		outcome = "acknowledged"
	case isUnavailable(a):
		outcome = "503"
	case isUnderWay(a):
		outcome = "under way"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range []string{kind, allKinds} {
		c.times[answered{k, outcome}]++
		c.longest[k] = max(c.longest[k], took)
	}
}
