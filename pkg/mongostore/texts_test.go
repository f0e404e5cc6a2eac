package mongostore_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

var anna = erasure.NewTexts([]string{"Anna Bell"}, "Former staff 5")

// rewriteAll goes through a whole collection.
func rewriteAll(t *testing.T, c *mongo.Collection) (changed, pages int) {
	t.Helper()
	for after := ""; ; pages++ {
		next, n, err := mongostore.RewriteTexts(t.Context(), c, anna, after)
		errortest.None(t, err)
		if changed, after = changed+n, next; after == "" {
			return changed, pages + 1
		}
	}
}

func TestRewriteTexts_EachTextWhereverItIs(t *testing.T) {
	t.Parallel()
	c := storetest.Mongo(t).Collection("things")
	for _, d := range []bson.D{
		{{Key: "_id", Value: "Anna Bell"}, {Key: "version", Value: int64(4)}, {Key: "title", Value: "for Anna Bell"},
			{Key: "n", Value: int32(7)}, {Key: "lines", Value: bson.A{
				bson.D{{Key: "text", Value: "Anna  BELL!"}, {Key: "at", Value: bson.DateTime(5)}}, "Anna Bell", nil,
			}}, {Key: "body", Value: bson.Binary{Data: []byte(`{"a":"Anna Bell"}`)}}},
		{{Key: "_id", Value: int64(2)}, {Key: "title", Value: "for Anna Bell"}},
		{{Key: "_id", Value: int64(3)}, {Key: "title", Value: "for Anna Bells"},
			{Key: "raw", Value: bson.Binary{Data: []byte("\xffAnna Bell")}}},
	} {
		errortest.None(t, errortest.Of(c.InsertOne(t.Context(), d)))
	}
	changed, _ := rewriteAll(t, c)
	valuetest.Same(t, changed, 2, "changed")
	read := func(id any) string {
		d, err := c.FindOne(t.Context(), bson.D{{Key: "_id", Value: id}}).Raw()
		errortest.None(t, err)
		return strings.ReplaceAll(d.String(), " ", "")
	}
	whole := read("Anna Bell")
	for _, want := range []string{
		`"version":{"$numberLong":"5"}`, `"title":"forFormerstaff5"`, `"n":{"$numberInt":"7"}`,
		`"text":"Formerstaff5!"`, `{"$date":{"$numberLong":"5"}}},"Formerstaff5",null]`,
	} {
		valuetest.Has(t, whole, want)
	}
	var body struct{ Body []byte }
	if err := c.FindOne(t.Context(), bson.D{{Key: "_id", Value: "Anna Bell"}}).Decode(&body); err != nil ||
		string(body.Body) != `{"a":"Former staff 5"}` {
		t.Errorf("%s, %v", body.Body, err)
	}
	if without := read(int64(2)); !strings.Contains(without, "Formerstaff5") || strings.Contains(without, "version") {
		t.Error(without)
	}
	if changed, _ := rewriteAll(t, c); changed != 0 {
		t.Errorf("%d changed once more", changed)
	}
}

// thing is a document that others change as a whole.
type thing struct {
	mongostore.Head `bson:",inline"`
	Title           string `bson:"title"`
	Writes          int    `bson:"writes"`
}

// TestRewriteTexts_LosesNoWriteAndNoneBringsTheTextBack: writers replace whole documents that they read before.
func TestRewriteTexts_LosesNoWriteAndNoneBringsTheTextBack(t *testing.T) {
	t.Parallel()
	c := storetest.Mongo(t).Collection("things")
	const things, writes = 30, 5
	for id := range int64(things) {
		errortest.None(t, mongostore.Insert(t.Context(), c, &thing{mongostore.Head{ID: id + 1}, "Anna Bell", 0}))
	}
	var wg sync.WaitGroup
	for id := range int64(things) {
		wg.Go(func() {
			for range writes {
				_, err := mongostore.Update(t.Context(), c, id+1, func(d *thing) error { d.Writes++; return nil })
				errortest.Report(t, err)
			}
		})
	}
	rewriteAll(t, c)
	wg.Wait()
	found, err := mongostore.Find[thing](t.Context(), c, bson.D{})
	errortest.None(t, err)
	valuetest.MustSame(t, len(found), things)
	for _, d := range found {
		valuetest.Holds(t, d.Title == "Former staff 5" && d.Writes == writes && d.Version == writes+2, "%+v", d)
	}
}

func TestFindTexts_GoesThroughAllPages(t *testing.T) {
	t.Parallel()
	c := storetest.Mongo(t).Collection("things")
	const many = 2500
	documents := make([]thing, many)
	var want []int64
	for i := range documents {
		documents[i] = thing{Head: mongostore.Head{ID: int64(i + 1)}, Title: fmt.Sprintf("thing %d", i)}
		if i%600 == 0 {
			documents[i].Title, want = "by ANNA BELL", append(want, int64(i+1))
		}
	}
	errortest.None(t, errortest.Of(mongostore.InsertAll(t.Context(), c, documents)))
	var got []int64
	for after := ""; ; {
		ids, next, err := mongostore.FindTexts(t.Context(), c, anna, after, "writes")
		errortest.None(t, err)
		for _, id := range ids {
			got = append(got, id.AsInt64())
		}
		if after = next; after == "" {
			break
		}
	}
	valuetest.List(t, got, want)
	if changed, pages := rewriteAll(t, c); changed != len(want) || pages != 3 {
		t.Errorf("%d changed in %d pages", changed, pages)
	}
	_, _, err := mongostore.FindTexts(t.Context(), c, anna, "no place")
	errortest.Some(t, err, "it takes any place")
}

func TestConstant_IsOneForAllProcesses(t *testing.T) {
	t.Parallel()
	c := storetest.Mongo(t).Collection("settings")
	var wg sync.WaitGroup
	texts := make([]string, 8)
	for i := range texts {
		wg.Go(func() {
			text, err := mongostore.NewConstant(c, "salt").Get(t.Context())
			errortest.Report(t, err)
			texts[i] = text
		})
	}
	wg.Wait()
	if slices.Sort(texts); texts[0] != texts[len(texts)-1] || len(texts[0]) < 20 {
		t.Errorf("%q", texts)
	}
	other, err := mongostore.NewConstant(c, "another").Get(t.Context())
	valuetest.Holds(t, err == nil && other != texts[0], "%q, %v", other, err)
}
