package endtoend_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/cmd/belfryctl/export"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// An export that is imported into another Belfry gives the same answers there, and the same export. An export that
// finds no room says so, is refused by an import, and goes on; so do an export and an import that were killed. Neither
// holds more memory than its bound, however large the school is.
func TestDataOut_AnExportIsImportedToTheSameAnswers(t *testing.T) {
	t.Parallel()
	a := servicetest.Start(t, servicetest.Options{NoRace: true})
	b := servicetest.Start(t, servicetest.Options{NoRace: true})
	from, to := loggedIn(t, a.URL, a.AdminUUID), loggedIn(t, b.URL, b.AdminUUID)
	school := filepath.Join(t.TempDir(), "school")
	_, err := demo.Generate(school, demo.Options{Pupils: *tripPupils, Years: *tripYears, Seed: 5, LastYear: 2026})
	errortest.None(t, err)
	program := buildBelfryctl(t)
	program.loadByCommand(t, a, from, school)
	made, buses := byHand(t, a)
	_, token, err := from.Changes(t.Context(), "")
	errortest.None(t, err)

	first := filepath.Join(t.TempDir(), "first")
	full(t, first)
	noSpace := []string{"no space left on device", "is incomplete; the same command continues it"}
	program.fails(t, a, noSpace, "export", first, "--origin", "a.example")
	_, err = bundle.Open(first, bundle.Options{Zone: timetest.London(t)})
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Fatalf("a part of an export was taken for a bundle: %v", err)
	}
	errortest.None(t, os.Remove(filepath.Join(first, "events.csv.part")))
	exported := program.exportByCommand(t, a, first, noSpace)
	straight := filepath.Join(t.TempDir(), "straight")
	report, err := export.Run(t.Context(), from, export.Options{Dir: straight, Origin: "a.example"})
	errortest.None(t, err)
	if report.Rows["events.csv"] < 100 || report.Rows["commitments.csv"] < 2 || report.Rows["notes.csv"] == 0 {
		t.Fatalf("%+v", report)
	}
	t.Logf("exported: %v", report.Rows)
	sameLeftOut(t, report.LeftOut, exported)
	for _, kind := range append(bundle.Kinds(), bundle.Commitments) {
		if diff := cmp.Diff(lines(t, straight, kind), lines(t, first, kind)); diff != "" {
			t.Errorf("%s (-in one go +interrupted):\n%.3000s", kind.File(), diff)
		}
	}
	allocated := func(row string) bool {
		return strings.Contains(row, at(",uncontrolled,,,,Group:a.example:%d,a.example:", buses))
	}
	ofSchool := func(row string) bool { return strings.Contains(row, ",House match,") && !strings.HasSuffix(row, ",") }
	if rows := lines(t, first, bundle.EventCategories); len(slices.DeleteFunc(slices.Clone(rows),
		func(row string) bool { return !ofSchool(row) })) != 2 {
		t.Errorf("two categories of schools are not in %q", rows)
	}
	if rows := lines(t, first, bundle.Commitments); !slices.ContainsFunc(rows, allocated) {
		t.Errorf("what was allocated is not in %q", rows)
	}
	heads := regexp.MustCompile(`,a\.example:\d+;house-curie,\d+,$`) // its schools, then the pupil that it stands for
	if rows := lines(t, first, bundle.Users); !slices.ContainsFunc(rows, heads.MatchString) {
		t.Errorf("who administers schools and stands for a pupil is not in %q", rows)
	}
	program.fails(t, a, []string{
		"events.csv: of the 6 rows", "6 were made by hand in this Belfry", "nothing was written",
	}, "import", first)
	program.loadByCommand(t, b, to, first)
	program.run(t, b, "import", first) // where all of it was imported it is no second time

	second := filepath.Join(t.TempDir(), "second")
	errortest.None(t, errortest.Of(export.Run(t.Context(), to, export.Options{Dir: second, Origin: "b.example"})))
	for _, kind := range append(bundle.Kinds(), bundle.Commitments) {
		if diff := cmp.Diff(lines(t, first, kind), lines(t, second, kind)); diff != "" {
			t.Errorf("%s (-exported +exported of the import):\n%.3000s", kind.File(), diff)
		}
	}
	sameDays(t, a.Admin(t), b.Admin(t))
	sameDecisions(t, a.Admin(t), b.Admin(t))
	parts(t, from, token, made, a.Admin(t))
}

