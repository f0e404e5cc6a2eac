package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestParent_IsGivenPupilsAndSeesTheirDay: an administrator gives an account two pupils by searching for them; the
// parent finds both side by side, and after one is taken away the week of the other.
func TestParent_IsGivenPupilsAndSeesTheirDay(t *testing.T) {
	b, word := administrator(t)
	admin := shared.Get(t).Admin(t)
	pupils := admin.Import(t, "pupils", map[string]any{"key": word + "1", "forename": "Zoë", "surname": word},
		map[string]any{"key": word + "2", "forename": "Max", "surname": word})
	zoe, max := pupils[word+"1"], pupils[word+"2"]
	key := uuid.NewString()
	id := admin.Import(t, "users", map[string]any{"key": word, "name": "Ann " + word,
		"email": word + "@home.example", "kind": "guest", "uuid": key, "can_api": true,
		"stands_for": []string{word + "1"}})[word]
	at := fmt.Sprintf("/look-after/users/%d", id)

	parent := visitor(t)
	parent.send("/sign-in", url.Values{"uuid": {key}}, 200, "may not see this timetable")
	b.open("/look-after/users/new", 200, "Pupil or parent")
	b.open(at, 200, `"fault">A guest sees no pupils`)
	b.send(at, url.Values{"is.kind": {"pupil"}, "was.kind": {"guest"}, "is.active": {"true"}, "was.active": {"true"},
		"is.can_api": {"true"}, "was.can_api": {"true"}}, 200, "Saved")
	parent.open("/", 200, fmt.Sprintf(`href="/subscribe/%d"`, zoe))
	b.send(at+"/pupils", url.Values{"end": {fmt.Sprint(zoe)}}, 200)
	parent.open("/", 200, "belongs to no person")
	week := fmt.Sprintf("/week/%d", zoe)
	parent.open(week, 403)

	b.open(at, 200, "Stands for")
	b.open(at+"?find="+word+"x", 200, "Nothing found.")
	b.open(at+"?find="+word, 200, fmt.Sprintf(`name="who" value="%d"`, zoe), fmt.Sprintf(`name="who" value="%d"`, max))
	b.send(at+"/pupils", url.Values{"person": {fmt.Sprint(max)}}, 200, fmt.Sprintf(`href="/week/%d"`, max))
	parent.open("/", 200, fmt.Sprintf(`href="/subscribe/%d"`, max))
	b.send(at+"/pupils", url.Values{"end": {fmt.Sprint(max)}}, 200, "belongs to no person")
	b.send(at+"/pupils", url.Values{}, 400)
	b.send(at+"/pupils", url.Values{"who": {fmt.Sprint(id), "x"}}, 400)
	b.send(at+"/pupils", url.Values{"who": {fmt.Sprint(zoe), fmt.Sprint(max)}}, 200, "Saved",
		fmt.Sprintf(`href="/week/%d"`, zoe), fmt.Sprintf(`href="/week/%d"`, max))

	page := parent.open("/?date=2026-11-24", 200, "Zoë "+word, "Max "+word, `href="/?date=2026-11-25"`)
	valuetest.Lacks(t, page, "with=", "the parent's own page names the pupils in its addresses")
	// The next event was the first pupil's, though another has an earlier one.
	kind := admin.Import(t, "eventcategories", map[string]any{"key": word, "name": word})[word]
	book := func(title, day string, who ...int64) {
		admin.Post(t, "/api/events", map[string]any{"event": map[string]any{"body": title, "category": kind,
			"starts_at_text": day + " 09:00", "ends_at_text": day + " 10:00"}, "elements": who}).Must(t, 200)
	}
	book("Chess", "2026-12-03", zoe)
	parent.open("/?date=2026-11-24", 200, "Next: Zoë "+word+", <a", "Chess</a>")
	book("Soon", "2026-12-02", max)
	valuetest.Lacks(t, parent.open("/?date=2026-11-24", 200, "Next: Max "+word+", <a", "Soon</a>"), "Chess", "next")
	book("Both", "2026-12-01", zoe, max)
	parent.open("/?date=2026-11-24", 200, "Next: Zoë "+word+", <a", "Next: Max "+word+", <a", "Both</a>")
	parent.open(week+"?date=2026-11-24", 200, fmt.Sprintf(`href="/subscribe/%d"`, zoe))
	parent.open(fmt.Sprintf("/subscribe/%d", zoe), 200)
	parent.open(at, 403)
	parent.send(at+"/pupils", url.Values{"end": {fmt.Sprint(max)}}, 403)

	b.open(at, 200)
	b.send(at+"/pupils", url.Values{"end": {fmt.Sprint(max)}}, 200, "Saved")
	valuetest.Lacks(t, parent.open("/?date=2026-11-24", 200, "Zoë "+word, `href="/?date=2026-12-01"`), "Max "+word,
		"the pupil who was taken away is still shown")
	b.open(at, 200)
	b.send(at+"/pupils", url.Values{"end": {fmt.Sprint(zoe)}}, 200)
	if code, _, page := parent.do(http.MethodGet, "/", nil); code != 200 || !strings.Contains(page, "no person") {
		t.Errorf("without pupils: %d %s", code, page)
	}
}

// A guest was told to search for a person or a room, of which it finds none.
func TestHome_AGuestIsToldWhatItFinds(t *testing.T) {
	page := signedInAs(t, map[string]any{"kind": "guest"}).open("/", 200, "only what the school makes public")
	valuetest.Lacks(t, page, "Search for a person", "the page of a guest")
	signedInAs(t, nil).open("/", 200, "Search for a person")
}
