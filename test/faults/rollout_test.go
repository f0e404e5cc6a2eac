package main

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
)

// TestEveryLossOfAPlantedFieldIsFound: a run that finds none proves nothing.
func TestEveryLossOfAPlantedFieldIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		update bson.M
		want   harvested // of two documents with one item each
	}{
		"as it was": {nil, harvested{kept: 4, documents: 2}},
		"written": {bson.M{"$set": bson.M{"body": "B"}, "$inc": bson.M{"version": int64(1)}},
			harvested{kept: 4, documents: 2, written: 1}},
		"lost of the document": {bson.M{"$unset": bson.M{stranger: ""}},
			harvested{kept: 3, lost: 1, documents: 2, first: "events 1"}},
		"lost of an item": {bson.M{"$unset": bson.M{"commitments.0." + stranger: ""}},
			harvested{kept: 3, lost: 1, documents: 2, first: "events 1, commitments 7"}},
		"an item that was removed": {bson.M{"$set": bson.M{"commitments": bson.A{}}}, harvested{kept: 3, documents: 2}},
		"a tombstone":              {bson.M{"$set": bson.M{"deleted": true}}, harvested{kept: 2, documents: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Mongo(t)
			event := func(id, item int64) bson.M {
				return bson.M{"_id": id, "version": int64(3), "commitments": bson.A{bson.D{{Key: "id", Value: item}}}}
			}
			events := db.Collection("events")
			errortest.None(t, errortest.Of(events.InsertMany(t.Context(), []any{event(1, 7), event(2, 8)})))
			g := newGarden(db)
			if err := g.plant(t.Context()); err != nil || len(g.planted) != 2 {
				t.Fatalf("%d planted, %v", len(g.planted), err)
			}
			if c.update != nil {
				errortest.None(t, errortest.Of(events.UpdateByID(t.Context(), int64(1), c.update)))
			}
			if got, err := g.harvest(t.Context()); err != nil || got != c.want {
				t.Errorf("%+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// TestTheReleaseBeforeIsACommitOfThisCheckoutOrNotAtHand: a clone without it is told so.
func TestTheReleaseBeforeIsACommitOfThisCheckoutOrNotAtHand(t *testing.T) {
	root := checkout.Folder(t)
	if commit, err := olderCommit(t.Context(), root, "previous"); err == nil && len(commit) != 40 {
		t.Errorf("previous: %q", commit)
	} else if err != nil && !errors.Is(err, errNoOlder) {
		t.Error(err)
	}
	commit, err := olderCommit(t.Context(), root, "0123456789012345678901234567890123456789")
	errortest.Is(t, err, errNoOlder, "a commit that is nowhere: %q", commit)
}

// TestTheReleaseBeforeIsTheNewestTagBelow: after v1.0.0, every change is an upgrade from v1.0.0.
func TestTheReleaseBeforeIsTheNewestTagBelow(t *testing.T) {
	root := t.TempDir()
	run := func(arguments ...string) string {
		t.Helper()
		printed, err := git(t.Context(), root, append([]string{"-c", "user.name=a", "-c", "user.email=a@school.example",
			"-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, arguments...)...)
		errortest.None(t, err, "git %q", arguments)
		return printed
	}
	commit := func(tags ...string) string {
		t.Helper()
		run("commit", "--quiet", "--allow-empty", "--message", "a change")
		for _, tag := range tags {
			run("tag", "--annotate", "--message", tag, tag)
		}
		return run("rev-parse", "HEAD")
	}
	run("init", "--quiet")
	commit()
	first := commit("v1.0.0")
	commit("measured") // no release
	commit()
	if got, err := olderCommit(t.Context(), root, "previous"); err != nil || got != first {
		t.Errorf("after v1.0.0: %s, %v; want %s", got, err, first)
	}
	second := commit("v1.1.0")
	if got, err := olderCommit(t.Context(), root, "previous"); err != nil || got != first {
		t.Errorf("at v1.1.0: %s, %v; want v1.0.0, %s", got, err, first)
	}
	commit()
	if got, err := olderCommit(t.Context(), root, "previous"); err != nil || got != second {
		t.Errorf("after v1.1.0: %s, %v; want %s", got, err, second)
	}
}
