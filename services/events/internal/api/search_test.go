package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// found is the part of a search's answer that tests use.
type found struct {
	Events []struct {
		ID   int64
		Body string
	}
	Next *string
}

// bodies returns the titles that a search finds, over all its pages, in their order.
func bodies(t *testing.T, c *servicetest.Client, query string) []string {
	t.Helper()
	var titles []string
	for after := ""; ; {
		var page found
		if err := json.Unmarshal([]byte(c.Get(t, "/api/events?"+query+after).Must(t, 200).Body), &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			titles = append(titles, e.Body)
		}
		if page.Next == nil {
			return titles
		}
		after = "&after=" + *page.Next
	}
}

func TestClients_SearchFindsEventsByAllThatIsAsked(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	admin := system(t).Admin(t)
	pupil := admin.Import(t, "pupils", map[string]any{"key": "found", "forename": "Ann", "surname": "Lost"})["found"]
	groups := admin.Import(t, "groups", map[string]any{"key": "found", "name": "Found"},
		map[string]any{"key": "around", "name": "Around"})
	member := func(member, group, first, last string) map[string]any {
		return map[string]any{"key": "Group:" + group + "/" + member, "group": group, "member": member,
			"spans": []map[string]any{{"first_day": first, "last_day": last}}}
	}
	admin.Import(t, "memberships", member("Pupil:found", "found", "2031-05-06", "2031-05-31"),
		member("Group:found", "around", "2031-01-01", "2031-12-31"))
	mark := strings.ReplaceAll(uuid.NewString(), "-", "")
	make := func(body, starts, ends string, category int64, elements ...int64) int64 {
		return owner.Post(t, "/api/events", map[string]any{"elements": elements, "event": map[string]any{
			"body": body, "event_category_id": category, "starts_at_text": starts, "ends_at_text": ends,
		}}).Must(t, 200).Int(t, "event.id")
	}
	theatre := make("Théâtre "+mark, "2031-05-06 09:00", "2031-05-06 10:00", s.lesson, s.teacher)
	make("Maths "+mark, "2031-05-06 09:00", "2031-05-06 09:30", s.trip, groups["around"])
	make("Away "+mark, "2031-05-04", "2031-05-08", s.trip, s.calendar, groups["found"])
	make("Maths "+strings.ToUpper(mark), "2031-06-01 09:00", "2031-06-01 10:00", s.lesson, groups["found"])

	T, M, A, L := "Théâtre "+mark, "Maths "+mark, "Away "+mark, "Maths "+strings.ToUpper(mark)
	text := "text=" + mark
	for query, want := range map[string][]string{
		text:                                                   {A, M, T, L},
		"text=" + strings.ToUpper(mark):                        {A, M, T, L},
		text + "&limit=1":                                      {A, M, T, L},
		"text=theatre+" + mark:                                 {T},
		"text=TH%C3%89atre+" + mark[:20]:                       {T},
		"text=++" + mark + "+":                                 {A, M, T, L},
		"text=" + mark + "%25":                                 nil, // no character is a wildcard
		text + "&start_date=2031-05-06":                        {A, M, T, L},
		text + "&start_date=2031-05-07":                        {A, L},
		text + "&end_date=2031-05-05":                          {A},
		text + "&start_date=2031-05-06&end_date=2031-05-06":    {A, M, T},
		text + "&start_date=2200-01-01":                        nil,
		text + fmt.Sprintf("&category=%d", s.trip):             {A, M},
		text + fmt.Sprintf("&owner=%d", s.users["owner"]):      {A, M, T, L},
		text + "&owner=999999999":                              nil,
		text + fmt.Sprintf("&element=%d", s.teacher):           {T},
		text + fmt.Sprintf("&element=%d", pupil):               {A, M}, // on the days on which it is in a group
		fmt.Sprintf("element=%d&start_date=2031-05-07", pupil): {A},
		text + "&status=requested":                             {A}, // of a controlled calendar
		text + "&status=uncontrolled":                          {A, M, T, L},
		text + "&status=confirmed":                             nil,
	} {
		if got := bodies(t, owner, query); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	// A change and a deletion are found at once.
	owner.Patch(t, path("/api/events/%d", theatre), `{"event":{"body":"Ballet `+mark+`"}}`).Must(t, 200)
	if got := bodies(t, owner, "text=BALLET+"+mark); len(got) != 1 {
		t.Errorf("by its new title: %q", got)
	}
	if got := bodies(t, owner, "text=theatre+"+mark); got != nil {
		t.Errorf("by its old title: %q", got)
	}
	owner.Delete(t, path("/api/events/%d", theatre)).Must(t, 200)
	if got := bodies(t, owner, "text=BALLET+"+mark); got != nil {
		t.Errorf("deleted: %q", got)
	}
}

func TestClients_SearchRefusesWhatMeansNothing(t *testing.T) {
	s := loadSchool(t)
	owner := s.as(t, "owner")
	for query, message := range map[string]string{
		"":                                  "one of text, element, start_date and end_date is needed",
		"category=1&owner=1&status=noted":   "one of text, element, start_date and end_date is needed",
		"text=":                             "one of text, element, start_date and end_date is needed",
		"text=+++":                          "text is nothing but spaces",
		"text=ab":                           "text has fewer than 3 characters",
		"text=e%CC%81e%CC%81":               "text has fewer than 3 characters", // accents are none
		"text=%25%25%25":                    "text has no letter and no digit",
		"text=...*":                         "text has no letter and no digit",
		"text=" + strings.Repeat("a", 4096): "text has more than 200 characters",
		"text=%FF%FE%FD":                    "text is not UTF-8",
		"element=x":                         "element is not an id",
		"element=0":                         "element is not an id",
		"text=abc&owner=-1":                 "owner is not an id",
		"text=abc&category=1.5":             "category is not an id",
		"text=abc&status=maybe":             "status is none of a commitment",
		"start_date=tomorrow":               "start_date is not a date (YYYY-MM-DD)",
		"end_date=2026-02-30":               "end_date is not a date (YYYY-MM-DD)",
		"start_date=2026-03-02&end_date=2026-03-01": "end_date is before start_date",
		"text=abc&limit=201":                        "limit is no number from 1 to 200",
		"text=abc&limit=0":                          "limit is no number from 1 to 200",
		"text=abc&after=1":                          "invalid cursor",
		"text=abc&after=1.2.3.4":                    "invalid cursor",
		"text=abc&after=AAAA":                       "invalid cursor",
	} {
		a := owner.Get(t, "/api/events?"+query)
		if got := a.Text(t, "message"); a.Code != 400 || got != message {
			t.Errorf("%.60s: %d %q, want %q", query, a.Code, got, message)
		}
	}
	if a := owner.Get(t, "/api/events?element=999999999"); a.Code != 404 ||
		a.Text(t, "exception") != "RecordNotFound" {
		t.Errorf("an element that is none: %d %s", a.Code, a.Body)
	}
	if a := system(t).Client(t).Get(t, "/api/events?text=abc"); a.Code != 401 {
		t.Errorf("without a session: %d", a.Code)
	}
}