// parts holds that --since and --element give a part that can be imported, and --element a calendar.
func parts(t *testing.T, c *client.Client, token string, made int64, admin *servicetest.Client) {
	t.Helper()
	admin.Patch(t, at("/api/events/%d", made), record{"event": record{"body": "Trip to Ely"}}).Must(t, 200)
	dir := filepath.Join(t.TempDir(), "since")
	report, err := export.Run(t.Context(), c, export.Options{Dir: dir, Origin: "a.example", Since: token})
	errortest.None(t, err)
	if got := lines(t, dir, bundle.Events); len(got) != 2 || !strings.Contains(got[0]+got[1], "Trip to Ely") ||
		report.Rows["notes.csv"] != 1 {
		t.Errorf("since the token: %q, %+v", got, report.Rows)
	}
	dir = filepath.Join(t.TempDir(), "element")
	element := admin.Get(t, at("/api/events/%d", made)).Int(t, "event.requests.0.element.id")
	of := export.Options{Dir: dir, Origin: "a.example", Element: element, Calendars: true}
	errortest.None(t, errortest.Of(export.Run(t.Context(), c, of)))
	valuetest.Len(t, lines(t, dir, bundle.Events), 2, "of the element")
	errortest.Report(t, errortest.Of(bundle.Open(dir, bundle.Options{Zone: timetest.London(t)})),
		"an element's export is no bundle")
	if found, err := filepath.Glob(filepath.Join(dir, "calendars", "Group-a.example:*.ics")); len(found) != 1 {
		t.Errorf("calendars %q, %v", found, err)
	}
}

func loggedIn(t *testing.T, address, uuid string) *client.Client {
	t.Helper()
	c, err := client.New(address, client.Options{})
	if err == nil {
		err = c.Login(t.Context(), uuid)
	}
	errortest.None(t, err)
	return c
}

func loadAll(t *testing.T, c *client.Client, dir string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open(dir, bundle.Options{Zone: timetest.London(t)})
	if err == nil {
		_, err = loadOnce(t.Context(), c, b)
	}
	errortest.None(t, err)
	return b
}

