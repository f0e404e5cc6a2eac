package api_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/session"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// changeStream is an open stream of changes.
type changeStream struct {
	*servicetest.Stream
	last string // the id of the last event
	told []told // what came with it and was not asked for yet
}

type told struct {
	Kind, Change string
	ID           int64
}

func openStream(t *testing.T, c *servicetest.Client, query string, headers ...string) *changeStream {
	t.Helper()
	s := &changeStream{Stream: c.Stream(t, "/api/changes/stream"+query, headers...)}
	if first := s.next(t); len(first) > 0 {
		t.Errorf("it begins with %v", first)
	}
	return s
}

// next returns the changes of the next event that has data.
func (s *changeStream) next(t *testing.T) []told {
	t.Helper()
	for {
		e, open := s.Next()
		valuetest.MustHold(t, open, "the stream has ended")
		if e.ID != "" {
			s.last = e.ID
		}
		if e.Data == "" {
			continue
		}
		var got struct {
			Changes []told
			Next    string
		}
		if err := json.Unmarshal([]byte(e.Data), &got); err != nil || got.Next != e.ID {
			t.Fatalf("%v: %+v", err, e)
		}
		return got.Changes
	}
}

// until reads changes up to that of an event. What came with it is read by the next call.
func (s *changeStream) until(t *testing.T, id int64, what string) {
	t.Helper()
	for {
		for len(s.told) == 0 {
			s.told = s.next(t)
		}
		c := s.told[0]
		s.told = s.told[1:]
		if c.Kind == "Event" && c.ID == id && c.Change == what {
			return
		}
	}
}

// Writes through one replica appear in the streams of the other, including one that begins where another ended.
func TestClients_StreamTellsWhatChanges(t *testing.T) {
	school := loadSchool(t)
	c := school.as(t, "owner")
	other := c.At(system(t).Replica("events", 1))
	first := openStream(t, c.At(system(t).Replica("events", 0)), "")
	id := book(t, other, school.fields(), school.room).Event.ID
	first.until(t, id, "created")
	lost := first.last
	first.Close()
	other.Delete(t, path("/api/events/%d", id)).Must(t, 200)
	openStream(t, other, "", "Last-Event-ID", lost).until(t, id, "deleted")
}

// A stream says at least every ten seconds that it is there, and how far it has come.
func TestClients_StreamHasHeartbeats(t *testing.T) {
	s := openStream(t, loadSchool(t).as(t, "driver"), "")
	for {
		e, open := s.Next()
		valuetest.MustHold(t, open, "it has ended")
		if e.Data == "" { // others may have changed something before
			return
		}
	}
}

// One user has at most five streams at a replica; what they leave is another's.
func TestClients_StreamsOfOneUserAreBounded(t *testing.T) {
	c := loadSchool(t).as(t, "editor").At(system(t).Replica("events", 0))
	for range 5 {
		openStream(t, c, "")
	}
	refused := c.Get(t, "/api/changes/stream")
	if refused.Code != 429 || refused.Header.Get("Retry-After") == "" {
		t.Errorf("a sixth: %d %v", refused.Code, refused.Header)
	}
	openStream(t, loadSchool(t).as(t, "organiser").At(system(t).Replica("events", 0)), "")
}

// When a process stops, its streams end at once, and what happens until it is there again comes to those who go on
// from where they ended.
func TestClients_StreamsOutliveTheirProcess(t *testing.T) {
	admin := system(t).Admin(t)
	streams := []*changeStream{
		openStream(t, admin.At(system(t).Replica("events", 0)), ""),
		openStream(t, admin.At(system(t).Replica("events", 1)), ""),
	}
	system(t).Stop(t, "events")
	for _, s := range streams {
		for open := true; open; {
			_, open = s.Next()
		}
	}
	room := admin.Import(t, "locations", map[string]any{"key": "meanwhile", "name": "Room Meanwhile"})["meanwhile"]
	system(t).Restart(t, "events")
	again := openStream(t, admin, "", "Last-Event-ID", streams[0].last)
	for {
		for _, change := range again.next(t) {
			if change == (told{Kind: "Element", ID: room, Change: "created"}) {
				return
			}
		}
	}
}

