package audit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func ptr(text string) *string { return &text }

func TestCompare_TellsWhatDiffers(t *testing.T) {
	before := []audit.Value{audit.Text("name", "A"), audit.ID("element_id", 0), audit.Bool("active", true),
		audit.Int("order", 0), audit.Text("gone", "x")}
	after := []audit.Value{audit.Text("name", "B"), audit.ID("element_id", 7), audit.Bool("active", true),
		audit.Int("order", 3), audit.IDs("users", []int64{1, 2})}
	want := []audit.Change{
		{Field: "name", From: ptr("A"), To: ptr("B")}, {Field: "element_id", To: ptr("7")},
		{Field: "order", From: ptr("0"), To: ptr("3")},
		{Field: "users", To: ptr("1,2")}, {Field: "gone", From: ptr("x")},
	}
	valuetest.Equal(t, want, audit.Compare(before, after))
	valuetest.Len(t, audit.Compare(after, after), 0)
}

func TestCompare_ShowsNoSecretAndNoLongText(t *testing.T) {
	changes := audit.Compare(
		[]audit.Value{audit.Secret("uuid", "old secret"), audit.Text("body", "")},
		[]audit.Value{audit.Secret("uuid", "new secret"), audit.Text("body", strings.Repeat("é", 1000))})
	want := []audit.Change{{Field: "uuid"}, {Field: "body", To: ptr(strings.Repeat("é", 200) + "…")}}
	valuetest.Equal(t, want, changes)
}

// What was left of a surname that ended a value was not found by an erasure.
func TestPrivacy_NoWordOfALongValueIsCut(t *testing.T) {
	for before, left := range map[int]string{
		190: " Abbott is…", 191: " Abbott…", 193: " Abbott…", 194: "…", 199: "…",
	} {
		text := strings.Repeat("é", before) + " Abbott is ill"
		want := strings.Repeat("é", before) + left
		valuetest.Equal(t, []audit.Change{{Field: "body", To: &want}},
			audit.Compare(nil, []audit.Value{audit.Text("body", text)}))
	}
}

func TestMake_IDsAreInTheOrderOfTime(t *testing.T) {
	var ids []string
	for range 1000 {
		ids = append(ids, audit.Make(t.Context(), audit.Update, audit.RecordOf("Event", 1), nil).ID)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Error("ids are out of order, or come twice")
	}
}

func TestMake_FindsAnEntryByAllThatItIsAbout(t *testing.T) {
	e := audit.Make(audit.WithActor(t.Context(), audit.Actor{User: 5}), audit.Decide, audit.RecordOf("Commitment", 31),
		nil, audit.RecordOf("Event", 12), audit.RecordOf("Commitment", 31))
	diff := cmp.Diff([]string{"Commitment:31", "Commitment", "Event:12"}, e.About)
	valuetest.Holds(t, diff == "" && e.User == 5 && time.Since(e.At) <= time.Minute, "%s %+v", diff, e)
}

func TestActor_PassesFromServiceToService(t *testing.T) {
	a := audit.Actor{User: 5, Original: 6, From: "2001:db8::7", Request: "r-1"}
	if got, err := audit.ParseActor(a.HeaderValue()); err != nil || got != a {
		t.Errorf("%+v %v", got, err)
	}
	valuetest.Same(t, (audit.Actor{}).HeaderValue(), "", "the system has a header")
}

type batch struct{ err error }

func (b batch) Begin(context.Context) error { return b.err }

func TestBegin_AWriteThatCannotBeAuditedIsNotMade(t *testing.T) {
	errortest.Report(t, audit.Begin(t.Context()))
	away := errors.New("away")
	ctx := audit.WithBatch(t.Context(), batch{away})
	errortest.Is(t, audit.Begin(ctx), away)
	valuetest.Len(t, audit.New(ctx, audit.Create, audit.RecordOf("Event", 1), nil), 0,
		"a record of a batch has an entry")
}
