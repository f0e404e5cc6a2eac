package store

import (
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// Each collection gets documents with all that they may hold, and fields of a later release at every level. Then all
// that this release writes to them runs.
func TestHardToBreak_Row09_NoWriteLosesWhatItDoesNotKnow(t *testing.T) {
	s, db := open(t)
	ctx := audit.WithActor(t.Context(), audit.Actor{User: 7})
	full := elementNamed(form.Pupil, "Ann")
	full.Key, full.ImportHash, full.Details.Surname = "Pupil:1", "h", "Lee"
	full.Administrators, full.ImportedAdministrators = []int64{3}, []string{"3"}
	elements := []element.Element{full, elementNamed(form.Group, "9A")}
	_, err := s.Elements.Insert(ctx, elements)
	errortest.None(t, err)
	memberships := []element.Membership{{Group: elements[1].ID, Member: elements[0].ID, ImportHash: "h",
		Days: []wiretime.Days{{First: 100, Last: 200}, {First: 300, Last: 400}},
		Sources: []element.Sourced{{Source: "a", Days: wiretime.Days{First: 100, Last: 200}},
			{Source: "a", Days: wiretime.Days{First: 300, Last: 400}}}}}
	errortest.None(t, errortest.Of(s.Memberships.Insert(ctx, memberships)))
	feed := element.Feed{UserID: 3, ElementID: elements[0].ID, TokenHash: "t", Created: time.Unix(1788768000, 0).UTC()}
	feed, err = s.Feeds.Insert(ctx, feed, 1)
	errortest.None(t, err)
	errortest.None(t, errortest.Of(s.Feeds.Namespace(ctx)))

	person := erasure.Person{ElementID: elements[0].ID, Names: []string{"Ann"}}
	erasing := element.Erasure{ID: person.ElementID, Person: person}
	errortest.None(t, s.Erasures.Insert(ctx, erasing))

	kept := storetest.AddUnknown(t, db, storetest.Unknown{
		Filled:    []string{"elements", "memberships", "feeds", "element_settings", "erasures"},
		Unchanged: []string{"counters", "elements_audit", "elements_changes", "elements_accesses"},
	})

	next := func(e *element.Erasure) error { e.Round++; return nil }
	errortest.Report(t, errortest.Of(s.Erasures.Change(ctx, erasing.ID, next)))
	rename := func(e *element.Element) error { e.Name += "!"; return nil }
	errortest.Report(t, errortest.Of(s.Elements.Change(ctx, elements[0].ID, rename)))
	imported, err := s.Elements.Find(ctx, []int64{elements[0].ID, elements[1].ID})
	errortest.None(t, err)
	for i := range imported {
		imported[i].Name, imported[i].ImportHash, imported[i].Details.Surname = imported[i].Name+"?", "i", ""
	}
	if all, err := s.Elements.Replace(ctx, imported); err != nil || !all {
		t.Error(all, err)
	}
	found, err := s.Memberships.Find(ctx, []int64{elements[1].ID}, []int64{elements[0].ID})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	m := found[0]
	m.Days[1].Last, m.Sources[1].Last = 450, 450
	m.Sources = append(m.Sources, element.Sourced{Source: "b", Days: wiretime.Days{First: 320, Last: 330}})
	if all, err := s.Memberships.Replace(ctx, []element.Membership{m}); err != nil || !all {
		t.Error(all, err)
	}
	renew := func(f *element.Feed) error { f.TokenHash = "u"; return nil }
	errortest.Report(t, errortest.Of(s.Feeds.Change(ctx, feed.ID, renew)))
	errortest.Report(t, errortest.Of(s.Feeds.Namespace(ctx)))
	kept()
}
