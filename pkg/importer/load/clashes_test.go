package load_test

import (
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestHardToBreak_Row20_WhatClashesAmongTheRowsOfABundle has the rules of the service: what books an element, and when.
func TestHardToBreak_Row20_WhatClashesAmongTheRowsOfABundle(t *testing.T) {
	t.Parallel()
	const day = "2026-09-07 "
	for name, c := range map[string]struct {
		events string // category, starts, ends, elements
		more   map[string]string
		want   string // line, element, other line
	}{
		"one room at once":     {"l,09:00,10:00,R\nl,09:30,09:40,R", nil, "3 Location:R 2"},
		"one after another":    {"l,09:00,10:00,R\nl,10:00,11:00,R", nil, ""},
		"another room":         {"l,09:00,10:00,R\nl,09:30,10:00,S", nil, ""},
		"one that is not busy": {"l,09:00,10:00,R\nfree,09:00,10:00,R", nil, ""},
		"a long one over three": {"l,08:00,12:00,R\nl,09:00,09:30,R\nl,10:00,10:30,R\nl,11:00,11:30,R", nil,
			"3 Location:R 2; 4 Location:R 2; 5 Location:R 2"},
		"a moment inside":          {"l,09:00,10:00,R\nl,09:30,09:30,R", nil, "3 Location:R 2"},
		"a moment at its start":    {"l,09:00,10:00,R\nl,09:00,09:00,R", nil, "3 Location:R 2"},
		"a moment at its end":      {"l,09:00,10:00,R\nl,10:00,10:00,R", nil, ""},
		"two moments":              {"l,09:00,09:00,R\nl,09:00,09:00,R", nil, ""},
		"marks":                    {"l,09:00,10:00,Property:C;Subject:M\nl,09:00,10:00,Property:C;Subject:M", nil, ""},
		"a resource group":         {"l,09:00,10:00,Group:buses\nl,09:00,10:00,Group:buses", nil, ""},
		"a class and its pupil":    {"l,09:00,10:00,Group:9A\nl,09:30,10:00,Pupil:1", nil, "3 Pupil:1 2"},
		"a pupil and its class":    {"l,09:00,10:00,Pupil:1\nl,09:30,10:00,Group:9A", nil, "3 Pupil:1 2"},
		"a group of groups":        {"l,09:00,10:00,Pupil:1\nl,09:30,10:00,Group:school", nil, "3 Pupil:1 2"},
		"a class of the school":    {"l,09:00,10:00,Group:9A\nl,09:30,10:00,Group:school", nil, "3 Group:9A 2"},
		"not in the class then":    {"l,09:00,10:00,Group:9A\nl,09:30,10:00,Pupil:2", nil, ""},
		"both in one event":        {"l,09:00,10:00,Group:9A;Pupil:1", nil, ""},
		"twice in one event's day": {"l,09:00,10:00,R;S\nl,09:30,10:00,R;S", nil, "3 Location:R 2; 3 Location:S 2"},
		"rejected": {"l,09:00,10:00,R\nl,09:30,10:00,R", map[string]string{
			"commitments.csv": "event,element,status\n1,Location:R,rejected\n"}, ""},
		"requested": {"l,09:00,10:00,R\nl,09:30,10:00,R", map[string]string{
			"commitments.csv": "event,element,status\n1,Location:R,requested\n"}, "3 Location:R 2"},
		"allocated, whatever its type": {"l,09:00,10:00,Group:buses\nl,09:00,10:00,Group:buses;Property:C",
			map[string]string{"commitments.csv": "event,element,status,request\n" +
				"1,Property:C,uncontrolled,Group:buses\n"}, ""},
		"allocated twice": {"l,09:00,10:00,Group:buses\nl,09:00,10:00,Group:buses",
			map[string]string{"commitments.csv": "event,element,status,request\n" +
				"1,Property:C,uncontrolled,Group:buses\n2,Property:C,uncontrolled,Group:buses\n"}, "3 Property:C 2"},
	} {
		files := map[string]string{
			"locations.csv": "key,name\nR,R\nS,S\n", "properties.csv": "key,name\nC,C\n",
			"subjects.csv": "key,name\nM,M\n", "pupils.csv": "key,forename,surname\n1,A,B\n2,C,D\n",
			"groups.csv": "key,name,resource\n9A,9A,\nschool,School,\nbuses,Buses,true\n",
			"memberships.csv": "group,member,first_day,last_day\n9A,Pupil:1,,\n9A,Pupil:2,2026-09-08,\n" +
				"school,Group:9A,,\nbuses,Property:C,,\n",
			"eventcategories.csv": "key,name,busy\nl,Lesson,true\nfree,Free,false\n",
		}
		var rows strings.Builder
		rows.WriteString("key,body,category,starts_at,ends_at,elements\n")
		for i, event := range strings.Split(c.events, "\n") {
			cells := strings.Split(event, ",")
			elements := cells[3]
			for _, room := range []string{"R", "S"} {
				elements = strings.ReplaceAll(";"+elements+";", ";"+room+";", ";Location:"+room+";")
				elements = strings.Trim(elements, ";")
			}
			rows.WriteString(strings.Join([]string{string(rune('1' + i)), "E", cells[0], day + cells[1], day + cells[2],
				elements}, ",") + "\n")
		}
		files["events.csv"] = rows.String()
		for file, text := range c.more {
			files[file] = text
		}
		b, err := bundle.Open(clienttest.Folder(t, files), bundle.Options{Zone: timetest.London(t)})
		errortest.None(t, err, name)
		found, err := load.Clashes(t.Context(), nil, b, nil, timetest.London(t), nil)
		errortest.None(t, err, name)
		var got []string
		for _, w := range found.First {
			line, rest, _ := strings.Cut(strings.TrimPrefix(w.Text, "events.csv:"), ": ")
			element, rest, _ := strings.Cut(rest, " is booked twice at ")
			_, other, _ := strings.Cut(rest, ": line ")
			got = append(got, line+" "+element+" "+strings.TrimSuffix(other, " has it too"))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// measured is a source that measures the heap after its last event.
type measured struct {
	load.Source
	heap *uint64
}

func (m measured) Rows(kind bundle.Kind) iter.Seq2[bundle.Row, error] {
	return func(yield func(bundle.Row, error) bool) {
		for row, err := range m.Source.Rows(kind) {
			if !yield(row, err) {
				return
			}
		}
		if kind == bundle.Events {
			*m.heap = heapInUse()
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// Each way up through groups was walked: two to the power of the layers, where each group is in both groups of the
// layer above.
func TestClashes_EachGroupIsReachedOnce(t *testing.T) {
	const layers = 60
	groups, members := "key,name\n", "group,member,first_day,last_day\nG0a,Location:R,,\nG0b,Location:R,2026-09-08,\n"
	for i := range layers {
		groups += fmt.Sprintf("G%da,A\nG%db,B\n", i, i)
		for _, member := range []string{"a", "b"} {
			if i > 0 {
				members += fmt.Sprintf("G%da,Group:G%d%s,,\nG%db,Group:G%d%s,,\n", i, i-1, member, i, i-1, member)
			}
		}
	}
	members += fmt.Sprintf("G0a,Group:G%da,,\n", layers-1) // round in a circle
	events := "key,body,category,starts_at,ends_at,elements\n"
	for i, day := range []string{"2026-09-07", "2026-09-08"} {
		events += fmt.Sprintf("%d,E,l,%s 09:00,%s 10:00,Group:G%db\n", 2*i, day, day, layers-1)
		events += fmt.Sprintf("%d,E,l,%s 09:30,%s 10:00,Location:R\n", 2*i+1, day, day)
	}
	b, err := bundle.Open(clienttest.Folder(t, map[string]string{
		"locations.csv": "key,name\nR,R\n", "groups.csv": groups, "memberships.csv": members,
		"eventcategories.csv": "key,name,busy\nl,Lesson,true\n", "events.csv": events,
	}), bundle.Options{Zone: timetest.London(t)})
	errortest.None(t, err)
	found, err := load.Clashes(t.Context(), nil, b, nil, timetest.London(t), nil)
	errortest.None(t, err)
	rooms := 0
	for _, w := range found.First {
		if strings.Contains(w.Text, "Location:R is booked twice") {
			rooms++
		}
	}
	valuetest.Same(t, rooms, 2, "the room clashes %d times: %v", rooms, found.First)
}

// TestClashes_TakeLittleMemory, since belfryctl holds the bookings of a school of five years, a million.
func TestClashes_TakeLittleMemory(t *testing.T) {
	const events, perEvent = 20_000, 100 // bytes, with four elements each
	var rows strings.Builder
	rows.WriteString("key,body,category,starts_at,ends_at,elements\n")
	for i := range events {
		fmt.Fprintf(&rows, "%060d,Lesson,l,2026-09-07 09:00,2026-09-07 09:00,"+
			"Location:1;Location:2;Location:3;Location:4\n", i)
	}
	zone := timetest.London(t)
	b, err := bundle.Open(clienttest.Folder(t, map[string]string{
		"locations.csv": "key,name\n1,A\n2,B\n3,C\n4,D\n", "eventcategories.csv": "key,name,busy\nl,Lesson,true\n",
		"events.csv": rows.String(),
	}), bundle.Options{Zone: zone})
	errortest.None(t, err)
	before, held := heapInUse(), uint64(0)
	errortest.None(t, errortest.Of(load.Clashes(t.Context(), nil, measured{b, &held}, nil, zone, nil)))
	if got := (held - before) / events; got > perEvent {
		t.Errorf("%d bytes are held of an event, at most %d are expected", got, perEvent)
	}
}
