// Package rights has the table of who may do what: every route of the interface, for every kind of user, with the
// answer. The conformance suite asks a running Belfry for each; docs/rights.md shows it.
package rights

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed table.txt
var text string

// Kinds of users, in the order of the table's columns.
var kinds = []string{
	"none", "guest", "pupil", "staff", "adder", "editor", "privileged", "su", "switched", "keeper", "owner", "head",
	"admin", "deactivated",
}

// Kinds returns the kinds of users, in the order of the table's columns.
func Kinds() []string { return slices.Clone(kinds) }

// Row is a call with the answers to it.
type Row struct {
	Route   string            // such as "PATCH /api/events/{id}"
	Case    string            // of whom, or what: "another's"
	Section string            // what the table calls the rows around it
	Answers map[string]Answer // by kind of user
}

// Answer is what a kind of user gets.
type Answer struct {
	Code  int
	Shows string // of a list: + when it shows the record in question, - when it does not; "" for everything else
}

// String returns the answer as the table has it.
func (a Answer) String() string { return fmt.Sprint(a.Code, a.Shows) }

// Name returns what the table calls the row, route and case.
func (r Row) Name() string { return r.Route + " | " + r.Case }

// Table returns the rows in their order.
func Table() ([]Row, error) { return parse(text) }

func parse(text string) ([]Row, error) {
	var rows []Row
	section, named := "", map[string]bool{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var about []string
		for line := range strings.Lines(paragraph) {
			line = strings.TrimSpace(line)
			if comment, ok := strings.CutPrefix(line, "#"); ok {
				about = append(about, strings.TrimSpace(comment))
				section = strings.Join(about, " ")
				continue
			}
			row, err := parseRow(line)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			if named[row.Name()] {
				return nil, fmt.Errorf("%q comes twice", row.Name())
			}
			named[row.Name()] = true
			row.Section = section
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func parseRow(line string) (Row, error) {
	fields := strings.Split(line, " | ")
	if len(fields) != 3 {
		return Row{}, fmt.Errorf("it has %d fields", len(fields))
	}
	r := Row{Route: fields[0], Case: fields[1], Answers: map[string]Answer{}}
	for i, given := range strings.Split(fields[2], ", ") {
		words := strings.Fields(given)
		if len(words) == 0 || i == 0 && len(words) > 1 {
			return Row{}, fmt.Errorf("the answer %q", given)
		}
		answer, err := parseAnswer(words[len(words)-1])
		if err != nil {
			return Row{}, err
		}
		if i == 0 {
			for _, kind := range kinds {
				r.Answers[kind] = answer
			}
			r.Answers["none"], r.Answers["deactivated"] = Answer{Code: 401}, Answer{Code: 401}
		}
		for _, kind := range words[:len(words)-1] {
			if !slices.Contains(kinds, kind) {
				return Row{}, fmt.Errorf("there is no kind %q", kind)
			}
			r.Answers[kind] = answer
		}
	}
	return r, nil
}

var answerForm = regexp.MustCompile(`^([2-4]\d\d)([+-]?)$`)

func parseAnswer(word string) (Answer, error) {
	found := answerForm.FindStringSubmatch(word)
	if found == nil {
		return Answer{}, fmt.Errorf("the answer %q", word)
	}
	var a Answer
	_, err := fmt.Sscan(found[1], &a.Code)
	a.Shows = found[2]
	return a, err
}

// Differences returns the routes of an OpenAPI document that have no row, and the rows that have no route, sorted.
func Differences(rows []Row, document []byte) ([]string, error) {
	var served struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(document, &served); err != nil {
		return nil, fmt.Errorf("read the interface's document: %w", err)
	}
	routes := map[string]bool{} // true when it has a row
	for path, methods := range served.Paths {
		for method := range methods {
			if method != "parameters" {
				routes[strings.ToUpper(method)+" "+path] = false
			}
		}
	}
	var all []string
	for _, r := range rows {
		if _, ok := routes[r.Route]; !ok {
			all = append(all, r.Route+" has a row, but is not served")
		}
		routes[r.Route] = true
	}
	for route, has := range routes {
		if !has {
			all = append(all, route+" has no row")
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
