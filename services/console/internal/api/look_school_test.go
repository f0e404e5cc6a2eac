package api

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestLookAfter_AnAdministratorOfASchoolIsLedToNothingThatIsRefused: a teacher of the school stands for a child of
// another one, whose days the administrator may not see. The audit of notes is for admins alone. An administrator of
// two schools finds what belongs to them, and not what belongs to none.
func TestLookAfter_AnAdministratorOfASchoolIsLedToNothingThatIsRefused(t *testing.T) {
	s := servicetest.Start(t, servicetest.Options{
		Console: true, NoRace: true, Env: map[string]string{"BELFRY_STAFF_SEE": "school"},
	})
	admin, key := s.Admin(t), uuid.NewString()
	schools := admin.Import(t, "groups", map[string]any{"key": "north", "name": "North", "school": true},
		map[string]any{"key": "south", "name": "South", "school": true})
	teacher := admin.Import(t, "staff",
		map[string]any{"key": "ann", "initials": "AB", "forename": "Ann", "surname": "Bell"})["ann"]
	child := admin.Import(t, "pupils", map[string]any{"key": "zoe", "forename": "Zoe", "surname": "Bell"})["zoe"]
	for school, member := range map[string]int64{"north": teacher, "south": child} {
		admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", schools[school]),
			map[string]any{"members": []any{map[string]any{"element_id": member}}}).Must(t, http.StatusCreated)
	}
	user := func(key string, fields map[string]any) map[string]any {
		fields["key"], fields["name"], fields["email"], fields["can_api"] = key, key, key+"@school.example", true
		return fields
	}
	admin.Import(t, "staff", map[string]any{"key": "cy", "initials": "CB", "forename": "Cy", "surname": "Bell"})
	both := uuid.NewString()
	users := admin.Import(t, "users",
		user("both", map[string]any{"uuid": both, "admin_of": []string{"north", "south"}}),
		user("ann", map[string]any{"element": "Staff:ann", "stands_for": []string{"zoe"}}),
		user("head", map[string]any{"uuid": key, "admin_of": []string{"north"}}))

	signIn := func(key string) *browser {
		jar, err := cookiejar.New(nil)
		errortest.None(t, err)
		b := &browser{t: t, http: &http.Client{Jar: jar}, base: s.URL}
		b.send("/sign-in", url.Values{"uuid": {key}}, http.StatusOK)
		return b
	}
	head := signIn(key)
	at := fmt.Sprintf("/look-after/users/%d", users["ann"])
	head.open("/look-after/users", http.StatusOK, at)
	page := head.open(at, http.StatusOK, "AB - Ann Bell")
	valuetest.Lacks(t, page, "Zoe", "the page of the teacher")
	for _, link := range strings.Split(head.open("/look-after/history", http.StatusOK), `href="`)[1:] {
		if path, _, _ := strings.Cut(link, `"`); strings.HasPrefix(path, "/look-after/history?service=") {
			head.open(path, http.StatusOK)
		}
	}

	// The page of the school, and that of an admin, had buttons that are refused, and an account was refused because no
	// one could say whose it is.
	others := admin.Import(t, "staff",
		map[string]any{"key": "dee", "initials": "DB", "forename": "Dee", "surname": "Bell"},
		map[string]any{"key": "flo", "initials": "FB", "forename": "Flo", "surname": "Bell"},
		map[string]any{"key": "gus", "initials": "GB", "forename": "Gus", "surname": "Bell"})
	for _, member := range others {
		admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", schools["north"]),
			map[string]any{"members": []any{map[string]any{"element_id": member}}}).Must(t, http.StatusCreated)
	}
	in := admin.Import(t, "users", user("root", map[string]any{"element": "Staff:dee", "admin": true}),
		user("flo", map[string]any{"element": "Staff:flo"}))
	for path, may := range map[string]bool{
		fmt.Sprintf("/look-after/elements/%d", schools["north"]): false,
		fmt.Sprintf("/look-after/elements/%d", others["flo"]):    true,
		fmt.Sprintf("/look-after/users/%d", in["root"]):          false,
		fmt.Sprintf("/look-after/users/%d", in["flo"]):           true,
	} {
		page := head.open(path, http.StatusOK)
		valuetest.Same(t, strings.Contains(page, ">Save<"), may, "%s can be saved", path)
		valuetest.Same(t, strings.Contains(page, "but not change it"), !may, "%s says that it is fixed", path)
		valuetest.Same(t, strings.Contains(page, `class="danger"`), may, "%s has something to end", path)
	}
	valuetest.Lacks(t, head.open("/look-after/users", http.StatusOK), "/look-after/users/new", "the list of accounts")
	// An account was offered to a person who has one, which no page of the person led to.
	page = head.open(fmt.Sprintf("/look-after/elements/%d", others["flo"]), http.StatusOK, "Account: flo</a>",
		fmt.Sprintf(`href="/look-after/users/%d"`, in["flo"]))
	valuetest.Lacks(t, page, "New account", "the page of one with an account")
	add := fmt.Sprintf("/look-after/users/new?person=%d", others["gus"])
	head.open(fmt.Sprintf("/look-after/elements/%d", others["gus"]), http.StatusOK, add)
	page = head.open(add, http.StatusOK, `value="Gus Bell"`)
	made := url.Values{"is.name": {"Gus Bell"}, "is.email": {"none"}, "person": values(page, "person"), "key": {"a"},
		"is.kind": {"staff"}, "is.active": {"true"}, "token": {head.token}}
	head.send("/look-after/users/new", made, http.StatusUnprocessableEntity, fmt.Sprintf(`value="%d"`, others["gus"]))
	made.Set("is.email", "bell@school.example")
	code, _, page := head.do(http.MethodPost, "/look-after/users/new", made)
	head.check(add, code, http.StatusCreated, page, []string{"Copy this now", "GB - Gus Bell"})

	// It could let no one decide: only those who may switch find users by their addresses.
	decides := fmt.Sprintf("/look-after/elements/%d", others["gus"])
	head.open(decides, http.StatusOK)
	head.send(decides+"/deciders", url.Values{"email": {"both@school.example"}}, http.StatusUnprocessableEntity,
		"0 accounts")
	head.send(decides+"/deciders", url.Values{"email": {"FLO@school.example"}}, http.StatusOK, "flo</a>")

	of := signIn(both)
	for _, search := range []string{"", "?q=bell"} {
		listed := of.open("/look-after/list/Staff"+search, http.StatusOK, "AB - Ann Bell")
		valuetest.Lacks(t, listed, "Cy Bell", "the list of the staff"+search)
		of.open("/look-after/list/Pupil"+search, http.StatusOK, "Zoe Bell")
	}
	of.open(fmt.Sprintf("/look-after/elements/%d", child), http.StatusOK)
	// What they added was refused, for no field said to which school it belongs.
	south := fmt.Sprint(schools["south"])
	for path, named := range map[string]url.Values{
		"/look-after/new/Location": {"is.name": {"Gym"}}, "/look-after/kinds/new": {"is.name": {"Gymnastics"}},
	} {
		of.open(path, http.StatusOK, ">North</option>", ">South</option>")
		named.Set("key", path)
		of.send(path, url.Values{"school": {south}}, http.StatusUnprocessableEntity, `value="`+south+`" selected`)
		named.Set("school", south)
		of.send(path, named, http.StatusOK, "Added")
	}

	// Anyone who sees little as a guest or a pupil was refused, or shown less of, what it looks after.
	for _, kind := range []string{"guest", "pupil"} {
		key := uuid.NewString()
		admin.Import(t, "users", user(kind, map[string]any{"uuid": key, "kind": kind, "admin_of": []string{"north"}}))
		b := signIn(key)
		b.open(at, http.StatusOK, "AB - Ann Bell")
		for _, search := range []string{"", "?q=B%C3%88LL"} {
			listed := b.open("/look-after/list/Staff"+search, http.StatusOK, "AB - Ann Bell")
			valuetest.Lacks(t, listed, "Cy Bell", "the list of the staff"+search)
		}
		// It found no one to add to a group of the school, and no person of an account.
		choir := fmt.Sprintf("/look-after/elements/%d", admin.Import(t, "groups",
			map[string]any{"key": "choir", "name": "Choir"})["choir"])
		admin.Post(t, fmt.Sprintf("/api/admin/elements/%d/members", schools["north"]), map[string]any{"members": []any{
			map[string]any{"element_id": path.Base(choir)}}})
		for _, find := range []string{choir, fmt.Sprintf("/look-after/users/%d", in["flo"])} {
			found := b.open(find+"?find=B%C3%88LL", http.StatusOK, "AB - Ann Bell", `value="`+id(teacher)+`"`)
			valuetest.Lacks(t, found, "Cy Bell", find)
		}
	}

	// A district's administrator could neither give a kind of events or a webhook to a school, nor take it away.
	district := signIn(s.AdminUUID)
	north := fmt.Sprint(schools["north"])
	for path, named := range map[string]url.Values{
		"/look-after/kinds/new":    {"is.name": {"Assembly"}},
		"/look-after/webhooks/new": {"is.url": {"https://hooks.school.example/n"}, "is.event.deleted": {"true"}},
	} {
		district.open(path, http.StatusOK, ">North</option>", ">South</option>")
		named.Set("school", north)
		named.Set("token", district.token)
		if code, _, page := district.do(http.MethodPost, path, named); code >= http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, code, page)
		}
	}
	valuetest.Has(t, admin.Get(t, "/api/admin/webhooks").Body, `"school_id":`+north)
	kind := regexp.MustCompile(`href="(/look-after/kinds/\d+)">Assembly`).
		FindStringSubmatch(district.open("/look-after/kinds", http.StatusOK))[1]
	district.open(kind, http.StatusOK, `value="`+north+`" selected`)
	form := url.Values{"is.name": {"Assembly"}, "was.name": {"Assembly"}, "school": {south}, "was.school": {north}}
	district.send(kind, form, http.StatusOK, "Saved", `value="`+south+`" selected`)
	form = url.Values{"was.name": {"Assembly"}, "school": {""}, "was.school": {south}}
	district.send(kind, form, http.StatusUnprocessableEntity, `name="was.school" value="`+south+`"`)
	form.Set("is.name", "Assembly")
	page = district.open(district.send(kind, form, http.StatusOK, "Saved"), http.StatusOK)
	valuetest.Lacks(t, page, " selected", "the kind of no school")
	history := strings.Replace(kind, "/look-after/kinds/", "/look-after/history?record=EventCategory:", 1)
	district.open(history, http.StatusOK, "<dt>School</dt><dd><del>North</del> <ins>South</ins></dd>")

	// The lists were 400 once the only school was retired.
	admin.Delete(t, fmt.Sprintf("/api/admin/elements/%d", schools["north"])).Must(t, http.StatusOK)
	for _, search := range []string{"", "?q=bell", "?old=1"} {
		head.open("/look-after/list/Staff"+search, http.StatusOK, "Nothing matches")
	}
	head.open("/look-after/users", http.StatusOK)
	valuetest.Lacks(t, of.open("/look-after/new/Location", http.StatusOK, "South"), "North", "the choice of schools")
}
