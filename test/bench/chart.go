package main

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"text/template"
)

// chartTemplate draws a row of dots for each call. Colours follow the reader's choice of light or dark.
//
//go:embed chart.svg.tmpl
var chartTemplate string

var chartShape = template.Must(template.New("chart").Parse(chartTemplate))

// The layout of a chart, in pixels.
const (
	chartWidth  = 900
	chartTop    = 84
	chartRow    = 28
	chartLeft   = 400 // of the axis
	chartRight  = chartWidth - 70
	chartBottom = 34 // below the rows
)

// mark is something at a place of a chart.
type mark struct {
	X, Y        string
	Text        string
	One, Hollow bool
}

// chartLine is the row of a call.
type chartLine struct {
	Call, Figure  string // and what it takes at the base
	Y, TextY      int
	From, To      string
	Dots          []mark
	Value, ValueX string
	Over          bool // more than the aim
}

// chart returns the growth as a picture in SVG.
func (g growth) chart() string {
	low, high := g.bounds()
	at := func(factor float64) float64 {
		return chartLeft + (factor-low)/(high-low)*(chartRight-chartLeft)
	}
	place := func(x float64) string { return number(x, 1) }
	bottom := chartTop + chartRow*len(g.rows)
	view := map[string]any{
		"Width": chartWidth, "Height": bottom + chartBottom, "Title": g.title, "Base": g.steps[0],
		"Top": chartTop - 6, "Bottom": bottom, "TickY": bottom + 18, "AimY": chartTop - 12,
		"LabelX": chartLeft - 16, "ValueX": chartWidth - 16,
	}
	var steps []string
	for i, step := range g.steps[1:] {
		sign := "○ "
		if i == len(g.steps)-2 {
			sign = "● "
		}
		steps = append(steps, sign+step)
	}
	view["Steps"] = steps
	var ticks []mark
	gap := niceGap(high - low)
	for tick := math.Ceil(low/gap) * gap; tick <= high+gap/100; tick += gap {
		one := math.Abs(tick-1) < gap/100
		ticks = append(ticks, mark{X: place(at(tick)), Text: strings.TrimSuffix(number(tick, 1), ".0"), One: one})
	}
	view["Ticks"] = ticks
	if g.aim > 0 {
		view["Aim"] = mark{X: place(at(g.aim)), Text: fmt.Sprintf("aim: at most %.1f", g.aim)}
	}
	var rows []chartLine
	for i, r := range g.rows {
		y := chartTop + chartRow*i + chartRow/2
		last := r.factors[len(r.factors)-1]
		line := chartLine{Call: r.call, Figure: number(r.base, 2) + " " + g.unit, Y: y, TextY: y + 4,
			From: place(at(1)), To: place(at(last)), Value: "× " + number(last, 2),
			Over: g.aim > 0 && last > g.aim}
		for n, factor := range r.factors {
			if factor > 0 {
				line.Dots = append(line.Dots,
					mark{X: place(at(factor)), Y: number(float64(y), 0), Hollow: n < len(r.factors)-1})
			}
		}
		rows = append(rows, line)
	}
	view["Rows"] = rows
	var text strings.Builder
	if err := chartShape.Execute(&text, view); err != nil {
		panic(err) // the template is this program's own
	}
	return text.String()
}

// bounds returns the least and the largest factor of the axis: 1 and the aim are on it.
func (g growth) bounds() (low, high float64) {
	low, high = 0.8, 1.4
	for _, r := range g.rows {
		for _, f := range r.factors {
			if f > 0 {
				low, high = min(low, f), max(high, f)
			}
		}
	}
	gap := niceGap(high - low)
	return math.Floor(low/gap) * gap, math.Ceil(high/gap) * gap
}

// niceGap returns the distance of ticks over such a range.
func niceGap(span float64) float64 {
	for _, gap := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20} {
		if span/gap <= 10 {
			return gap
		}
	}
	return 50
}
