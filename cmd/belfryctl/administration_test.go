package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/client/clienttest"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// office runs belfryctl as an administrator of a real system.
type office struct {
	system *servicetest.System
	env    map[string]string
}

func newOffice(t *testing.T) office {
	t.Helper()
	system := servicetest.Start(t, servicetest.Options{NoRace: true})
	return office{system, map[string]string{"BELFRY_URL": system.URL, "BELFRY_UUID": system.AdminUUID}}
}

// with is the office with another value in its environment.
func (o office) with(name, value string) office {
	o.env = maps.Clone(o.env)
	o.env[name] = value
	return o
}

// newUser adds a user, and is the office of that one.
func (o office) newUser(t *testing.T, name, email string, more ...string) office {
	t.Helper()
	var made struct{ User struct{ UUID string } }
	o.reads(t, &made, append([]string{"users", "add", "--name", name, "--email", email}, more...)...)
	return o.with("BELFRY_UUID", made.User.UUID)
}

// does runs a command that must succeed without a warning, and returns its output.
func (o office) does(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := belfryctl(t, o.env, args...)
	if complaints := progressLine.ReplaceAllString(errs, ""); code != exitOK || complaints != "" {
		t.Fatalf("%q: %d %s%s", args, code, out, errs)
	}
	return out
}

// progressLine is what an import prints every five seconds, on a slow machine too.
var progressLine = regexp.MustCompile(`(?m)^\w+: [\d,]+ of [\d,]+ records, [\d,]+ a second\n`)

// reads runs a command with -o json and decodes its output.
func (o office) reads(t *testing.T, target any, args ...string) {
	t.Helper()
	out := o.does(t, append(args, "-o=json")...)
	errortest.None(t, json.Unmarshal([]byte(out), target), "%q %s", args, out)
}

// ids runs a command that must succeed, and returns the ids that it prints.
func (o office) ids(t *testing.T, args ...string) []string {
	t.Helper()
	return strings.Fields(o.does(t, append(args, "-o=name")...))
}

// fails runs a command that must fail with that code, and with that text on standard error.
func (o office) fails(t *testing.T, code int, text string, args ...string) {
	t.Helper()
	got, out, errs := belfryctl(t, o.env, args...)
	if got != code || !strings.Contains(errs, text) || out != "" {
		t.Errorf("%q: %d, want %d with %q: %q %q", args, got, code, text, out, errs)
	}
}

// adds adds a record of a kind, such as element.
func adds(t *testing.T, admin *servicetest.Client, kind string, fields object) servicetest.Answer {
	t.Helper()
	path := map[string]string{"eventcategory": "eventcategories"}[kind]
	return admin.Post(t, "/api/admin/"+cmp.Or(path, kind+"s"), object{kind: fields}).Must(t, http.StatusCreated)
}

// addsElement adds an element and returns its id.
func addsElement(t *testing.T, admin *servicetest.Client, fields object) int64 {
	t.Helper()
	return adds(t, admin, "element", fields).Int(t, "element.id")
}

// addsCategory adds a category and returns its id.
func addsCategory(t *testing.T, admin *servicetest.Client, name string) int64 {
	t.Helper()
	return adds(t, admin, "eventcategory", object{"name": name}).Int(t, "eventcategory.id")
}

// addsEvent makes an event of the first hour of a school day.
func addsEvent(
	t *testing.T, c *servicetest.Client, category int64, title, day string, elements ...int64,
) servicetest.Answer {
	t.Helper()
	return c.Post(t, "/api/events", object{"elements": append([]int64{}, elements...), "event": object{"body": title,
		"eventcategory_id": category, "starts_at": day + " 09:00", "ends_at": day + " 10:00"}}).Must(t, http.StatusOK)
}

// cells returns the cells of a table's lines, the heads first.
func cells(out string) [][]string {
	var table [][]string
	for line := range strings.Lines(out) {
		table = append(table, strings.FieldsFunc(strings.TrimRight(line, "\n"), func(r rune) bool { return r == ' ' }))
	}
	return table
}

// A school is set up, changed and inspected with belfryctl alone.
func TestAdministration_ASchoolIsRunByTheCommandAlone(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	t.Run("users", o.users)
	t.Run("elements", o.elements)
	t.Run("members", o.members)
	t.Run("administrators", o.administrators)
	t.Run("categories", o.categories)
	t.Run("audit", o.audit)
	t.Run("access", o.access)
	t.Run("what goes wrong", o.refusals)
}

