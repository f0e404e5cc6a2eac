package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// twoSchools are schools with a teacher and a pupil each, who are users, and a teacher of neither. What a test makes
// carries a mark of its own.
type twoSchools struct {
	admin               *servicetest.Client
	mark                string
	north, south, class int64 // groups; the class is none
	elements            map[string]int64
	uuids               map[string]string
	plain, privileged   int64 // categories of the deployment
}

const adminCategories = "/api/admin/eventcategories"

func newTwoSchools(t *testing.T) twoSchools {
	t.Helper()
	s := twoSchools{admin: system(t).Admin(t), mark: uuid.NewString()[:8], elements: map[string]int64{},
		uuids: map[string]string{}}
	key := func(name string) string { return s.mark + name }
	groups := s.admin.Import(t, "groups",
		map[string]any{"key": key("north"), "name": key("North"), "school": true},
		map[string]any{"key": key("south"), "name": key("South"), "school": true},
		map[string]any{"key": key("class"), "name": key("Class")})
	s.north, s.south, s.class = groups[key("north")], groups[key("south")], groups[key("class")]
	var staff, pupils, users, memberships []map[string]any
	for _, name := range []string{"north", "south", "none"} {
		staff = append(staff, map[string]any{"key": key(name), "initials": name, "forename": name, "surname": s.mark})
		pupils = append(pupils, map[string]any{"key": key(name), "forename": name, "surname": s.mark})
		for _, entity := range []string{"Staff", "Pupil"} {
			kind := strings.ToLower(entity)
			s.uuids[kind+" "+name] = uuid.NewString()
			users = append(users, map[string]any{"key": key(kind + name), "name": kind + name, "kind": kind,
				"email": kind + key(name) + "@school.example", "uuid": s.uuids[kind+" "+name], "can_api": true,
				"can_add_events": kind == "staff", "element": entity + ":" + key(name)})
			if name == "none" {
				continue
			}
			// The teacher is in the school by itself, the pupil by a group in it.
			group := key(name)
			if name == "north" && kind == "pupil" {
				group = key("class")
			}
			memberships = append(memberships, membership(group, entity+":"+key(name)))
		}
	}
	for name, id := range s.admin.Import(t, "staff", staff...) {
		s.elements["staff "+strings.TrimPrefix(name, s.mark)] = id
	}
	s.admin.Import(t, "pupils", pupils...)
	s.admin.Import(t, "memberships", append(memberships, membership(key("north"), "Group:"+key("class")))...)
	s.admin.Import(t, "users", users...)
	for _, user := range []map[string]any{
		{"name": "head", "admin_of": []int64{s.north}}, {"name": "both", "admin_of": []int64{s.north, s.south}},
		{"name": "guest", "kind": "guest"}, {"name": "program"},
	} {
		user["email"] = uuid.NewString() + "@school.example"
		user["permissions"] = map[string]any{"can_api": true, "can_add_events": true}
		s.uuids[user["name"].(string)] = s.admin.Post(t, "/api/admin/users", map[string]any{"user": user}).
			Must(t, http.StatusCreated).Text(t, "user.uuid")
	}
	categories := s.admin.Import(t, "eventcategories", map[string]any{"key": key("plain"), "name": key("Plain")},
		map[string]any{"key": key("secret"), "name": key("Secret"), "privileged": true})
	s.plain, s.privileged = categories[key("plain")], categories[key("secret")]
	return s
}

func membership(group, member string) map[string]any {
	return map[string]any{"key": "Group:" + group + "/" + member, "group": group, "member": member,
		"spans": []map[string]any{{"first_day": nil, "last_day": nil}}}
}

func (s twoSchools) as(t *testing.T, user string) *servicetest.Client {
	t.Helper()
	return system(t).Login(t, s.uuids[user])
}

// try asks for a category; its name gets the mark.
func (s twoSchools) try(t *testing.T, c *servicetest.Client, name string, more ...any) servicetest.Answer {
	t.Helper()
	return c.Post(t, adminCategories, ofCategory(append([]any{"name", s.mark + name}, more...)...))
}

func (s twoSchools) category(t *testing.T, name string, school any, more ...any) int64 {
	t.Helper()
	return s.try(t, s.admin, name, append([]any{"school_id", school}, more...)...).Must(t, http.StatusCreated).
		Int(t, "eventcategory.id")
}

// ofCategory is the body of a request: names and values, of which nil is null.
func ofCategory(fields ...any) map[string]any {
	record := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		record[fields[i].(string)] = fields[i+1]
	}
	return map[string]any{"eventcategory": record}
}

