// Package untis reads the timetable that Untis exports as GPU001.TXT, as rows of a bundle's lessons.csv.
package untis

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// maxRows bounds the rows of a file.
const maxRows = 100_000

// Lesson is a lesson of Untis on one day in one period: all rows of its number, with their classes, teachers and rooms.
type Lesson struct {
	number, day, period string
	subjects, classes   []string
	teachers, rooms     []string
}

// days are the weekdays by Untis' number, less one.
var days = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// Columns are the columns of Cells.
var Columns = []string{"key", "body", "category", "weekday", "period", "elements"}

// Cells is the lesson as a row of lessons.csv. Its key is made of number, day and period.
func (l *Lesson) Cells(category string) []string {
	day, _ := strconv.Atoi(l.day) // it was checked
	body := strings.TrimSpace(strings.Join(l.subjects, "/") + " " + strings.Join(l.classes, ", "))
	if body == "" { // as of a time that is kept free
		body = strings.Join(slices.Concat(l.teachers, l.rooms), ", ")
	}
	return []string{fmt.Sprintf("%s-%s-%s", l.number, l.day, l.period), body, category, days[day-1], l.period,
		strings.Join(l.elements(), ";")}
}

func (l *Lesson) elements() (all []string) {
	for _, of := range []struct {
		entity string
		keys   []string
	}{{form.Group, l.classes}, {form.Staff, l.teachers}, {form.Location, l.rooms}, {form.Subject, l.subjects}} {
		for _, key := range of.keys {
			all = append(all, of.entity+":"+key)
		}
	}
	return all
}

// Read reads a file, whose lessons are in the order of their first rows. Short names are keys. When the file is
// invalid, the error is a *csvfile.FaultsError.
func Read(path string) ([]*Lesson, error) {
	name, faults := filepath.Base(path), &csvfile.FaultsError{What: "file"}
	sheet := &csvfile.Sheet{File: name, Headless: true,
		Columns: csvfile.Columns("lesson class teacher subject room day period [length]")}
	known, rows := map[string]*Lesson{}, 0
	var all []*Lesson
	for r, err := range csvfile.NewPass(sheet, faults).FileRows(os.DirFS(filepath.Dir(path)), name) {
		if err != nil {
			return nil, fmt.Errorf("reading the timetable: %w", err)
		}
		if rows++; rows > maxRows {
			r.Fault("lesson", "is beyond the %d rows that are allowed", maxRows)
			break
		}
		found := read(r)
		l := known[found.at()]
		if l == nil {
			l = found
			known[l.at()] = l
			all = append(all, l)
		} else {
			l.subjects, l.classes = union(l.subjects, found.subjects), union(l.classes, found.classes)
			l.teachers, l.rooms = union(l.teachers, found.teachers), union(l.rooms, found.rooms)
		}
		if len(l.elements()) > bundle.MaxElements {
			r.Fault("lesson", "has more than %d classes, teachers, rooms and subjects", bundle.MaxElements)
		}
	}
	return all, faults.OrNil()
}

// at is the same for all rows of a lesson at one time.
func (l *Lesson) at() string { return l.number + "\x00" + l.day + "\x00" + l.period }

func read(r *csvfile.Row) *Lesson {
	names := func(column string) []string {
		text := r.Word(column)
		if strings.Contains(text, ";") {
			r.Fault(column, "has a semicolon")
		}
		if text == "" || text == "?" {
			return nil
		}
		return []string{strings.Clone(text)}
	}
	number := func(column string, least, most int) string {
		n := r.Integer(column)
		if n == nil || *n < least || *n > most {
			r.Fault(column, "must be a number from %d to %d", least, most)
			return ""
		}
		return strconv.Itoa(*n)
	}
	l := &Lesson{number: number("lesson", 1, 1<<30), classes: names("class"), teachers: names("teacher"),
		subjects: names("subject"), rooms: names("room"), day: number("day", 1, len(days)),
		period: number("period", 0, 99)}
	if len(l.elements()) == 0 {
		r.Fault("class", "is empty, and so are teacher, subject and room")
	}
	return l
}

func union(all, more []string) []string {
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
