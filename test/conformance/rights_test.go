package conformance_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/test/rights"
)

// TestDecisionsPart8_EveryRouteAnswersEveryKindOfUserAsTheTableSays asks for every answer of the table of rights.
func TestDecisionsPart8_EveryRouteAnswersEveryKindOfUserAsTheTableSays(t *testing.T) {
	proves(t, "decisions 8 names", "decisions 8 kinds", "decisions 8 admin", "decisions 8 not implied",
		"administration admin: every path needs admin: 403 otherwise", "5 rule 5", "5 rule 8 rest", "5 rule 11",
		"decisions 2 live active", "decisions 4 edit rights: admin, edit_all_events, or the owner",
		"decisions 4 adding and deleting: adding elements, deleting the event or a commitment need edit rights on "+
			"the event",
		"decisions 4 administrator deletes: an element's administrators may delete its commitment or request",
		"decisions 4 403: 403 answers carry only the status",
		"decisions 5 others: anyone but the element's administrators: 403", "decisions 6 visible",
		"decisions 6 invisible", "decisions 6 owner only", "decisions 7 privileged list",
		"decisions 7 privileged detail: detail of a privileged one to others: 403",
		"4.3 rule 1: creating needs permission to add notes, on any event",
		"4.3 rule 3: only the owner updates and deletes", "decisions 1 HEAD: HEAD works wherever GET does",
		"decisions 3 feeds: a guest makes none, a pupil only of itself and of elements other than persons, staff of "+
			"any; no one while switched", "decisions 4 can_add_events: creating needs can_add_events",
		"decisions 6 both paths", "decisions 6 can_add_notes: creating needs can_add_notes, else 403",
		"decisions 1 403", "decisions 1 401")
	rows, err := rights.Table()
	errortest.None(t, err)
	if !school.options.Undocumented {
		document := school.Client().Get(t, "/api/openapi.json").Must(t, http.StatusOK)
		differences, err := rights.Differences(rows, []byte(document.Body))
		errortest.None(t, err)
		for _, d := range differences {
			t.Error(d)
		}
	}
	c := school.cast(t)
	calls, cells := c.calls(), 0
	for _, row := range rows {
		call, ok := calls[row.Name()]
		if !ok {
			t.Errorf("%s: no call is made for it", row.Name())
			continue
		}
		delete(calls, row.Name())
		for _, kind := range rights.Kinds() {
			c.ask(t, row, kind, call)
			cells++
		}
	}
	for name := range calls {
		t.Errorf("%s is called, but has no row", name)
	}
	t.Logf("%d rows, %d answers", len(rows), cells)
}

// saysWhatIsLacking are the routes of Belfry's own whose 403 may say why. Those of the contract have a bare status.
var saysWhatIsLacking = regexp.MustCompile(
	` /api/(admin/|changes|elements/[^/]+/feeds|events/[^/]+/(replace|elements/))`)

// scene is one call by one kind of user.
type scene struct {
	*cast
	t      *testing.T
	row    rights.Row
	who    *actor
	client *servicetest.Client
	event  booking // its own, or another's
	person *actor  // itself, or another
}

// ask makes a row's call as one kind of user and compares the answer. A refusal must say nothing and change nothing.
func (c *cast) ask(t *testing.T, row rights.Row, kind string, made call) {
	t.Helper()
	want, method := row.Answers[kind], row.Route[:strings.Index(row.Route, " ")]
	x := &scene{cast: c, t: t, row: row, who: c.actors[kind], person: c.stranger}
	own := strings.Contains(row.Case, "its own") || strings.HasPrefix(row.Case, "its")
	if own {
		x.person = x.who
	}
	x.event = x.person.event
	if made.uses && want.Code < 300 {
		x.event = c.book(t, x.person)
	}
	x.client = x.who.client
	if made.signsIn {
		x.client = c.session(t, x.who)
	}
	changes := method != http.MethodGet && want.Code >= 400
	var before string
	if changes {
		before = c.state(t, x.event)
	}
	a := made.make(x)
	name := fmt.Sprintf("%s, as %s", row.Name(), kind)
	if a.Code != want.Code {
		t.Errorf("%s\n  expected: %s\n  got:      %d %s", name, want, a.Code, a.Body)
		return
	}
	switch {
	case want.Code == http.StatusUnauthorized:
		equal(t, name, a.Body, accessDenied)
	case want.Code == http.StatusForbidden && saysWhatIsLacking.MatchString(row.Route):
		equal(t, name, a.Text(t, "status"), "Forbidden")
	case want.Code == http.StatusForbidden:
		equal(t, name, a.Body, forbidden)
	case want.Shows != "":
		equal(t, name+": the list shows it", shows(t, a, made.list, made.id(x)), want.Shows == "+")
	}
	if changes {
		equal(t, name+": the event after the refusal", c.state(t, x.event), before)
	}
	if method == http.MethodGet && !made.signsIn {
		path := strings.TrimPrefix(a.Request, "GET ")
		head := x.client.Do(t, http.MethodHead, path, nil)
		equal(t, name+", by HEAD", fmt.Sprint(head.Code, head.Header.Get("Content-Type"), head.Body),
			fmt.Sprint(a.Code, a.Header.Get("Content-Type")))
	}
}

// shows returns whether a list has a record with that id.
func shows(t *testing.T, a servicetest.Answer, list string, id any) bool {
	t.Helper()
	return slices.Contains(a.Texts(t, list+".#.id"), fmt.Sprint(id))
}

// state returns everything that is shown of an event and its notes.
func (c *cast) state(t *testing.T, b booking) string {
	t.Helper()
	admin := c.school.Admin()
	return admin.Get(t, eventPath(b.id)).Body + admin.Get(t, eventPath(b.id)+"/notes").Body
}