func (o office) users(t *testing.T) {
	o.does(t, "elements", "add", "Staff", "--initials", "AB", "--forename", "Anna", "--surname", "Bell")
	var made struct {
		User struct {
			ID        int64
			UUID      string
			ElementID int64 `json:"element_id"`
		}
	}
	o.reads(t, &made, "users", "add", "--name", "Anna Bell", "--email", "anna@school.example", "--element", "1",
		"--grant", "can_api,can_su")
	valuetest.MustHold(t, uuid.Validate(made.User.UUID) == nil && made.User.ElementID == 1, "%+v", made)
	anna := o.system.Login(t, made.User.UUID)
	out := o.does(t, "users", "show", "Anna@school.example")
	valuetest.Has(t, out, "name         Anna Bell\n")
	valuetest.Has(t, out, "permissions  can_api,can_su\n")
	if strings.Contains(out, made.User.UUID) || strings.Contains(out, "uuid") {
		t.Errorf("the uuid is shown again:\n%s", out)
	}
	valuetest.Has(t, o.does(t, "users", "change", "anna@school.example", "--name", "Anna Quill", "--revoke", "can_su",
		"--grant", "can_add_events", "--element", ""), "can_api,can_add_events")
	valuetest.Has(t, o.does(t, "users", "show", "anna@school.example"), "element_id   -\n")

	o.does(t, "sessions", "end", "anna@school.example")
	anna.Get(t, "/api/elements").WantCode(t, http.StatusUnauthorized, "the session goes on")
	renewed := strings.TrimSpace(o.does(t, "users", "new-uuid", fmt.Sprint(made.User.ID)))
	anna = o.system.Login(t, renewed)
	valuetest.Has(t, o.does(t, "users", "end-sessions", fmt.Sprint(made.User.ID)), "have ended\n")
	anna.Get(t, "/api/elements").WantCode(t, http.StatusUnauthorized, "the session goes on")
	o.does(t, "users", "deactivate", "anna@school.example")
	valuetest.Has(t, o.does(t, "users", "show", "anna@school.example"), "active       false\n")
	if active := cells(o.does(t, "users", "list", "--active")); len(active) != 2 || active[1][0] != "1" {
		t.Errorf("active: %q", active)
	}
	var all struct{ Users []struct{ Name string } }
	o.reads(t, &all, "users", "list")
	valuetest.Holds(t, len(all.Users) == 2 && all.Users[1].Name == "Anna Quill", "%+v", all)
	valuetest.Has(t, o.does(t, "users", "change", "anna@school.example", "--active"), "active       true\n")
}

func (o office) elements(t *testing.T) {
	o.does(t, "import", clienttest.Folder(t, map[string]string{"locations.csv": "key,name\nG71,Room 71\n"}))
	valuetest.Has(t, o.does(t, "elements", "show", "Location:G71"), "name         Room 71\n")
	valuetest.Has(t, o.does(t, "elements", "change", "Location:G71", "--name", "Room 71a", "--short-name", "71a"),
		"short_name   71a\n")
	valuetest.Lacks(t, o.does(t, "elements", "change", "Location:G71", "--short-name", ""), "short_name", "not emptied")
	rooms := cells(o.does(t, "elements", "list", "--type", "Location", "--current"))
	valuetest.Holds(t, len(rooms) == 2 && rooms[1][1] == "Location", "%q", rooms)
	o.does(t, "elements", "retire", "Location:G71")
	valuetest.Len(t, cells(o.does(t, "elements", "list", "--type", "Location", "--current")), 1, "retired")
	var gone struct {
		Elements []struct{ Key string }
	}
	o.reads(t, &gone, "elements", "list", "--current=false")
	valuetest.Holds(t, len(gone.Elements) == 1 && gone.Elements[0].Key == "Location:G71", "%+v", gone)
}