// byHand makes what no bundle brought: an event with an allocation and one that waits, its note, a user, who
// administers three schools, of which one is retired.
func byHand(t *testing.T, s *servicetest.System) (event, buses int64) {
	t.Helper()
	admin := s.Admin(t)
	element := func(fields record) int64 {
		return admin.Post(t, "/api/admin/elements", record{"element": fields}).Must(t, 201).Int(t, "element.id")
	}
	bus := element(record{"entity_type": "Property", "name": "The old bus"})
	buses = element(record{"entity_type": "Group", "name": "Old buses", "resource": true})
	admin.Post(t, at("/api/admin/elements/%d/members", buses),
		record{"members": []record{{"element_id": bus, "first_day": "2020-01-01"}}}).Must(t, 201)
	self := admin.Get(t, "/sessions/1/whoami").Int(t, "user_id")
	admin.Put(t, at("/api/admin/elements/%d/administrators/%d", buses, self), nil).Must(t, 200)
	keeper := admin.Post(t, "/api/admin/users", record{"user": record{"name": "Büşra \"B\" O'Neil",
		"email": "b@school.example", "permissions": record{"can_api": true, "can_add_events": true}}}).Must(t, 201)
	user := keeper.Int(t, "user.id")
	own := element(record{"entity_type": "Group", "name": "Own school", "school": true})
	retired := element(record{"entity_type": "Group", "name": "Retired school", "school": true})
	house := admin.Get(t, "/api/admin/elements?key=Group:house-curie").Int(t, "elements.0.id")
	admin.Patch(t, at("/api/admin/elements/%d", house), record{"element": record{"school": true}}).Must(t, 200)
	admin.Patch(t, at("/api/admin/users/%d", user),
		record{"user": record{"admin_of": []int64{own, retired, house}, "stands_for": []int64{
			admin.Get(t, "/api/elements?type=Pupil&limit=1").Int(t, "elements.0.id")}}}).Must(t, 200)
	admin.Patch(t, at("/api/admin/elements/%d", retired), record{"element": record{"current": false}}).Must(t, 200)
	ofSchools(t, admin, element)
	hall := element(record{"entity_type": "Location", "name": "Hall, the old one"})
	admin.Put(t, at("/api/admin/elements/%d/administrators/%d", hall, user), nil).Must(t, 200)
	category := admin.Get(t, "/api/eventcategories").Int(t, "eventcategories.0.id")
	made := admin.Post(t, "/api/events", record{"elements": []int64{buses, buses, hall},
		"event": record{"body": "=Trip; to \"Bath\"", "eventcategory_id": category,
			"starts_at": "2026-10-25 01:30", "ends_at": "2026-10-25 09:00"}}).Must(t, 200)
	admin.Post(t, at("/api/requests/%d/allocations", made.Int(t, "event.requests.0.id")),
		record{"elements": []int64{bus}}).Must(t, 200)
	event = made.Int(t, "event.id")
	admin.Post(t, at("/api/events/%d/notes", event),
		record{"note": record{"contents": "Bring\n\n- *boots*, \"coats\""}}).Must(t, 200)
	play := admin.Post(t, "/api/events", record{"elements": []int64{hall, bus}, "event": record{"body": "Play by hand",
		"eventcategory_id": category, "starts_at": "2026-12-01 19:00", "ends_at": "2026-12-01 21:00"}}).Must(t, 200)
	decideByHand(t, s.Login(t, keeper.Text(t, "user.uuid")), made, play)
	admin.Post(t, "/api/events", record{"repeat": record{"rule": "FREQ=WEEKLY;COUNT=3"}, "elements": []int64{hall},
		"event": record{"body": "Choir by hand", "eventcategory_id": category,
			"starts_at": "2027-01-05 18:00", "ends_at": "2027-01-05 19:00"}}).Must(t, 200)
	admin.Post(t, "/api/events", record{"event": record{"body": "Closed", "eventcategory_id": category,
		"starts_at": "2026-12-24", "ends_at": "2026-12-27", "all_day": true}}).Must(t, 200)
	return event, buses
}

// sameLeftOut holds that an export in one go left out a series and a right, and that one that was interrupted after
// both tells the same in its last run.
func sameLeftOut(t *testing.T, straight []string, interrupted string) {
	t.Helper()
	if len(straight) != 2 || !strings.HasSuffix(straight[0], ": its events are exported separately") ||
		!strings.HasSuffix(straight[1], "which is not a current school") {
		t.Errorf("left out: %q", straight)
	}
	for _, left := range straight {
		valuetest.Has(t, interrupted, "left out: "+left+"\n", "%q is not in what the last run says", left)
	}
}

// decideByHand confirms the hall for one event, and for another rejects it and gives it back.
func decideByHand(t *testing.T, keeper *servicetest.Client, confirmed, returned servicetest.Answer) {
	t.Helper()
	decide := func(of servicetest.Answer, status, reason string) {
		t.Helper()
		keeper.Patch(t, at("/api/commitments/%d", of.Int(t, "event.commitments.0.id")),
			record{"commitment": record{"status": status, "reason": reason}}).Must(t, 200)
	}
	decide(confirmed, "confirmed", "Mind the floor")
	decide(returned, "rejected", "Painted")
	decide(returned, "requested", "Perhaps not painted")
}

// sameDecisions compares who asked for what of the events made by hand, who decided, when and why.
func sameDecisions(t *testing.T, one, other *servicetest.Client) {
	t.Helper()
	for title, least := range map[string]int{`to "Bath`: 3, "Play by hand": 2, "Choir by hand": 3} {
		want := decisionsOf(t, one, title)
		valuetest.Holds(t, len(want) >= least, "%s: %q", title, want)
		if diff := cmp.Diff(want, decisionsOf(t, other, title)); diff != "" {
			t.Errorf("decisions of %s:\n%s", title, diff)
		}
	}
}