// event tries to make an event of that category.
func (s twoSchools) event(t *testing.T, c *servicetest.Client, category int64) servicetest.Answer {
	t.Helper()
	return c.Post(t, "/api/events", map[string]any{"elements": []any{}, "event": map[string]any{
		"body": s.mark + " Assembly", "event_category_id": category, "starts_at_text": "2026-09-07 09:00"}})
}

// move makes the teacher of the north one of the south.
func (s twoSchools) move(t *testing.T) {
	t.Helper()
	teacher := s.elements["staff north"]
	s.admin.Delete(t, path("/api/admin/elements/%d/members/%d", s.north, teacher)).Must(t, http.StatusOK)
	s.admin.Post(t, path("/api/admin/elements/%d/members", s.south),
		map[string]any{"members": []any{map[string]any{"element_id": teacher}}}).Must(t, http.StatusCreated)
}

// listed are the ids of categories that an answer lists.
func listed(t *testing.T, a servicetest.Answer) []int64 {
	t.Helper()
	var got struct{ EventCategories []struct{ ID int64 } }
	a.Must(t, http.StatusOK).Decode(t, &got)
	var ids []int64
	for _, c := range got.EventCategories {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestAdministration_AnAdministratorOfASchoolMakesCategoriesOfItsOwn(t *testing.T) {
	s := newTwoSchools(t)
	head, both := s.as(t, "head"), s.as(t, "both")
	a := s.try(t, head, "Club", "publish", true).Must(t, http.StatusCreated)
	valuetest.Same(t, a.Int(t, "eventcategory.school_id"), s.north, "it begins in")
	own := a.Int(t, "eventcategory.id")
	for _, c := range []struct {
		by           *servicetest.Client
		fields       []any
		code         int
		field, fault string
	}{
		{head, []any{"school_id", s.south}, 403, "", ""},
		{head, []any{"school_id", s.class}, 422, "school_id", "is not a school"},
		{head, []any{"school_id", int64(1e15)}, 422, "school_id", "is not a school"},
		{head, []any{"school_id", "north"}, 422, "school_id", "must exist"},
		{head, []any{"school_id", s.north, "privileged", true}, 403, "", ""},
		{head, []any{"confidential", true}, 403, "", ""},
		{both, nil, 422, "school_id", "can't be blank"},
		{both, []any{"school_id", nil}, 422, "school_id", "can't be blank"},
		{both, []any{"school_id", s.south}, 201, "", ""},
		{s.admin, []any{"school_id", s.class}, 422, "school_id", "is not a school"},
		{s.admin, []any{"school_id", text(s.south), "privileged", true}, 201, "", ""},
		{s.admin, nil, 201, "", ""},
		{s.admin, []any{"busy", "very"}, 422, "busy", "is not true or false"},
		{s.as(t, "staff north"), []any{"school_id", s.north}, 403, "", ""},
	} {
		a := s.try(t, c.by, uuid.NewString(), c.fields...)
		if c.fault != "" {
			wantInvalid(t, a, "eventcategory", c.field, c.fault)
		} else if a.Code != c.code {
			t.Errorf("%v: %d %s, want %d", c.fields, a.Code, a.Body, c.code)
		}
	}
	one := path(adminCategories+"/%d", own)
	of := func(id int64) string { return path(adminCategories+"/%d", id) }
	other, reserved := s.category(t, "Other", s.south), s.category(t, "Care", s.north, "confidential", true)
	for _, c := range []struct {
		by     *servicetest.Client
		path   string
		fields []any
		code   int
	}{
		{head, one, []any{"busy", true}, 200},
		{head, one, []any{"school_id", s.north, "privileged", false}, 200},
		{head, one, []any{"school_id", s.south}, 403},
		{head, one, []any{"school_id", nil}, 403},
		{head, one, []any{"privileged", true}, 403},
		{head, one, []any{"confidential", true}, 403},
		{head, of(other), []any{"busy", true}, 403},
		{head, of(reserved), []any{"busy", true}, 403},
		{head, of(s.plain), []any{"busy", true}, 403},
		{head, of(s.plain), []any{"school_id", s.north}, 403},
		{head, of(int64(1e15)), []any{"busy", true}, 404},
		{both, one, []any{"school_id", s.south}, 200},
		{head, one, []any{"busy", false}, 403},
		{s.admin, one, []any{"school_id", nil}, 200},
	} {
		c.by.Patch(t, c.path, ofCategory(c.fields...)).WantCode(t, c.code, "%s %v", c.path, c.fields)
	}
	audit := strings.Join(s.admin.AuditTexts(t, "events", "record="+path("EventCategory:%d", own)), "\n")
	holds(t, audit, path("school_id → %d", s.north), path("school_id %d → %d", s.north, s.south))
	if one := s.admin.Get(t, path(adminCategories+"?from_id=%d&limit=1", own)); one.Has("eventcategories.0.school_id") {
		t.Errorf("one of no school: %s", one.Body)
	}
}

// Names repeat between schools, and not in one.
func TestAdministration_NamesOfCategoriesRepeatBetweenSchools(t *testing.T) {
	s := newTwoSchools(t)
	s.category(t, "Club", s.north)
	other := s.category(t, "Club", s.south)
	s.try(t, s.admin, "Club").Must(t, http.StatusCreated)
	wantInvalid(t, s.try(t, s.as(t, "head"), "Club"), "eventcategory", "name", "has already been taken")
	wantInvalid(t, s.try(t, s.admin, "Club"), "eventcategory", "name", "has already been taken")
	wantInvalid(t, s.admin.Patch(t, path(adminCategories+"/%d", other), ofCategory("school_id", s.north)),
		"eventcategory", "name", "has already been taken")
}

// The list of administration shows an administrator of a school its own, and the deployment's.
func TestAdministration_AnAdministratorOfASchoolListsItsCategories(t *testing.T) {
	s := newTwoSchools(t)
	north, south := s.category(t, "A", s.north), s.category(t, "B", s.south)
	hidden := s.category(t, "C", s.north, "privileged", true)
	all := func(c *servicetest.Client, limit int) (ids []int64) {
		t.Helper()
		after := "" // the first; ids of two replicas are in no order of time
		for {
			a := c.Get(t, path(adminCategories+"?limit=%d&after=%s", limit, after))
			ids = append(ids, listed(t, a)...)
			if a.At(t, "next") == "null" {
				return ids
			}
			after = a.Text(t, "next")
		}
	}
	for _, limit := range []int{1, 1000} {
		for who, want := range map[string][]int64{"head": {s.plain, north}, "both": {s.plain, north, south}} {
			got := all(s.as(t, who), limit)
			for _, id := range []int64{s.plain, s.privileged, north, south, hidden} {
				valuetest.Same(t, slices.Contains(got, id), slices.Contains(want, id),
					"%s, by %d: %v, want of these %v", who, limit, got, want)
			}
		}
	}
	if got := all(s.admin, 1000); !slices.Contains(got, north) || !slices.Contains(got, south) ||
		!slices.Contains(got, hidden) {
		t.Errorf("an admin: %v", got)
	}
}

// A category of a school is for those who belong to it today, its administrators and admins.
func TestDecisionsPart7_ACategoryOfASchoolIsForItsOwn(t *testing.T) {
	s := newTwoSchools(t)
	north, south := s.category(t, "A", s.north), s.category(t, "B", s.south)
	wanted := map[string][]int64{
		"staff north": {north}, "staff south": {south}, "staff none": nil, "pupil north": {north},
		"pupil south": {south}, "guest": nil, "program": nil, "head": {north}, "both": {north, south},
	}
	check := func(who string, want []int64, c *servicetest.Client) {
		t.Helper()
		got := listed(t, c.Get(t, "/api/eventcategories"))
		valuetest.Holds(t, slices.Contains(got, s.plain), "%s lacks the deployment's: %v", who, got)
		for _, id := range []int64{north, south} {
			mine := slices.Contains(want, id)
			valuetest.Same(t, slices.Contains(got, id), mine, "%s: %v, want of these %v", who, got, want)
			code := http.StatusForbidden
			if mine {
				code = http.StatusOK
			}
			a := c.Get(t, path("/api/eventcategories/%d", id))
			valuetest.Holds(t, a.Code == code && !a.Has("eventcategory.school_id"), "%s: %d %s", who, a.Code, a.Body)
			if strings.HasPrefix(who, "pupil") || who == "guest" {
				continue
			}
			s.event(t, c, id).WantCode(t, code, "an event of %s", who)
		}
	}
	for who, want := range wanted {
		check(who, want, s.as(t, who))
	}
	check("admin", []int64{north, south}, s.admin)
	s.move(t)
	for i := range 2 { // whichever replica is asked
		moved := s.as(t, "staff north").At(system(t).Replica("events", i))
		check("staff who moved", []int64{south}, moved)
	}
}

// An event stays readable, with its category's name, and may be changed as before. It can't be moved into a
// category of another school.
func TestDecisionsPart7_AnEventStaysInACategoryOfASchool(t *testing.T) {
	s := newTwoSchools(t)
	north, south := s.category(t, "A", s.north), s.category(t, "B", s.south)
	owner := s.as(t, "staff north")
	one := path("/api/events/%d", s.event(t, owner, north).Must(t, http.StatusOK).Int(t, "event.id"))
	other := path("/api/events/%d", s.event(t, owner, s.plain).Must(t, http.StatusOK).Int(t, "event.id"))
	into := func(event string, category int64, more ...any) int {
		t.Helper()
		fields := servicetest.With(map[string]any{"event_category_id": category}, more...)
		return owner.Patch(t, event, map[string]any{"event": fields}).Code
	}
	valuetest.Same(t, into(other, south), http.StatusForbidden, "into another school's")
	valuetest.Same(t, into(other, north), http.StatusOK, "into its school's")
	s.move(t)
	shown := s.as(t, "staff south").Get(t, one+"?include=category").Must(t, http.StatusOK)
	valuetest.Same(t, shown.Text(t, "event.category.name"), s.mark+"A", "its category reads")
	valuetest.Same(t, into(one, north, "body", "Moved on"), http.StatusOK, "with the category that it has")
	into(other, south)
	valuetest.Same(t, into(other, north), http.StatusForbidden, "back into the school's that it has left")
}

// A former school keeps its categories, but no new events.
func TestDecisionsPart7_CategoriesOfASchoolThatIsNoLongerOne(t *testing.T) {
	s := newTwoSchools(t)
	north := s.category(t, "A", s.north)
	owner, head := s.as(t, "staff north"), s.as(t, "head")
	one := path("/api/events/%d", s.event(t, owner, north).Must(t, http.StatusOK).Int(t, "event.id"))
	s.admin.Patch(t, path("/api/admin/elements/%d", s.north),
		map[string]any{"element": map[string]any{"current": false}}).Must(t, http.StatusOK)

	s.event(t, owner, north).WantCode(t, http.StatusForbidden)
	wantInvalid(t, s.event(t, s.admin, north), "event", "event_category_id", "must exist")
	s.admin.Get(t, path("/api/eventcategories/%d", north)).WantCode(t, http.StatusOK)
	for _, c := range []*servicetest.Client{owner, head} {
		c.Get(t, path("/api/eventcategories/%d", north)).WantCode(t, http.StatusForbidden)
		if got := listed(t, c.Get(t, "/api/eventcategories")); slices.Contains(got, north) {
			t.Errorf("it is listed: %v", got)
		}
	}
	head.Patch(t, path(adminCategories+"/%d", north), ofCategory("busy", true)).WantCode(t, http.StatusForbidden)
	s.try(t, head, "B").WantCode(t, http.StatusForbidden)
	s.admin.Patch(t, path(adminCategories+"/%d", north), ofCategory("busy", true)).WantCode(t, http.StatusOK)
	wantInvalid(t, s.try(t, s.admin, "B", "school_id", s.north), "eventcategory", "school_id", "is not a school")

	for _, c := range []*servicetest.Client{owner, s.admin} {
		changed := map[string]any{"event": map[string]any{"body": "Founders' day", "event_category_id": north}}
		c.Patch(t, one, changed).WantCode(t, http.StatusOK)
		valuetest.Same(t, c.Get(t, one+"?include=category").Text(t, "event.category.name"), s.mark+"A",
			"the category of its event reads …")
	}
}

// A school-wide category of a school shows its events to the pupils of that school, on the days when they are in it.
func TestDecisionsPart9_ASchoolWideCategoryOfASchool(t *testing.T) {
	s := newTwoSchools(t)
	north := s.category(t, "A", s.north, "schoolwide", true)
	everybody := s.category(t, "All", nil, "schoolwide", true)
	events := map[int64]int64{}
	for _, category := range []int64{north, everybody} {
		events[category] = s.event(t, s.admin, category).Must(t, http.StatusOK).Int(t, "event.id")
	}
	check := func(who string, category int64, seen bool) {
		t.Helper()
		c, id := s.as(t, who), events[category]
		code := http.StatusForbidden
		if seen {
			code = http.StatusOK
		}
		c.Get(t, path("/api/events/%d", id)).WantCode(t, code, who)
		a := c.Get(t, "/api/events?start_date=2026-09-07&end_date=2026-09-07&text="+s.mark).Must(t, http.StatusOK)
		valuetest.Same(t, strings.Contains(a.Body, path(`"id":%d,`, id)), seen, "%s finds it: %s", who, a.Body)
	}
	for who, seen := range map[string]bool{
		"pupil north": true, "pupil south": false, "pupil none": false, "guest": false, "staff south": true,
	} {
		check(who, north, seen)
		check(who, everybody, true)
	}
	left := membership(s.mark+"north", "Group:"+s.mark+"class") // before the event
	left["spans"] = []map[string]any{{"first_day": nil, "last_day": "2026-09-06"}}
	s.admin.Import(t, "memberships", left)
	check("pupil north", north, false)
	check("pupil north", everybody, true)
}

// A bundle names the school of a category by its key.
func TestAdministration_AnImportOfCategoriesOfSchools(t *testing.T) {
	s := newTwoSchools(t)
	key := func(name string) string { return s.mark + name }
	row := func(name, school string, more ...any) map[string]any {
		fields := map[string]any{"key": key(name), "name": key("Club")}
		if school != "" {
			fields["school"] = school
		}
		return servicetest.With(fields, more...)
	}
	outcome := func(c *servicetest.Client, query string, r map[string]any) string {
		t.Helper()
		a := c.ImportBatch(t, "/api/admin/import/eventcategories"+query, r)
		if got := a.Text(t, "records.0.result"); got != "failed" {
			return got
		}
		return a.At(t, "records.0.errors")
	}
	head := s.as(t, "head")
	for i, c := range []struct {
		by    *servicetest.Client
		query string
		row   map[string]any
		want  string
	}{
		{s.admin, "?dry_run=true", row("n", key("later")), "created"},
		{s.admin, "", row("n", key("nowhere")), `{"school":["must exist"]}`},
		{s.admin, "", row("n", key("class")), `{"school":["is not a school"]}`},
		{s.admin, "", row("n", key("north")), "created"},
		{s.admin, "", row("n", key("north")), "unchanged"},
		{s.admin, "", row("s", key("south")), "created"},
		{s.admin, "", row("n2", key("north")), `{"name":["has already been taken"]}`},
		{s.admin, "", row("all", ""), "created"},
		{s.admin, "", row("all", "", "school", 7), `{"school":["is not a string"]}`},
		{head, "", row("n", key("north"), "busy", true), "updated"},
		{s.admin, "", row("n5", "", "name", nil), `{"name":["can't be blank"]}`},
		{head, "", row("n3", key("north"), "name", key("Choir")), "created"},
		{head, "", row("n4", key("north"), "name", key("Care"), "confidential", true),
			`{"key":["needs the permission admin"]}`},
		{head, "", row("s", key("south"), "busy", true),
			`{"school":["does not belong to a school that you administer"]}`},
		{head, "", row("s", key("north"), "busy", true),
			`{"name":["has already been taken"],"school":["does not belong to a school that you administer"]}`},
		{head, "", row("s", key("south")), "unchanged"},
		{head, "", row("all", "", "busy", true), `{"key":["needs the permission admin"]}`},
		{s.admin, "", row("n", ""), `{"name":["has already been taken"]}`},
		{s.admin, "", row("n3", "", "name", key("Choir")), "updated"},
	} {
		valuetest.Same(t, outcome(c.by, c.query, c.row), c.want, "%d: %v", i, c.row)
	}
	twins := s.admin.ImportBatch(t, "/api/admin/import/eventcategories", row("t1", "", "name", key("Twin")),
		row("t2", "", "name", key("Twin")))
	valuetest.List(t, twins.Texts(t, "records.#.result"), []string{"created", "failed"}, "two of one name")
	s.admin.Patch(t, path("/api/admin/elements/%d", s.south),
		map[string]any{"element": map[string]any{"current": false}}).Must(t, http.StatusOK)
	valuetest.Same(t, outcome(s.admin, "", row("s", key("south"), "busy", true)), "updated", "of what was a school")
}

// An administrator of a school imports no events into another's categories.
func TestAdministration_AnImportOfEventsIntoCategoriesOfSchools(t *testing.T) {
	s := newTwoSchools(t)
	key := func(name string) string { return s.mark + name }
	s.admin.Import(t, "eventcategories", map[string]any{"key": key("n"), "name": key("N"), "school": key("north")},
		map[string]any{"key": key("s"), "name": key("S"), "school": key("south")})
	head := s.as(t, "head")
	for _, c := range []struct{ category, want string }{
		{"s", `{"category":["does not belong to a school that you administer"]}`}, {"n", "created"},
	} {
		a := head.ImportBatch(t, "/api/admin/import/events", map[string]any{"key": key(c.category), "body": "Trip",
			"category": key(c.category), "starts_at": "2026-09-07 09:00", "ends_at": "2026-09-07 10:00",
			"elements": []string{"Staff:" + key("north")}})
		got := a.Text(t, "records.0.result")
		if got == "failed" {
			got = a.At(t, "records.0.errors")
		}
		valuetest.Same(t, got, c.want, "into %s: %s", c.category, a.Body)
	}
}
