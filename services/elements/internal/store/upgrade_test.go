package store

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/belfry-schools/belfry/pkg/form"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/needle"
	"github.com/belfry-schools/belfry/services/elements/internal/element"
)

// asBefore makes an element what the release before would have stored.
func asBefore(t *testing.T, db *mongo.Database, id int64, name string) {
	t.Helper()
	caser := cases.Fold()
	set := bson.D{
		{Key: "name", Value: name}, {Key: "schema", Value: int32(elementSchema - 1)},
		{Key: "grams", Value: needle.GramsOf(norm.NFC.String(caser.String(norm.NFD.String(name))), 1)},
	}
	if _, err := db.Collection("elements").UpdateByID(t.Context(), id, bson.D{{Key: "$set", Value: set}}); err != nil {
		t.Fatal(err)
	}
}

func TestClients_NamelikeFindsWhatTheReleaseBeforeHasWritten(t *testing.T) {
	s, db := open(t)
	elements := add(t, s, elementNamed(form.Pupil, "Émile"), elementNamed(form.Pupil, "Chloë"),
		elementNamed(form.Pupil, "Anna"))
	retired := elementNamed(form.Pupil, "Émile")
	retired.Current = false
	gone := add(t, s, retired)[0]
	names := func(part string) []string {
		t.Helper()
		found, err := s.Elements.ListByNeedle(t.Context(), needle.New(part), element.Among{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		return namesOf(found)
	}
	for _, e := range elements {
		asBefore(t, db, e.ID, e.Name)
	}
	asBefore(t, db, gone.ID, gone.Name)
	if got := names("emile"); got != nil {
		t.Fatalf("found before the upgrade: %q", got)
	}
	if _, err := db.Collection("migrations").DeleteMany(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	if err := mongostore.Migrate(t.Context(), db, "elements", migrations); err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]string{"emile": "Émile", "ÉMI": "Émile", "chloe": "Chloë", "anna": "Anna"} {
		if got := names(part); !slices.Equal(got, []string{want}) {
			t.Errorf("%q finds %q", part, got)
		}
	}
	// While releases are exchanged.
	asBefore(t, db, elements[2].ID, "Zoé")
	if err := s.Elements.upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := names("zoe"); !slices.Equal(got, []string{"Zoé"}) {
		t.Errorf("written meanwhile: %q", got)
	}
	left, err := db.Collection("elements").CountDocuments(t.Context(), older())
	if err != nil || left != 0 {
		t.Errorf("%d are as before, %v", left, err)
	}
	for _, e := range elements { // no client knows of a change
		if now, err := s.Elements.Get(t.Context(), e.ID); err != nil || now.Version != 1 {
			t.Errorf("%s is at version %d, %v", now.Name, now.Version, err)
		}
	}
	// The release before, beside this one or after it, finds by parts with their accents.
	var stored struct{ Grams []string }
	err = db.Collection("elements").FindOne(t.Context(), bson.D{{Key: "_id", Value: elements[0].ID}}).Decode(&stored)
	if err != nil || !slices.Contains(stored.Grams, "émi") || !slices.Contains(stored.Grams, "emi") {
		t.Errorf("%q, %v", stored.Grams, err)
	}
}