func (o office) members(t *testing.T) {
	o.does(t, "import", clienttest.Folder(t, map[string]string{
		"groups.csv": "key,name\n9A,9A\nY9,Year 9\n", "pupils.csv": "key,forename,surname\n1,Ann,Aa\n2,Ben,Bb\n",
		"memberships.csv": "group,member\nY9,Group:9A\n",
	}))
	added := cells(o.does(t, "members", "add", "Group:9A", "Pupil:1", "Pupil:2", "--first", "2026-09-01"))
	valuetest.Holds(t, len(added) == 3 && added[1][3] == "2026-09-01" && added[1][4] == "-", "%q", added)
	o.does(t, "members", "end", "Group:9A", "Pupil:2", "--from", "2027-01-01")
	valuetest.Has(t, o.does(t, "members", "list", "Group:9A"), "2026-12-31")
	inside := cells(o.does(t, "members", "list", "Group:Y9", "--nested", "--on", "2027-02-01"))
	valuetest.Holds(t, len(inside) == 2 && inside[1][2] == "Ann", "%q", inside)
	valuetest.Len(t, cells(o.does(t, "members", "list", "Group:9A", "--on", "2026-08-31")), 1)
}

func (o office) administrators(t *testing.T) {
	o.does(t, "elements", "add", "Property", "--name", "Public calendar", "--uuid",
		"11111111-2222-4333-8444-555555555555")
	calendar := o.ids(t, "elements", "list", "--type", "Property")[0]
	valuetest.Has(t, o.does(t, "administrators", "add", calendar, "anna@school.example"), "Anna Quill")
	valuetest.Has(t, o.does(t, "elements", "show", calendar), "controlled   true\n")
	valuetest.Has(t, o.does(t, "administrators", "list", calendar), "anna@school.example")
	o.does(t, "administrators", "remove", calendar, "anna@school.example")
	valuetest.Has(t, o.does(t, "elements", "show", calendar), "controlled   false\n")
}

func (o office) categories(t *testing.T) {
	valuetest.Has(t, o.does(t, "categories", "add", "--name", "Fixture", "--pecking-order", "30", "--clash-check",
		"--busy"), "clash_check    true\n")
	valuetest.Has(t, o.does(t, "categories", "change", "Fixture", "--privileged", "--busy=false"),
		"busy           false\n")
	list := cells(o.does(t, "categories", "list"))
	if len(list) != 2 || !slices.Equal(list[1], []string{"1", "Fixture", "30", "privileged,clash_check"}) {
		t.Errorf("%q", list)
	}
	house := object{"entity_type": "Group", "name": "House", "school": true}
	school := fmt.Sprint(addsElement(t, o.system.Admin(t), house))
	valuetest.Has(t, o.does(t, "categories", "add", "--name", "Fixture", "--school", school), school+"\n")
	list = cells(o.does(t, "categories", "list"))
	if len(list) != 3 || list[0][4] != "school_id" || list[1][4] != "-" || list[2][1] != "Fixture" ||
		list[2][4] != school {
		t.Errorf("%q", list)
	}
	o.fails(t, exitFailure, "several categories have the name \"Fixture\": give one of the ids 1, 2", "categories",
		"change", "Fixture", "--busy")
	o.does(t, "categories", "change", "2", "--name", "House match", "--school", "")
	o.fails(t, exitFailure, "no element has the key Group:nowhere", "categories", "add", "--name", "Trip", "--school",
		"Group:nowhere")
}

func (o office) audit(t *testing.T) {
	var all struct {
		Entries []struct {
			ID, At, Service, Action, Record string
			UserID                          int64 `json:"user_id"`
		}
	}
	o.reads(t, &all, "audit", "--limit", "1000")
	services := map[string]bool{}
	for i, e := range all.Entries {
		services[e.Service] = true
		if i > 0 && e.ID >= all.Entries[i-1].ID {
			t.Errorf("%+v stands after %+v", e, all.Entries[i-1])
		}
	}
	valuetest.Holds(t, services["identity"] && services["elements"] && services["events"], "of %v", services)
	valuetest.Len(t, cells(o.does(t, "audit", "--limit", "3")), 4)
	o.reads(t, &all, "audit", "--record", "EventCategory:1", "--since", "24h")
	if len(all.Entries) != 2 || all.Entries[0].Action != "update" || all.Entries[1].Action != "create" ||
		all.Entries[0].UserID != 1 {
		t.Errorf("%+v", all)
	}
	valuetest.Has(t, o.does(t, "audit", "--record", "EventCategory:1"), "privileged: false → true")
	o.reads(t, &all, "audit", "--user", "anna@school.example")
	for _, e := range all.Entries {
		valuetest.Same(t, e.Action, "login", "%+v", e)
	}
	valuetest.Same(t, len(all.Entries), 2, "logins of 2")
	valuetest.Has(t, o.does(t, "audit", "--service", "elements", "--record", "Import"), "imported")
}

