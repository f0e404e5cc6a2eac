package auditlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// head administers the box 3 and of the things, of which there are too many to list, those that are divided by 1,000.
// It notes how many things it is asked about, and how often.
type head struct{ asked, questions int }

func (h *head) own() auditlog.Own {
	return auditlog.Own{
		Records: func(context.Context, principal.Principal) (map[string][]int64, error) {
			return map[string][]int64{"Box": {3}}, nil
		},
		Many: "Thing",
		OfMany: func(_ context.Context, _ principal.Principal, ids []int64) (own []int64, err error) {
			h.asked += len(ids)
			h.questions++
			return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id%1000 != 0 }), nil
		},
	}
}

// records returns what the head's entries are about, all pages of limit entries, and how many entries each has.
func (h *head) records(t *testing.T, log *auditlog.Log, q auditlog.Query) (records []string, pages []int) {
	t.Helper()
	for {
		entries, next, err := log.FindOwn(t.Context(), principal.Principal{}, q, h.own())
		errortest.None(t, err)
		for _, e := range entries {
			records = append(records, e.Record)
		}
		if pages = append(pages, len(entries)); next == "" {
			return records, pages
		}
		if q.After != "" && next >= q.After {
			t.Fatalf("after %s it goes on after %s", q.After, next)
		}
		q.After = next
	}
}

// TestFindOwn_WalksAmongAllEntries: of 4,999 entries of things five are the head's own. One call finds them all, in a
// few questions; with limit 1 each page has one.
func TestFindOwn_WalksAmongAllEntries(t *testing.T) {
	log, _ := open(t)
	record := func(recordType string, id int64, besides ...audit.Record) audit.Entry {
		return audit.Make(t.Context(), audit.Update, audit.RecordOf(recordType, id), nil, besides...)
	}
	var entries []audit.Entry
	for id := int64(1); id < 5000; id++ {
		switch id {
		case 500:
			entries = append(entries, record("Box", 3))
		case 501:
			entries = append(entries, record("Box", 4))
		case 4990:
			entries = append(entries, record("Part", 7, audit.RecordOf("Thing", 4000))) // a part of its own
		case 4000:
			entries = append(entries, record("Part", 8, audit.RecordOf("Thing", 3999))) // of another's
		default:
			entries = append(entries, record("Thing", id))
		}
	}
	errortest.None(t, log.Record(t.Context(), entries...))
	all := []string{"Part:7", "Thing:3000", "Thing:2000", "Thing:1000", "Box:3"}
	find := func(q auditlog.Query, wantRecords []string, wantPages ...int) head {
		t.Helper()
		var h head
		records, pages := h.records(t, log, q)
		if !slices.Equal(records, wantRecords) || !slices.Equal(pages, wantPages) {
			t.Errorf("%+v: %q in pages of %v; want %q in %v", q, records, pages, wantRecords, wantPages)
		}
		return h
	}
	limit := func(n int) auditlog.Choice { return auditlog.Choice{Limit: n} }
	h := find(auditlog.Query{Choice: limit(100)}, all, 5)
	if h.questions > 3 || h.asked > 5000 {
		t.Errorf("%d things were asked about in %d questions", h.asked, h.questions)
	}
	find(auditlog.Query{Choice: limit(1)}, all, 1, 1, 1, 1, 1, 0)
	find(auditlog.Query{Record: "Thing", Choice: limit(100)}, all[1:4], 3)
	find(auditlog.Query{Record: "Thing:4000", Choice: limit(100)}, all[:1], 1)
	find(auditlog.Query{Record: "Part", Choice: limit(1)}, all[:1], 1, 0)
	find(auditlog.Query{Record: "Part:8", Choice: limit(1)}, nil, 0)
	find(auditlog.Query{Record: "Box:3", Choice: limit(1)}, all[4:], 1, 0)

	for _, record := range []string{"Thing:3999", "Thing:99999", "Thing:x", "Box:4"} {
		_, _, err := log.FindOwn(t.Context(), principal.Principal{}, auditlog.Query{Record: record, Choice: limit(1)},
			h.own())
		valuetest.Holds(t, problem.Is(err, problem.Forbidden), "%s: %v", record, err)
	}
}

