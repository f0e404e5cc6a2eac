package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// A load that was interrupted was completed in whatever school the database of that name had later: of another server,
// or imported into the same one meanwhile.
func TestDemo_IsLoadedIntoNoOtherSchool(t *testing.T) {
	own := config{Database: "belfry"}
	mine := own.store()
	valuetest.Holds(t, mine != (config{Database: "other"}).store(), "two databases are one")
	t.Setenv("MONGODB_URI", "mongodb://elsewhere/")
	valuetest.Holds(t, own.store() != mine, "two servers are one")
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

// A load of 1,000 pupils that was interrupted was completed as a school of 30: the database had parts of both.
func TestDemo_AnInterruptedLoadIsCompletedAsItBegan(t *testing.T) {
	cfg, local := config{Database: "belfry", Pupils: 30, Seed: 2, FirstYear: 2030}, t.TempDir()
	for listed, want := range map[string]demo.Options{
		`{"id": 1}`: {Pupils: 10, Years: 1, Seed: 1, LastYear: 2026},
		``:          {Pupils: 30, Years: 1, Seed: 2, LastYear: 2030}, // nothing had been loaded
	} {
		belfry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			switch r.URL.Path {
			case "/api/login":
				http.SetCookie(w, &http.Cookie{Name: "session", Value: "1", Path: "/"})
				_, _ = io.WriteString(w, `{"status": "OK"}`)
			case "/api/admin/elements":
				_, _ = io.WriteString(w, `{"status": "OK", "elements": [`+listed+`]}`)
			default:
				http.Error(w, `{"status": "Forbidden"}`, http.StatusForbidden)
			}
		}))
		defer belfry.Close()
		path := filepath.Join(local, demoFile)
		errortest.None(t, wholefile.WriteJSON(path, demoRecord{Store: cfg.store(),
			School: demo.Options{Pupils: 10, Years: 1, Seed: 1, LastYear: 2026}}))
		_, err := loadDemo(t.Context(), cfg, local, belfry.URL, settings.NewSecret("1"), slog.New(slog.DiscardHandler))
		errortest.Says(t, err, "the next run completes it")
		known, err := readDemoRecord(path)
		errortest.None(t, err)
		valuetest.Same(t, known.School, want, "the school listed %q", listed)
	}
}
