package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// grow measures the schools one after another, or reads what was measured, and writes how each call grows: with the
// years of a school, with its pupils, with the schools, and with the clients.
func grow(ctx context.Context, o arguments, out console) error {
	var all []result
	for _, path := range o.from {
		read, err := readCSV(path)
		if err != nil {
			return err
		}
		all = append(all, read...)
	}
	if len(o.from) == 0 {
		var err error
		if all, err = measureSchools(ctx, o, out); err != nil {
			return err
		}
	}
	var text strings.Builder
	for _, a := range axes(all[0]) {
		g := along(a, all)
		if len(g.rows) == 0 {
			continue
		}
		g.write(&text)
	}
	if err := os.WriteFile(o.out+"-growth.md", []byte(text.String()), 0o644); err != nil {
		return err
	}
	return out.print("%s\nwritten to %s-*\n", &text, o.out)
}

func measureSchools(ctx context.Context, o arguments, out console) ([]result, error) {
	root, err := checkout.Root()
	if err != nil {
		return nil, err
	}
	var all []result
	for i, s := range o.sizes {
		one := o
		one.size, one.clients = s, slices.Clone(o.clients)
		if i == 0 {
			one.clients = append(one.clients, o.crowd...)
		}
		r, err := measureSchool(ctx, one, out)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.describe(), err)
		}
		if err := r.write(out, o.out+"-"+s.String()); err != nil {
			return nil, err
		}
		all = append(all, r.results...)
		if !o.keep {
			if err := os.RemoveAll(one.folder(root)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// growth is how calls grow along one size.
type growth struct {
	title   string
	measure string   // what grows
	unit    string   // of it
	aim     float64  // the most that it should grow by; 0: there is none
	steps   []string // the sizes, the first of which is the base
	rows    []grown
}

// grown is how one call grows: its figure at the base, and how many times that it is at each further size;
// 0 where it was not measured.
type grown struct {
	call    string
	base    float64
	factors []float64
}

// axis is a size that calls grow with, and the figure that is compared.
type axis struct {
	title, measure string
	step           string // how a size is called
	size           func(result) int
	counts         func(result) bool
	figure         func(result) time.Duration
	aim            float64
	unit           string // of the figures
	// relative: figures are so many times that of whoami in the same run, whose price doesn't depend on the school.
	// Runs of schools are minutes apart, and the machine may be busier in one of them.
	relative bool
}

// axes are those of the tables; base is the first result of all.
func axes(base result) []axis {
	processor := func(r result) time.Duration { return r.allProcessor() }
	p50 := func(r result) time.Duration { return r.belfry.p50 }
	years := axis{relative: true, unit: whoami, step: "%d school years", aim: mostGrowth,
		size: func(r result) int { return r.years }}
	pupils := axis{relative: true, unit: whoami, step: "%d pupils", aim: mostGrowth,
		size: func(r result) int { return r.pupils }}
	schools := axis{relative: true, unit: whoami, step: "%d schools", aim: mostGrowth,
		size: func(r result) int { return r.schools }}
	with := func(a axis, what, grows string, clients int, figure func(result) time.Duration) axis {
		a.measure, a.figure = what, figure
		a.title = fmt.Sprintf("%s of a request, as the %s grow, with %d clients", what, grows, clients)
		a.title = strings.Replace(a.title, "1 clients", "one client", 1)
		counts := a.counts
		a.counts = func(r result) bool { return r.clients == clients && counts(r) }
		return a
	}
	years.counts = func(r result) bool { return r.pupils == base.pupils && r.schools == base.schools }
	pupils.counts = func(r result) bool { return r.years == base.years && r.schools == base.schools }
	schools.counts = func(r result) bool { return r.pupils == base.pupils && r.years == base.years }
	return []axis{
		with(years, "Processor time", "years of a school", aimClients, processor),
		with(years, "Median time", "years of a school", 1, p50),
		with(pupils, "Processor time", "pupils of one year", aimClients, processor),
		with(pupils, "Median time", "pupils of one year", 1, p50),
		with(schools, "Processor time", "schools in one Belfry", aimClients, processor),
		with(schools, "Median time", "schools in one Belfry", 1, p50),
		{unit: "ms", title: "Processor time of a request, as the clients grow",
			measure: "Processor time",
			step:    "%d clients", size: func(r result) int { return r.clients }, figure: processor,
			counts: func(r result) bool {
				return r.clients >= aimClients && r.size == base.size
			}},
	}
}

// along returns how the calls grow along an axis.
func along(a axis, all []result) growth {
	g := growth{title: a.title, measure: a.measure, aim: a.aim, unit: a.unit}
	var sizes []int
	var names []string
	figures := map[string]map[int]float64{}
	for _, r := range all {
		unit := float64(time.Millisecond)
		if a.relative {
			unit = float64(a.figure(sameRun(all, r, whoami)))
		}
		if !a.counts(r) || a.figure(r) == 0 || unit == 0 || (a.relative && r.call == whoami) {
			continue
		}
		if figures[r.call] == nil {
			figures[r.call] = map[int]float64{}
			names = append(names, r.call)
		}
		figures[r.call][a.size(r)] = float64(a.figure(r)) / unit
		if !slices.Contains(sizes, a.size(r)) {
			sizes = append(sizes, a.size(r))
		}
	}
	slices.Sort(sizes)
	if len(sizes) < 2 {
		return g
	}
	for _, n := range sizes {
		step := message.NewPrinter(language.BritishEnglish).Sprintf(a.step, n)
		if n == 1 {
			step = strings.TrimSuffix(step, "s")
		}
		g.steps = append(g.steps, step)
	}
	for _, call := range names {
		base := figures[call][sizes[0]]
		if base == 0 {
			continue
		}
		row := grown{call: call, base: base}
		for _, n := range sizes[1:] {
			row.factors = append(row.factors, figures[call][n]/base)
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// sameRun returns the result of another call in the school and with the clients of a result; none: an empty one.
func sameRun(all []result, r result, call string) result {
	for _, other := range all {
		if other.call == call && other.clients == r.clients && other.size == r.size {
			return other
		}
	}
	return result{}
}

// write writes the table.
func (g growth) write(b *strings.Builder) {
	title := g.title
	if g.aim > 0 {
		title += fmt.Sprintf(" (aim: × %.1f at most)", g.aim)
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	head := []string{"call", g.measure + " in " + g.unit + ", " + g.steps[0]}
	for _, step := range g.steps[1:] {
		head = append(head, "× with "+step)
	}
	writeHead(b, head...)
	for _, row := range g.rows {
		cells := []string{row.call, number(row.base, 2)}
		for _, f := range row.factors {
			cells = append(cells, optional(f, 2))
		}
		writeRow(b, cells...)
	}
}
