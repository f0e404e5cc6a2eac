package main

import (
	"path/filepath"
	"testing"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// A load that was interrupted was completed in whatever school the database of that name had later: of another server,
// or imported into the same one meanwhile.
func TestDemo_IsLoadedIntoNoOtherSchool(t *testing.T) {
	own := config{Database: "belfry"}
	mine := own.store()
	if mine == (config{Database: "other"}).store() {
		t.Error("two databases are one")
	}
	t.Setenv("MONGODB_URI", "mongodb://elsewhere/")
	if own.store() == mine {
		t.Error("two servers are one")
	}
	path := filepath.Join(t.TempDir(), demoFile)
	errortest.None(t, abandonDemo(path)) // there is none
	for _, loaded := range []bool{true, false} {
		errortest.None(t, wholefile.WriteJSON(path, demoRecord{Store: mine, Loaded: loaded}))
		errortest.None(t, abandonDemo(path))
		known, err := readDemoRecord(path)
		errortest.None(t, err)
		valuetest.Same(t, known.Store == mine, loaded, "loaded %v: %+v is left", loaded, known)
	}
}
