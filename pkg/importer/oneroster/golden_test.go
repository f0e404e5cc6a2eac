package oneroster_test

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile/csvtest"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

var update = flag.Bool("update", false, "write the golden files")

// belfry simulates Belfry's records, as the administrators' lists show them, after some rosters were loaded.
type belfry struct {
	elements map[string]client.Record   // by Type:key
	members  map[string][]client.Record // by the group's id
}

func newBelfry() *belfry {
	return &belfry{elements: map[string]client.Record{}, members: map[string][]client.Record{}}
}

// rows are a roster's records of a kind.
func rows(t testing.TB, r *oneroster.Roster, kind bundle.Kind) []bundle.Row {
	t.Helper()
	var all []bundle.Row
	for row, err := range r.Rows(kind) {
		errortest.None(t, err)
		all = append(all, row)
	}
	return all
}

// load stores the records of a roster as the services would, as far as the tests need it.
func (b *belfry) load(t testing.TB, r *oneroster.Roster) {
	t.Helper()
	for _, kind := range []bundle.Kind{bundle.Staff, bundle.Pupils, bundle.Groups} {
		for _, row := range rows(t, r, kind) {
			record := client.Record{"current": true}
			errortest.None(t, json.Unmarshal(text(t, row.Record), &record))
			key := kind.EntityType() + ":" + row.Key
			record["id"], record["key"] = b.id(key), key
			b.elements[key] = record
		}
	}
	for _, row := range rows(t, r, bundle.Memberships) {
		m, ok := row.Record.(bundle.MembershipRecord)
		if !ok {
			continue
		}
		for _, span := range m.Spans {
			member := client.Record{"element_id": b.id(m.Member)}
			if span.LastDay != nil {
				member["last_day"] = *span.LastDay
			}
			group := b.id("Group:" + m.Group).String()
			b.members[group] = append(b.members[group], member)
		}
	}
}

func (b *belfry) id(key string) json.Number {
	if known, ok := b.elements[key]; ok {
		return known["id"].(json.Number)
	}
	return json.Number(fmt.Sprint(len(b.elements) + 1))
}

// List answers GET /api/admin/elements and the members of a group.
func (b *belfry) List(_ context.Context, path, _ string, query url.Values) iter.Seq2[client.Record, error] {
	return func(yield func(client.Record, error) bool) {
		if group, ok := strings.CutSuffix(strings.TrimPrefix(path, "/api/admin/elements/"), "/members"); ok {
			for _, member := range b.members[group] {
				if !yield(member, nil) {
					return
				}
			}
			return
		}
		for key, record := range b.elements {
			if strings.HasPrefix(key, query.Get("entity_type")+":") && !yield(record, nil) {
				return
			}
		}
	}
}

func text(t testing.TB, record any) []byte {
	t.Helper()
	line, err := json.Marshal(record)
	errortest.None(t, err)
	return line
}

const today = "2026-11-21"

// roster opens and resolves a folder that has no fault.
func roster(t testing.TB, dir string, b *belfry, prune bool) *oneroster.Roster {
	t.Helper()
	folder, err := oneroster.Open(dir, timetest.London(t))
	if err != nil {
		t.Fatalf("%s: %v", dir, csvtest.Faults(err))
	}
	r, err := folder.Resolve(t.Context(), b, oneroster.Options{Today: today, Prune: prune})
	if err != nil {
		t.Fatalf("%s: %v", dir, csvtest.Faults(err))
	}
	return r
}

// lines lists all records of a roster: the source of each, and the record as it is sent.
func lines(t testing.TB, r *oneroster.Roster) string {
	t.Helper()
	var all strings.Builder
	for _, kind := range bundle.Kinds() {
		if !r.Has(kind) {
			continue
		}
		fmt.Fprintf(&all, "%s, %d\n", kind, r.Count(kind))
		for _, row := range rows(t, r, kind) {
			fmt.Fprintf(&all, "  %s:%d %s\n", row.File, row.Line, text(t, row.Record))
		}
	}
	for _, skipped := range r.Skipped() {
		fmt.Fprintln(&all, skipped)
	}
	return all.String()
}

func TestRecordsOfEachVersionInBulkAndDelta(t *testing.T) {
	for _, version := range []string{"1.1", "1.2"} {
		b := newBelfry()
		for _, mode := range []string{"bulk", "delta"} {
			name := version + "-" + mode
			r := roster(t, filepath.Join("testdata", name), b, true)
			got, golden := lines(t, r), filepath.Join("testdata", name+".golden")
			if *update {
				errortest.None(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			errortest.None(t, err)
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			b.load(t, r)
			if mode == "bulk" {
				if again := lines(t, roster(t, filepath.Join("testdata", name), b, true)); again != got {
					t.Errorf("%s: once loaded, it makes other records: %s", name, cmp.Diff(got, again))
				}
			}
		}
	}
}

// archive writes a folder of the testdata as a zip file, whose files are in a folder.
func archive(t *testing.T, of, inside string) string {
	t.Helper()
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "Roster.ZIP")
	errortest.None(t, os.CopyFS(filepath.Join(dir, inside), os.DirFS(filepath.Join("testdata", of))))
	file, err := os.Create(path)
	errortest.None(t, err)
	w := zip.NewWriter(file)
	errortest.None(t, errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), file.Close()))
	return path
}

// TestOneRoster_AZipFileIsTheSameAsItsFolder: wherever its files are.
func TestOneRoster_AZipFileIsTheSameAsItsFolder(t *testing.T) {
	for _, of := range []string{"1.1-bulk", "1.2-bulk"} {
		want := lines(t, roster(t, filepath.Join("testdata", of), newBelfry(), true))
		for _, inside := range []string{"", "roster/"} {
			if diff := cmp.Diff(want, lines(t, roster(t, archive(t, of, inside), newBelfry(), true))); diff != "" {
				t.Errorf("%s in %q: %s", of, inside, diff)
			}
		}
	}
}

// TestOneRoster_AZipFileThatCannotBeRead says so, and how large one may be.
func TestOneRoster_AZipFileThatCannotBeRead(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.zip")
	file, err := os.Create(large)
	errortest.None(t, err)
	w := zip.NewWriter(file)
	errortest.None(t, errortest.Of(w.CreateRaw(&zip.FileHeader{Name: "users.csv", UncompressedSize64: 1<<30 + 1})))
	errortest.None(t, w.Close())
	errortest.None(t, file.Close())
	broken := filepath.Join(t.TempDir(), "broken.zip")
	errortest.None(t, os.WriteFile(broken, []byte("no zip"), 0o600))
	for path, want := range map[string]string{
		large:                          "large.zip: takes more than 1024 MiB unpacked; unpack it, and give the folder",
		broken:                         "broken.zip: zip: not a valid zip",
		archive(t, "1.1-bulk", "a/b/"): "holds no manifest.csv", filepath.Join(t.TempDir(), "x.zip"): "no such file",
	} {
		_, err := oneroster.Open(path, timetest.London(t))
		valuetest.Has(t, strings.Join(csvtest.Faults(err), ""), want, "%v", err)
	}
}
