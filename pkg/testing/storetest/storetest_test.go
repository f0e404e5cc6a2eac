package storetest

import (
	"os"
	"path/filepath"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestMongoIsEachTestsOwnAndGoneAfterIt(t *testing.T) {
	mine := Mongo(t)
	errortest.None(t, errortest.Of(mine.Collection("events").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})))
	var theirs string
	t.Run("another test", func(t *testing.T) {
		db := Mongo(t)
		theirs = db.Name()
		if n, err := db.Collection("events").CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
			t.Errorf("the new database has %d events (%v), want none", n, err)
		}
		errortest.Report(t,
			errortest.Of(db.Collection("events").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})))
	})
	assertExists(t, mine.Client(), theirs, false)
	assertExists(t, mine.Client(), mine.Name(), true)
}

func assertExists(t *testing.T, client *mongo.Client, name string, want bool) {
	t.Helper()
	names, err := client.ListDatabaseNames(t.Context(), bson.D{{Key: "name", Value: name}})
	errortest.None(t, err)
	valuetest.Same(t, len(names) == 1, want, "database %s there", name)
}

func TestRedisKeysOfAPrefixAreGoneAfterTheTest(t *testing.T) {
	client, mine := Redis(t)
	errortest.None(t, client.Set(t.Context(), mine+"session", "x", 0).Err())
	var theirs string
	t.Run("another test", func(t *testing.T) {
		other, prefix := Redis(t)
		theirs = prefix
		errortest.None(t, other.Set(t.Context(), prefix+"session", "y", 0).Err())
	})
	valuetest.Same(t, client.Exists(t.Context(), theirs+"session").Val(), 0, "the other test's key is still there")
	valuetest.Same(t, client.Exists(t.Context(), mine+"session").Val(), 1, "this test's own key is gone")
}

func TestWithoutStoresATestFailsAndSaysWhatToRun(t *testing.T) {
	t.Setenv("MONGODB_URI", "")
	t.Setenv("REDIS_URL", "")
	t.Chdir(t.TempDir())
	errortest.None(t, os.WriteFile("go.work", nil, 0o600))
	_, _, err := URIs()
	errortest.Says(t, err, "make stores", "the test was told")
}

func TestStoresOfTheCheckoutAreFoundFromAFolderBelow(t *testing.T) {
	checkout := t.TempDir()
	below := filepath.Join(checkout, "services", "events")
	running := filepath.Join(checkout, ".local", "stores")
	for _, dir := range []string{below, running} {
		errortest.None(t, os.MkdirAll(dir, 0o755))
	}
	write(t, filepath.Join(checkout, "go.work"), "go 1.26.0\n")
	write(t, filepath.Join(running, "running.json"),
		`{"mongodb_uri":"mongodb://127.0.0.1:1/","redis_url":"redis://127.0.0.1:2/0","keeper":3}`)
	t.Setenv("MONGODB_URI", "")
	t.Setenv("REDIS_URL", "redis://127.0.0.1:4/0")
	t.Chdir(below)
	const wantMongo, wantRedis = "mongodb://127.0.0.1:1/", "redis://127.0.0.1:4/0"
	if gotMongo, gotRedis, err := URIs(); gotMongo != wantMongo || gotRedis != wantRedis || err != nil {
		t.Errorf("the stores are %q and %q (%v): the environment comes first, then the checkout's",
			gotMongo, gotRedis, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	errortest.None(t, os.WriteFile(path, []byte(text), 0o644))
}