// decisionsOf lists what include=decisions tells of each entry and request of the events of a title.
func decisionsOf(t *testing.T, admin *servicetest.Client, title string) []string {
	t.Helper()
	var found struct{ Events []struct{ ID int64 } }
	admin.Get(t, "/api/events?text="+url.QueryEscape(title)).Must(t, 200).Decode(t, &found)
	var all []string
	for _, e := range found.Events {
		type entry struct {
			Element  struct{ Name string }
			Status   string
			Decision struct {
				AskedBy   *struct{ Email string } `json:"asked_by"`
				DecidedBy *struct{ Email string } `json:"decided_by"`
				DecidedAt *string                 `json:"decided_at"`
				Reason    *string
			}
		}
		var reply struct {
			Event struct{ Commitments, Requests []entry }
		}
		admin.Get(t, at("/api/events/%d?include=decisions", e.ID)).Must(t, 200).Decode(t, &reply)
		for _, e := range slices.Concat(reply.Event.Commitments, reply.Event.Requests) {
			text, err := json.Marshal(e)
			valuetest.Holds(t, err == nil && e.Decision.AskedBy != nil, "%+v does not say who asked for it: %v", e, err)
			all = append(all, string(text))
		}
	}
	slices.Sort(all)
	return all
}

// full makes a folder of an export that has no room for its events.
func full(t *testing.T, dir string) {
	t.Helper()
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		begun := []byte(`{"whole":false,"origin":"a.example","files":{}}`)
		err = os.WriteFile(filepath.Join(dir, bundle.Manifest), begun, 0o600)
	}
	if err == nil {
		err = os.Symlink("/dev/full", filepath.Join(dir, "events.csv.part"))
	}
	errortest.None(t, err)
}

// lines are the rows of a file in an order of their own, without what is the deployment's own.
func lines(t *testing.T, dir string, kind bundle.Kind) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, kind.File()))
	errortest.None(t, err)
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	all = slices.DeleteFunc(all, func(l string) bool { return strings.HasPrefix(l, "b.example:") })
	slices.Sort(all)
	return all
}

// sameDays compares what is listed of some elements by their names.
func sameDays(t *testing.T, one, other *servicetest.Client) {
	t.Helper()
	compared := 0
	for _, entity := range []string{"Pupil", "Staff", "Location"} {
		ids := map[string]int64{}
		for _, e := range elementsOf(t, other, entity) {
			if _, namesake := ids[e.Name]; namesake {
				e.ID = 0 // namesakes cannot be told apart
			}
			ids[e.Name] = e.ID
		}
		for _, e := range elementsOf(t, one, entity) {
			for _, day := range []string{"2026-09-07", "2026-10-25", "2027-01-20"} {
				id := ids[e.Name]
				if id == 0 {
					continue // not among the other's first, or not alone with its name
				}
				want := listing(t, one, e.ID, day)
				if diff := cmp.Diff(want, listing(t, other, id, day)); diff != "" {
					t.Errorf("%s on %s:\n%s", e.Name, day, diff)
				}
				compared += len(want)
			}
		}
	}
	valuetest.Holds(t, compared != 0, "nothing was compared")
}

// ofSchools makes categories with the same name for two schools, one of which is no longer a school.
func ofSchools(t *testing.T, admin *servicetest.Client, element func(record) int64) {
	t.Helper()
	for _, name := range []string{"North", "South"} {
		school := element(record{"entity_type": "Group", "name": name, "school": true})
		admin.Post(t, "/api/admin/eventcategories",
			record{"eventcategory": record{"name": "House match", "school_id": school}}).Must(t, 201)
		admin.Patch(t, at("/api/admin/elements/%d", school),
			record{"element": record{"current": name == "North"}}).Must(t, 200)
	}
}
