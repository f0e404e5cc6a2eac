package conformance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// change is one of GET /api/changes.
type change struct {
	Kind     string
	ID       int64
	Version  int64
	Change   string
	EventID  int64 `json:"event_id"`
	GroupID  int64 `json:"group_id"`
	MemberID int64 `json:"member_id"`
}

func (c change) String() string { return fmt.Sprint(c.Kind, " ", c.ID, " ", c.Change) }

var lesson = object{"starts_at": "2019-04-10 09:00", "ends_at": "2019-04-10 10:00"}

// since reads all changes after a token that are about the records, for others may be at work.
func since(t *testing.T, c *servicetest.Client, token string, about ...string) (found []string) {
	t.Helper()
	for {
		page := decode[struct {
			Changes []change
			Next    string
		}](t, c.Get(t, "/api/changes?limit=3&after="+url.QueryEscape(token)).Must(t, http.StatusOK))
		for _, listed := range page.Changes {
			for _, record := range about {
				if record == fmt.Sprint(listed.Kind, " ", listed.ID) {
					found = append(found, listed.String())
				}
			}
		}
		if page.Next == token {
			return found
		}
		token = page.Next
	}
}

func now(t *testing.T, c *servicetest.Client) string {
	t.Helper()
	a := c.Get(t, "/api/changes").Must(t, http.StatusOK)
	next := a.Text(t, "next")
	equal(t, "Link", a.Header.Get("Link"), `</api/changes?after=`+url.QueryEscape(next)+`>; rel="next"`)
	return next
}

func TestClients_ChangesAreListed(t *testing.T) {
	proves(t,
		"clients changes: GET /api/changes: what was created, changed and deleted after a token, by record in the "+
			"order of versions")
	c, staff := school.Booker(t), school.Staff(t)
	token := now(t, c)
	id := school.Event(t, c, lesson, staff).Int(t, "event.id")
	event := fmt.Sprint("Event ", id)
	c.Patch(t, eventPath(id), wrapped("event", "body", "Changed")).Must(t, http.StatusOK)
	group := school.Group(t, staff)
	middle := now(t, c)
	c.Delete(t, eventPath(id)).Must(t, http.StatusOK)
	made := fmt.Sprint("Element ", group.ID)
	equal(t, "all", since(t, c, token, event, made),
		[]string{event + " created", event + " changed", made + " created", event + " deleted"})
	equal(t, "from the middle", since(t, c, middle, event, made), []string{event + " deleted"})
	var memberships int
	for _, listed := range decode[struct{ Changes []change }](t,
		c.Get(t, "/api/changes?limit=1000&after="+token).Must(t, http.StatusOK)).Changes {
		if listed.Kind == "Membership" && listed.GroupID == group.ID && listed.MemberID == staff.ID {
			memberships++
		}
	}
	equal(t, "memberships", memberships, 1)
}

func TestClients_ChangesOfNotesAreForThoseWhoSeeThem(t *testing.T) {
	proves(t,
		"clients changes notes: changes of a note are listed for users who see it; for a user who no longer does, "+
			"it is deleted")
	owner := school.Booker(t)
	id := school.Event(t, owner, lesson).Int(t, "event.id")
	token := now(t, owner)
	n := owner.Post(t, eventPath(id)+"/notes", object{"note": object{
		"contents": "x", "visible_pupil": true,
	}}).Must(t, http.StatusOK).Int(t, "note.id")
	note := fmt.Sprint("Note ", n)
	show := func(field string, to bool) {
		owner.Patch(t, notePath(n), wrapped("note", field, to)).Must(t, http.StatusOK)
	}
	show("visible_staff", false)
	show("visible_pupil", false)
	show("visible_guest", true)
	show("visible_staff", true)
	equal(t, "its owner", since(t, owner, token, note),
		[]string{note + " created", note + " changed", note + " changed", note + " changed", note + " changed"})
	equal(t, "staff", since(t, school.Booker(t), token, note),
		[]string{note + " created", note + " deleted", note + " created"})
	for _, kind := range []string{"pupil", "guest"} {
		c := school.Login(t, school.UserWith(t, object{"kind": kind}, "can_api"))
		c.Get(t, "/api/changes").WantCode(t, http.StatusForbidden)
		c.Get(t, "/api/changes?after="+token).WantCode(t, http.StatusForbidden)
	}
}

// untilTold reads a stream up to a change of a record, and returns the id of the event that it came in.
func untilTold(t *testing.T, s *servicetest.Stream, want string) string {
	t.Helper()
	for {
		e, open := s.Next()
		if !open {
			t.Fatalf("the stream has ended before %s", want)
		}
		var event struct {
			Changes []change
			Next    string
		}
		if e.Data == "" {
			continue
		}
		if err := json.Unmarshal([]byte(e.Data), &event); err != nil || event.Next != e.ID {
			t.Fatalf("%v: %+v", err, e)
		}
		for _, listed := range event.Changes {
			if listed.String() == want {
				return e.ID
			}
		}
	}
}

func TestClients_ChangesAreStreamed(t *testing.T) {
	proves(t,
		"clients changes stream: GET /api/changes/stream: the same as server-sent events; the id of each is the "+
			"token to continue with")
	c := school.Booker(t)
	begun := c.Stream(t, "/api/changes/stream")
	first, _ := begun.Next()
	id := school.Event(t, c, lesson).Int(t, "event.id")
	event := fmt.Sprint("Event ", id)
	middle := untilTold(t, begun, event+" created")
	begun.Close()
	c.Delete(t, eventPath(id)).Must(t, http.StatusOK)
	untilTold(t, c.Stream(t, "/api/changes/stream", "Last-Event-ID", middle), event+" deleted")
	untilTold(t, c.Stream(t, "/api/changes/stream?after="+first.ID), event+" created")
	equal(t, "the list from its id", since(t, c, middle, event), []string{event + " deleted"})
	c.Get(t, "/api/changes/stream?after=x").WantCode(t, http.StatusBadRequest)
	c.Do(t, http.MethodGet, "/api/changes/stream", nil, "Last-Event-ID", middle[1:]).
		WantCode(t, http.StatusBadRequest)
}

func TestClients_ChangesThatAreRefused(t *testing.T) {
	proves(t, "clients changes refused: a token that is forged, cut, empty or given twice, and limit 0, -1, 1001: 400")
	c := school.Booker(t)
	token := now(t, c)
	forged := []byte(token)
	forged[3] ^= 1
	for _, query := range []string{
		"after=", "after=x", "after=" + token[1:], "after=" + token[:len(token)-1], "after=" + string(forged),
		"after=" + token + "&after=" + token, "after=" + token + "%00",
	} {
		a := c.Get(t, "/api/changes?"+query)
		if a.Code != http.StatusBadRequest || a.Text(t, "message") != "after is an invalid cursor" {
			t.Errorf("%s: %d %s", query, a.Code, a.Body)
		}
	}
	for _, limit := range []string{"0", "-1", "1001", "1000000000", "x"} {
		c.Get(t, "/api/changes?limit="+limit).WantCode(t, http.StatusBadRequest)
		c.Get(t, "/api/changes?after="+token+"&limit="+limit).WantCode(t, http.StatusBadRequest)
	}
}
