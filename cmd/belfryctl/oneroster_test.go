package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// testRoster is a folder in the testdata of package oneroster.
func testRoster(name string) string {
	return filepath.Join("..", "..", "pkg", "importer", "oneroster", "testdata", name)
}

// imports loads a roster and lists the outcome of each kind: "staff 3/0/1" for created, updated and unchanged, with a
// fourth number for elements that are no longer current.
func (o office) imports(t *testing.T, dir string, more ...string) []string {
	t.Helper()
	var done outcome
	code, out, errs := belfryctl(t, o.env,
		append([]string{"import", "--format", "oneroster", dir, "-o=json"}, more...)...)
	if err := json.Unmarshal([]byte(out), &done); err != nil || code != exitOK {
		t.Fatalf("%s: %d %v %s%s", dir, code, err, out, errs)
	}
	var all []string
	for _, k := range done.Kinds {
		line := fmt.Sprintf("%s %d/%d/%d", k.Kind, k.Created, k.Updated, k.Unchanged)
		if k.Retired > 0 {
			line += fmt.Sprintf("/%d", k.Retired)
		}
		all = append(all, line)
	}
	return all
}

func (o office) wantImport(t *testing.T, dir string, want []string, more ...string) {
	t.Helper()
	if diff := cmp.Diff(want, o.imports(t, dir, more...)); diff != "" {
		t.Errorf("%s %q: %s", dir, more, diff)
	}
}

// element returns the id of an element of a roster.
func (o office) element(t *testing.T, key string) int64 {
	t.Helper()
	var shown struct{ Element struct{ ID int64 } }
	o.reads(t, &shown, "elements", "show", key)
	return shown.Element.ID
}

// books creates an event of a group on each day. It returns a function that lists on which of these days an element
// has the event.
func (o office) books(t *testing.T, group string, days ...string) func(t *testing.T, key string) string {
	t.Helper()
	admin, element := o.system.Admin(t), o.element(t, group)
	category := addsCategory(t, admin, "Lesson")
	for _, day := range days {
		addsEvent(t, admin, category, "Lesson", day, element)
	}
	return func(t *testing.T, key string) string {
		t.Helper()
		id := o.element(t, key)
		var in []string
		for _, day := range days {
			var found struct{ Commitments []json.RawMessage }
			admin.Get(t, fmt.Sprintf("/api/elements/%d/commitments?start_date=%s", id, day)).Decode(t, &found)
			if len(found.Commitments) > 0 {
				in = append(in, day)
			}
		}
		return strings.Join(in, " ")
	}
}