func (o office) access(t *testing.T) {
	var made struct{ Element struct{ ID int64 } }
	o.reads(t, &made, "elements", "add", "Staff", "--initials", "CD", "--forename", "Cora", "--surname", "Dale")
	cora := fmt.Sprint(made.Element.ID)
	o.does(t, "elements", "show", cora)
	var all struct {
		Entries []struct {
			At, What  string
			UserID    int64 `json:"user_id"`
			ElementID int64 `json:"element_id"`
		}
	}
	o.reads(t, &all, "access", "--element", cora, "--user", "1", "--since", "24h")
	if len(all.Entries) != 1 || all.Entries[0].What != "detail" || all.Entries[0].UserID != 1 ||
		all.Entries[0].ElementID != made.Element.ID || all.Entries[0].At == "" {
		t.Errorf("%+v", all)
	}
	lines := cells(o.does(t, "access", "--element", cora, "--limit", "1"))
	if len(lines) != 2 || lines[0][0] != "at" || !slices.Contains(lines[1], cora) || lines[1][1] != "1" {
		t.Errorf("%q", lines)
	}
	valuetest.Len(t, cells(o.does(t, "access", "--user", "anna@school.example")), 1, "a user without a look")
}

func (o office) refusals(t *testing.T) {
	o.fails(t, exitUsage, `unknown command "lst" for "belfryctl users"`, "users", "lst")
	o.fails(t, exitUsage, `"x" is neither an id nor an e-mail address`, "users", "show", "x")
	o.fails(t, exitUsage, `"x" is neither an id nor a key`, "elements", "show", "x")
	o.fails(t, exitUsage, `"fly" is not a permission`, "users", "add", "--name", "A", "--email", "a@b.example", "--grant",
		"fly")
	o.fails(t, exitUsage, "--limit takes", "audit", "--limit", "0")
	o.fails(t, exitUsage, "--limit takes", "access", "--limit", "100001")
	o.fails(t, exitUsage, `"x" is neither an id nor a key`, "access", "--element", "x")
	o.fails(t, exitUsage, `"post" is not a service`, "audit", "--service", "post")
	o.fails(t, exitFailure, "no user has the address", "users", "show", "stranger@school.example")
	o.fails(t, exitFailure, "no element has the key Staff:99", "elements", "show", "Staff:99")
	o.fails(t, exitFailure, "no category has the name", "categories", "change", "Nonsense")
	o.fails(t, exitFailure, "Couldn't find User with 'id'=999", "users", "show", "999")
	o.fails(t, exitFailure, "email is not an e-mail address; name can't be blank", "users", "add", "--name", "",
		"--email", "x")
	o.fails(t, exitFailure, "last_day is before first_day", "members", "add", "Group:9A", "Pupil:1", "--first",
		"2026-09-02", "--last", "2026-09-01")
	o.fails(t, exitFailure, "the last active administrator", "users", "deactivate", "1")
	o.fails(t, exitFailure, "since is not a date", "audit", "--since", "yesterday")
	stranger := office{o.system, map[string]string{"BELFRY_URL": o.system.URL, "BELFRY_UUID": uuid.NewString()}}
	stranger.fails(t, exitFailure, "logging in: POST /api/login: 401 Access denied", "users", "list")
}

// A creation whose answer was lost may have succeeded, so it is not sent again. One that reached no server is.
func TestACreationIsNotMadeTwice(t *testing.T) {
	school := clienttest.NewSchool(t)
	calls := 0
	school.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path == "/api/login" {
			return false
		}
		calls++
		clienttest.Answer(w, http.StatusServiceUnavailable, map[string]any{"status": "Service unavailable"})
		return true
	}
	simulated(school).fails(t, exitFailure, "503 Service unavailable", "users", "add", "--name", "A", "--email",
		"a@b.example")
	valuetest.Same(t, calls, 1, "calls")
}
