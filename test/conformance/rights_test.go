package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/test/rights"
)

// TestDecisionsPart8_EveryRouteAnswersEveryKindOfUserAsTheTableSays asks for every answer of the table of rights.
func TestDecisionsPart8_EveryRouteAnswersEveryKindOfUserAsTheTableSays(t *testing.T) {
	proves(t, "decisions 8 names", "decisions 8 kinds", "decisions 8 admin", "decisions 8 not implied",
		"administration admin", "5 rule 5", "5 rule 8 rest", "5 rule 11", "decisions 2 live active",
		"decisions 4 edit rights", "decisions 4 adding and deleting", "decisions 4 administrator deletes",
		"decisions 4 403", "decisions 5 others", "decisions 6 visible", "decisions 6 invisible",
		"decisions 6 owner only", "decisions 7 privileged list", "decisions 7 privileged detail")
	rows, err := rights.Table()
	if err != nil {
		t.Fatal(err)
	}
	if !school.options.Undocumented {
		document := school.Client().Get(t, "/api/openapi.json").Must(t, http.StatusOK)
		differences, err := rights.Differences(rows, []byte(document.Body))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range differences {
			t.Error(d)
		}
	}
	c := school.cast(t)
	calls, cells := c.calls(), 0
	for _, row := range rows {
		call, ok := calls[row.Name()]
		if !ok {
			t.Errorf("%s: nobody makes that call", row.Name())
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

// call is how a row of the table is asked for.
type call struct {
	do func(x *scene) servicetest.Answer
	// listed returns the list and the id that the answer may show, where the row has + or -.
	listed func(x *scene) (list string, id int64)
	// uses says that the call can succeed once only for an event.
	uses bool
	// signsIn says that the call needs a session of its own, as it ends or changes it.
	signsIn bool
}

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
	a := made.do(x)
	name := fmt.Sprintf("%s, as %s", row.Name(), kind)
	if a.Code != want.Code {
		t.Errorf("%s\n  expected: %s\n  got:      %d %s", name, want, a.Code, a.Body)
		return
	}
	switch {
	case want.Code == http.StatusUnauthorized:
		equal(t, name, a.Body, accessDenied)
	case want.Code == http.StatusForbidden:
		equal(t, name, a.Body, forbidden)
	case want.Shows != "":
		list, id := made.listed(x)
		equal(t, name+": the list shows it", shows(t, a, list, id), want.Shows == "+")
	}
	if changes {
		equal(t, name+": the event after the refusal", c.state(t, x.event), before)
	}
	if method == http.MethodGet && !made.signsIn {
		path := strings.TrimPrefix(a.Request, "GET ")
		equal(t, name+", by HEAD", x.client.Do(t, http.MethodHead, path, nil).Code, want.Code)
	}
}

// shows returns whether a list has a record with that id.
func shows(t *testing.T, a servicetest.Answer, list string, id int64) bool {
	t.Helper()
	for i := range a.Len(t, list) {
		if a.Int(t, fmt.Sprintf("%s.%d.id", list, i)) == id {
			return true
		}
	}
	return false
}

// state returns all that there is to see of an event and its notes.
func (c *cast) state(t *testing.T, b booking) string {
	t.Helper()
	admin := c.school.Admin()
	return admin.Get(t, eventPath(b.id)).Body + admin.Get(t, eventPath(b.id)+"/notes").Body
}
