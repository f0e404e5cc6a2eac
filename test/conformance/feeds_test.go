package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// newFeed makes a feed and returns its id and its address.
func newFeed(t *testing.T, c *servicetest.Client, e Element) (id int64, address string) {
	t.Helper()
	a := c.Post(t, elementPath(e)+"/feeds", nil).Must(t, http.StatusCreated)
	return a.Int(t, "feed.id"), a.Text(t, "feed.path")
}

func TestDecisionsPart3_AFeedEndsWithItsUser(t *testing.T) {
	proves(t, "decisions 3 feeds end: a feed ends when its user is deactivated or its uuid renewed")
	room := school.Location(t)
	public := school.Client()
	for what, end := range map[string]func(User){
		"deactivated": func(u User) {
			school.change(t, u, object{"active": false})
			school.change(t, u, object{"active": true})
		},
		"another uuid": func(u User) {
			school.Admin().Post(t, userPath(u)+"/uuid", nil).Must(t, http.StatusCreated)
		},
	} {
		u := school.User(t)
		_, address := newFeed(t, school.Login(t, u), room)
		public.Get(t, address).WantCode(t, http.StatusOK)
		end(u)
		equal(t, "the code after "+what, public.Get(t, address).Code, http.StatusNotFound)
	}
}

func TestDecisionsPart3_EachChangeOfAFeedIsInTheAudit(t *testing.T) {
	proves(t, "decisions 3 feeds audit: making, renewing and ending a feed is in the audit, without its address")
	room, u := school.Location(t), school.User(t)
	c, public := school.Login(t, u), school.Client()
	id, first := newFeed(t, c, room)
	second := c.Post(t, fmt.Sprintf("%s/feeds/%d/address", elementPath(room), id), nil).Must(t, http.StatusOK).
		Text(t, "feed.path")
	equal(t, "the code of the address before", public.Get(t, first).Code, http.StatusNotFound)
	public.Get(t, second).WantCode(t, http.StatusOK)
	c.Delete(t, fmt.Sprintf("%s/feeds/%d", elementPath(room), id)).Must(t, http.StatusOK)
	equal(t, "the code after the end", public.Get(t, second).Code, http.StatusNotFound)
	c.Delete(t, fmt.Sprintf("%s/feeds/%d", elementPath(room), id)).WantCode(t, http.StatusNotFound) // has no entry
	record, both := fmt.Sprintf("Feed:%d", id), fmt.Sprintf("record=Element:%d&user=%d", room.ID, u.ID)
	want := []string{fmt.Sprintf("delete %s: user %d →, element %d →", record, u.ID, room.ID),
		fmt.Sprintf("update %s: address →", record),
		fmt.Sprintf("create %s: user → %d, element → %d, address →", record, u.ID, room.ID)}
	valuetest.List(t, school.Admin().AuditTexts(t, "elements", "record="+record), want, "entries of the feed")
	valuetest.List(t, school.Admin().AuditTexts(t, "elements", both), want, "entries of the element, by the user")
	all := school.Admin().Get(t, fmt.Sprintf("/api/admin/audit/elements?record=Feed:%d", id)).Body
	for _, address := range []string{first, second} {
		token := strings.TrimSuffix(strings.TrimPrefix(address, "/ical/"), ".ics")
		equal(t, "the audit has the address", strings.Contains(all, token), false)
	}
}