// A roster is loaded, loaded again, changed by a delta and pruned by the next bulk. The days of a pupil's events
// follow.
func TestOneRoster_FromBulkToDeltaAndBack(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	bulk, delta := testRoster("1.1-bulk"), testRoster("1.1-delta")
	o.wantImport(t, bulk, []string{"staff 3/0/0", "pupils 2/0/0", "groups 5/0/0", "memberships 14/0/0"}, "--dry-run")
	o.wantImport(t, bulk, []string{"staff 3/0/0", "pupils 2/0/0", "groups 5/0/0", "memberships 14/0/0"}, "--prune")
	unchanged := []string{"staff 0/0/3", "pupils 0/0/2", "groups 0/0/5", "memberships 0/0/14"}
	o.wantImport(t, bulk, unchanged, "--prune")

	const zoe, ada = "Pupil:oneroster:user:u5", "Pupil:oneroster:user:u6"
	const hai, fresh = "Pupil:oneroster:user:u3", "Pupil:oneroster:user:u7"
	daysOf := o.books(t, "Group:oneroster:class:c1", "2026-09-10", "2026-11-09", "2026-11-10", "2026-11-19",
		"2026-11-20", "2026-11-23", "2027-01-20", "2027-02-02", "2027-03-26", "2027-03-29")
	wantDays := func(t *testing.T, want map[string]string) {
		t.Helper()
		for key, days := range want {
			valuetest.Same(t, daysOf(t, key), days, "%s is there on", key)
		}
	}
	t.Run("in bulk", func(t *testing.T) {
		wantDays(t, map[string]string{
			zoe: "2026-09-10 2026-11-09 2026-11-10 2026-11-19 2026-11-20 2026-11-23 2027-01-20 2027-02-02 2027-03-26",
			ada: "2026-11-09 2027-01-20 2027-02-02 2027-03-26",
		})
	})
	t.Run("a class belongs to its school", func(t *testing.T) {
		for school, code := range map[string]int{"s1": http.StatusOK, "s2": http.StatusNotFound} {
			id := o.element(t, "Group:oneroster:org:"+school)
			a := o.system.Admin(t).Get(t, fmt.Sprintf("/api/elements?namelike=7Ma1&school=%d", id))
			if a.Code != code || strings.Contains(a.Body, "Mathematics (7Ma1)") != (code == http.StatusOK) {
				t.Errorf("in %s: %d %s", school, a.Code, a.Body)
			}
		}
	})
	t.Run("by a delta", func(t *testing.T) {
		o.wantImport(t, delta, []string{"staff 0/2/0", "pupils 2/1/0", "memberships 4/4/0"})
		o.wantImport(t, delta, []string{"staff 0/0/1", "pupils 0/0/3", "memberships 0/0/7"})
		wantDays(t, map[string]string{
			zoe:   "2026-09-10 2026-11-09 2026-11-10 2026-11-19",
			ada:   "2026-11-09 2027-02-02 2027-03-26 2027-03-29",
			fresh: "2026-11-23 2027-01-20 2027-02-02 2027-03-26 2027-03-29",
		})
		for key, current := range map[string]string{"Staff:oneroster:user:u2": "false",
			"Staff:oneroster:user:u3": "false", hai: "true"} {
			valuetest.Has(t, o.does(t, "elements", "show", key), "current      "+current+"\n")
		}
	})
	t.Run("and bulk again", func(t *testing.T) {
		o.wantImport(t, bulk, []string{"staff 0/2/1", "pupils 0/2/1/1", "groups 0/0/5", "memberships 0/8/10"},
			"--prune")
		wantDays(t,
			map[string]string{
				zoe: "2026-09-10 2026-11-09 2026-11-10 2026-11-19 2026-11-20 2026-11-23 2027-01-20 2027-02-02 " +
					"2027-03-26"})
		o.wantImport(t, bulk, unchanged, "--prune")
	})
	t.Run("a bundle beside it is neither pruned nor prunes", func(t *testing.T) {
		own := clienttest.Folder(t, map[string]string{"staff.csv": "key,initials,forename,surname\n1,HGO,Own,Staff\n",
			"groups.csv": "key,name\n9A,Own\n"})
		for range 2 {
			o.does(t, "import", own, "--prune")
			o.wantImport(t, bulk, unchanged, "--prune")
		}
		valuetest.Has(t, o.does(t, "elements", "show", "Staff:1"), "current      true\n")
	})
	t.Run("1.2", func(t *testing.T) {
		o.wantImport(t, testRoster("1.2-delta"),
			[]string{"staff 0/0/0", "pupils 0/1/0", "groups 0/2/0", "memberships 1/2/2"})
		out := o.does(t, "import", "--format", "oneroster", testRoster("1.2-delta"), "--dry-run")
		valuetest.Has(t, out, "users.csv: 1 row left out: users without a role\n")
	})
}

// TestOneRoster_OfAService: the command reads a service as it reads files. Its secret is never on the command line.
func TestOneRoster_OfAService(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		name := path.Base(r.URL.Path)
		records := map[string]string{"token": `{"access_token": "t", "token_type": "Bearer"}`,
			"orgs": `{"orgs": [{"sourcedId": "s1", "name": "Elmwood", "type": "school"}]}`,
			"users": `{"users": [{"sourcedId": "u1", "enabledUser": "true", "givenName": "Zoë", "familyName": "Lee",
				"roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "s1"}}]}]}`}
		if r.FormValue("offset") == "1" || records[name] == "" {
			fmt.Fprintf(w, `{%q: []}`, name)
			return
		}
		fmt.Fprint(w, records[name])
	}))
	defer service.Close()
	o := newOffice(t)
	address := service.URL + "/ims/oneroster/rostering/v1p2"
	o.fails(t, exitUsage, "a OneRoster service needs --token-url, --client-id and --client-secret-file", "import",
		"--format", "oneroster", address, "--token-url", service.URL+"/token", "--client-id", "belfry")
	o.env["BELFRY_ONEROSTER_CLIENT_ID"], o.env["BELFRY_ONEROSTER_CLIENT_SECRET"] = "belfry", "secret"
	token := []string{"--token-url", service.URL + "/token", "--prune"}
	o.wantImport(t, address, []string{"staff 0/0/0", "pupils 1/0/0", "groups 1/0/0", "memberships 1/0/0"}, token...)
	o.wantImport(t, address, []string{"staff 0/0/0", "pupils 0/0/1", "groups 0/0/1", "memberships 0/0/1"}, token...)
}