// TestDecisionsPart9_TheAuditOfOthersMovesNoPage: what a head of a school reads of its own, and where its pages end,
// are the same whether others have entries before, between and after its own or not.
func TestDecisionsPart9_TheAuditOfOthersMovesNoPage(t *testing.T) {
	begun := time.Now()
	at := func(ago time.Duration, recordType string, id int64) audit.Entry {
		e := audit.Make(t.Context(), audit.Update, audit.RecordOf(recordType, id), nil)
		e.At = begun.Add(-ago)
		e.ID = mongostore.FirstUUID(e.At)
		return e
	}
	const day = 24 * time.Hour
	own := []audit.Entry{
		at(time.Minute, "Thing", 1000), at(2*time.Hour, "Box", 3), at(30*time.Hour, "Thing", 2000),
		at(5*day, "Thing", 3000), at(5*day+time.Hour, "Thing", 1000), at(12*day, "Box", 3),
	}
	alone, _ := open(t)
	beside, _ := open(t)
	others := slices.Clone(own)
	for i := range 4500 { // two in five minutes of a week
		others = append(others, at(time.Duration(i)*150*time.Second+time.Second, "Thing", int64(i*1000+1)))
	}
	for log, entries := range map[*auditlog.Log][]audit.Entry{alone: own, beside: others} {
		errortest.None(t, log.Record(t.Context(), entries...))
	}
	pages := func(log *auditlog.Log, q auditlog.Query) (all []string) {
		var h head
		for {
			entries, next, err := log.FindOwn(t.Context(), principal.Principal{}, q, h.own())
			errortest.None(t, err)
			page := next
			for _, e := range entries {
				page += " " + e.ID
			}
			if all = append(all, page); next == "" {
				return all
			}
			q.After = next
		}
	}
	for _, limit := range []int{1, 2, 3, 100} {
		for _, record := range []string{"", "Thing", "Thing:1000", "Box"} {
			for _, since := range []time.Time{{}, begun.Add(-3 * day)} {
				q := auditlog.Query{Record: record, Choice: auditlog.Choice{Limit: limit, Since: since}}
				want, got := pages(alone, q), pages(beside, q)
				if again := pages(alone, q); !slices.Equal(want, again) { // a block of time began meanwhile
					want, got = again, pages(beside, q)
				}
				valuetest.List(t, got, want, "%+v, and without others", q)
			}
		}
	}
}

// TestFindOwn_HasItsOwnBatches: of imports it reads the batches that it sent itself, also where there are too many
// records to list.
func TestFindOwn_HasItsOwnBatches(t *testing.T) {
	log, _ := open(t)
	for _, user := range []int64{7, 8} {
		ctx := audit.WithActor(t.Context(), audit.Actor{User: user})
		errortest.None(t, log.NewBatch(fmt.Sprint("of", user), []string{"a"}).Begin(ctx))
	}
	var h head
	few := h.own()
	few.Many = ""
	for _, own := range []auditlog.Own{h.own(), few} {
		for _, record := range []string{"", "Import"} {
			q := auditlog.Query{Record: record, Choice: auditlog.Choice{Limit: 10}}
			entries, _, err := log.FindOwn(t.Context(), principal.Principal{UserID: 7}, q, own)
			if err != nil || len(entries) != 1 || entries[0].Record != "Import:of7" {
				t.Errorf("many %q, record %q: %+v %v", own.Many, record, entries, err)
			}
		}
	}
}

// TestFindOwn_FailsWithItsNeighbour: who can't tell whose the entries are answers with none of them.
func TestFindOwn_FailsWithItsNeighbour(t *testing.T) {
	log, _ := open(t)
	made := audit.Make(t.Context(), audit.Update, audit.RecordOf("Thing", 1000), nil)
	errortest.None(t, log.Record(t.Context(), made))
	away := errors.New("away")
	var h head
	own := h.own()
	own.OfMany = func(context.Context, principal.Principal, []int64) ([]int64, error) { return nil, away }
	q := auditlog.Query{Choice: auditlog.Choice{Limit: 1}}
	entries, _, err := log.FindOwn(t.Context(), principal.Principal{}, q, own)
	errortest.Is(t, err, away, "%v", entries)
	own = h.own()
	own.Records = func(context.Context, principal.Principal) (map[string][]int64, error) { return nil, away }
	if entries, _, err := log.FindOwn(t.Context(), principal.Principal{}, q, own); !errors.Is(err, away) {
		t.Errorf("%v, %v", entries, err)
	}
}
