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
	if same := audit.Compare(after, after); len(same) != 0 {
		t.Errorf("%+v", same)
	}
}

func TestCompare_ShowsNoSecretAndNoLongText(t *testing.T) {
	changes := audit.Compare(
		[]audit.Value{audit.Secret("uuid", "old secret"), audit.Text("body", "")},
		[]audit.Value{audit.Secret("uuid", "new secret"), audit.Text("body", strings.Repeat("é", 1000))})
	want := []audit.Change{{Field: "uuid"}, {Field: "body", To: ptr(strings.Repeat("é", 200) + "…")}}
	valuetest.Equal(t, want, changes)
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
	if diff != "" || e.User != 5 || time.Since(e.At) > time.Minute {
		t.Errorf("%s %+v", diff, e)
	}
}

func TestActor_PassesFromServiceToService(t *testing.T) {
	a := audit.Actor{User: 5, Original: 6, From: "2001:db8::7", Request: "r-1"}
	if got, err := audit.ParseActor(a.HeaderValue()); err != nil || got != a {
		t.Errorf("%+v %v", got, err)
	}
	if text := (audit.Actor{}).HeaderValue(); text != "" {
		t.Errorf("the system has a header: %q", text)
	}
}

type batch struct{ err error }

func (b batch) Begin(context.Context) error { return b.err }

func TestBegin_AWriteThatCannotBeAuditedIsNotMade(t *testing.T) {
	if err := audit.Begin(t.Context()); err != nil {
		t.Error(err)
	}
	away := errors.New("away")
	ctx := audit.WithBatch(t.Context(), batch{away})
	if err := audit.Begin(ctx); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	if entries := audit.New(ctx, audit.Create, audit.RecordOf("Event", 1), nil); len(entries) != 0 {
		t.Errorf("a record of a batch has an entry: %+v", entries)
	}
}