// A stream ends within the time of a heartbeat when its user may no longer follow, whatever the reason. The streams of
// others continue.
func TestClients_StreamEndsWhenItsUserMayFollowNoLonger(t *testing.T) {
	admin := system(t).Admin(t)
	beside := openStream(t, admin, "")
	patch := func(field string, value any) func(*testing.T, int64, *servicetest.Client) {
		return func(t *testing.T, user int64, _ *servicetest.Client) {
			t.Helper()
			change := map[string]any{"user": map[string]any{field: value}}
			admin.Patch(t, path("/api/admin/users/%d", user), change).Must(t, 200)
		}
	}
	ways := map[string]func(*testing.T, int64, *servicetest.Client){
		"logout": func(t *testing.T, _ int64, c *servicetest.Client) { c.Get(t, "/api/logout").Must(t, 200) },
		"expiry": func(t *testing.T, _ int64, c *servicetest.Client) { expire(t, c) },
		"sessions ended": func(t *testing.T, user int64, _ *servicetest.Client) {
			admin.Delete(t, path("/api/admin/users/%d/sessions", user)).Must(t, 200)
		},
		"uuid renewed": func(t *testing.T, user int64, _ *servicetest.Client) {
			admin.Post(t, path("/api/admin/users/%d/uuid", user), nil).Must(t, 201)
		},
		"deactivated": func(t *testing.T, user int64, _ *servicetest.Client) {
			admin.Delete(t, path("/api/admin/users/%d", user)).Must(t, 200)
		},
		"made a pupil":    patch("kind", "pupil"),
		"may not use API": patch("permissions", map[string]any{"can_api": false}),
	}
	t.Run("by", func(t *testing.T) {
		for name, end := range ways {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := enter(t)
				user, s := whoIs(t, c), openStream(t, c, "")
				end(t, user, c)
				later := things(t, 1)[0]
				for {
					e, open := s.Next()
					if !open {
						break
					}
					valuetest.Lacks(t, e.Data, fmt.Sprintf(`"id":%d,`, later), "it was told afterwards")
				}
			})
		}
	})
	id := book(t, admin, loadSchool(t).fields()).Event.ID
	beside.until(t, id, "created")
}

// TestTokens_AStreamEndsWithItsToken, and the audit of an event names the token by which it was made.
func TestTokens_AStreamEndsWithItsToken(t *testing.T) {
	t.Parallel() // its stream ends within the time of a heartbeat
	user, program := enter(t, "can_add_events", true), system(t).Client(t)
	made := user.Post(t, "/api/me/tokens", map[string]any{"token": map[string]any{"name": "Una's program",
		"scope": "book"}}).Must(t, 201)
	by := []string{"Authorization", "Bearer " + made.Text(t, "token.token")}
	s := openStream(t, program, "", by...)
	id := program.Do(t, "POST", "/api/events", map[string]any{"event": loadSchool(t).fields()}, by...).Must(t, 200).
		Int(t, "event.id")
	s.until(t, id, "created")
	for _, line := range system(t).Admin(t).Audit(t, "events", fmt.Sprintf("record=Event:%d", id)) {
		if line.Token == nil || line.Token.Name != "Una's program" {
			t.Errorf("the audit names no token: %+v", line)
		}
	}
	user.Delete(t, path("/api/me/tokens/%d", made.Int(t, "token.id"))).Must(t, 200)
	for open := true; open; {
		_, open = s.Next()
	}
}

// expire lets a session reach its age.
func expire(t *testing.T, c *servicetest.Client) {
	t.Helper()
	token, ok := session.ParseToken(c.SessionCookie().Value)
	valuetest.MustHold(t, ok, "the cookie is no session")
	key := system(t).Prefix + "session:" + token.Hash()
	if n, err := system(t).Redis.Exists(t.Context(), key).Result(); n != 1 || err != nil {
		t.Fatalf("the session is not there: %d, %v", n, err)
	}
	errortest.None(t, system(t).Redis.HSet(t.Context(), key, "until", time.Now().UnixMilli()-1).Err())
}
