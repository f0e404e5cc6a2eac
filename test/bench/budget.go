package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// trips are the round trips of a request, over all services.
type trips struct{ mongo, redis, neighbours int }

// budget is the table of round trips in docs/budget.md: its rows, by line.
type budget []string

// readBudget reads the table of this checkout.
func readBudget(root string) (budget, error) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "budget.md"))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(text), "\n"), nil
}

// of returns the round trips of the first row that begins so. Its columns are the route, what was counted, MongoDB,
// Redis, the neighbours with how often each, and the first two there.
func (b budget) of(begins string) (trips, error) {
	for _, row := range b {
		if !strings.HasPrefix(row, "| "+begins) {
			continue
		}
		cells := strings.Split(strings.Trim(row, "| "), " | ")
		if len(cells) != 7 {
			return trips{}, fmt.Errorf("docs/budget.md: no row of the budget: %s", row)
		}
		mongo, err1 := sum(cells[2], cells[5])
		redis, err2 := sum(cells[3], cells[6])
		var called []string // "events 1, identity 1"
		for _, neighbour := range strings.Split(cells[4], ", ") {
			if _, times, found := strings.Cut(neighbour, " "); found {
				called = append(called, times)
			}
		}
		neighbours, err3 := sum(called...)
		return trips{mongo, redis, neighbours}, errors.Join(err1, err2, err3)
	}
	return trips{}, fmt.Errorf("docs/budget.md has no row of the budget that begins with %q", begins)
}

func sum(cells ...string) (total int, err error) {
	for _, cell := range cells {
		n, err := strconv.Atoi(cell)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
