package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// titlesFound returns the titles of all events that a search finds, in order, page by page.
func titlesFound(t *testing.T, c *servicetest.Client, query string) []string {
	t.Helper()
	var titles []string
	for after := ""; ; {
		page := decode[struct {
			Events []struct{ Body string }
			Next   *string
		}](t, c.Get(t, "/api/events?limit=2&"+query+after).Must(t, http.StatusOK))
		for _, e := range page.Events {
			titles = append(titles, e.Body)
		}
		if page.Next == nil {
			return titles
		}
		after = "&after=" + *page.Next
	}
}

func TestClients_SearchFindsWhatMeetsAllThatIsAsked(t *testing.T) {
	proves(t,
		"clients search: GET /api/events: events that meet every condition, in order of start, end and id, in pages "+
			"of at most limit",
		"clients search text: text: a part of the title, in any letter case, with or without accents; no wildcards",
		"clients search element: element: by its own commitments and by those of its groups on the days on which it "+
			"is in them", "clients search dates: dates: events that touch the days; a missing day is an open end")
	c, staff, pupil, set := school.Booker(t), school.Staff(t), school.Pupil(t), school.Group(t)
	school.Member(t, set, pupil, "2019-04-10", "2019-04-10")
	mark := school.Unique("x")
	make := func(body, starts, ends string, elements ...Element) string {
		fields := object{"body": body + mark, "starts_at_text": starts, "ends_at_text": ends}
		return eventPath(school.Event(t, c, fields, elements...).Int(t, "event.id"))
	}
	theatre := make("Théâtre ", "2019-04-10 09:00", "2019-04-10 10:00", staff)
	make("Away ", "2019-04-08 09:00", "2019-04-12 10:00", set)
	make("Maths ", "2019-04-10 09:00", "2019-04-10 09:30", set, school.Controlled(t))
	make("Later ", "2019-04-11 09:00", "2019-04-11 10:00", set)
	text := "text=" + url.QueryEscape(mark)
	for query, want := range map[string][]string{
		text: {"Away ", "Maths ", "Théâtre ", "Later "},
		"text=" + url.QueryEscape(strings.ToUpper("theatre "+mark)): {"Théâtre "},
		text + "%25": nil,
		text + fmt.Sprintf("&element=%d", pupil.ID):            {"Away ", "Maths "},
		fmt.Sprintf("element=%d", staff.ID):                    {"Théâtre "},
		text + "&start_date=2019-04-11":                        {"Away ", "Later "},
		text + "&end_date=2019-04-09":                          {"Away "},
		text + "&start_date=2019-04-10&end_date=2019-04-10":    {"Away ", "Maths ", "Théâtre "},
		text + fmt.Sprintf("&category=%d", school.Category.ID): {"Away ", "Maths ", "Théâtre ", "Later "},
		text + fmt.Sprintf("&owner=%d", whoAmI(t, c)):          {"Away ", "Maths ", "Théâtre ", "Later "},
		text + "&owner=999999999":                              nil,
		fmt.Sprintf("owner=%d", whoAmI(t, c)):                  {"Away ", "Maths ", "Théâtre ", "Later "},
		text + "&status=requested":                             {"Maths "},
		text + "&status=confirmed":                             nil,
	} {
		for i := range want {
			want[i] += mark
		}
		equal(t, query, strings.Join(titlesFound(t, c, query), ", "), strings.Join(want, ", "))
	}
	// A change and a deletion are found at once.
	renamed, old := "text="+url.QueryEscape("BALLET "+mark), "text="+url.QueryEscape("theatre "+mark)
	c.Patch(t, theatre, wrapped("event", "body", "Ballet "+mark)).Must(t, http.StatusOK)
	equal(t, "by the new title and by the old one",
		fmt.Sprint(len(titlesFound(t, c, renamed)), len(titlesFound(t, c, old))), "1 0")
	c.Delete(t, theatre).Must(t, http.StatusOK)
	equal(t, "by the title of a deleted event", len(titlesFound(t, c, renamed)), 0)
}

func TestClients_SearchRefusesWhatMeansNothing(t *testing.T) {
	proves(t,
		"clients search refused: no filter and no text; a text of fewer than 3 characters, of signs or above "+
			"200: 400")
	c := school.As(t)
	for _, query := range []string{
		"", "limit=5", "text=+++", "text=ab", "text=%25%25%25", "text=" + strings.Repeat("a", 4096),
		"text=abc&limit=1001", "text=abc&limit=0", "text=abc&after=x", "text=abc&after=AAAA", "start_date=10/4/2019",
		"end_date=2026-02-30", "start_date=2019-04-10&end_date=2019-04-09", "text=&category=&limit=3",
		"text=e%CC%81e%CC%81", "text=...*", "text=%FF%FE%FD", "element=x", "element=0", "text=abc&owner=-1",
		"text=abc&category=1.5", "text=abc&eventcategory_id=x", "text=abc&category=1&event_category_id=2",
		"text=abc&status=maybe",
	} {
		c.Get(t, "/api/events?"+query).WantCode(t, http.StatusBadRequest)
	}
	c.Get(t, "/api/events?element=4611686018427387903").WantCode(t, http.StatusNotFound)
}
