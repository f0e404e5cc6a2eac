package proxies

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// TestClients_StreamsThroughProxies reads a stream of changes through each proxy, and directly: what happens comes at
// once, for no proxy fills a buffer with it first, silence does not end it, and a client that goes frees its place.
func TestClients_StreamsThroughProxies(t *testing.T) {
	admin := system.Admin(t)
	belfry := strings.TrimPrefix(system.Replica("events", 0), "http://")
	t.Run("through", func(t *testing.T) {
		for _, p := range proxies {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				s := admin.At("http://"+p.start(t, belfry)).Stream(t, "/api/changes/stream")
				first := next(t, s)
				if first.ID == "" || first.Data == "" {
					t.Errorf("it begins with %+v", first)
				}
				key := uuid.NewString()
				told(t, s, admin.Import(t, "locations", map[string]any{"key": key, "name": key})[key])
				for next(t, s).Data != "" { // others may change something before the heartbeat
				}
				key = uuid.NewString()
				told(t, s, admin.Import(t, "locations", map[string]any{"key": key, "name": key})[key])
			})
		}
	})
	open := regexp.MustCompile(`(?m)^belfry_streams_open\S* 0$`)
	for end := time.Now().Add(2 * time.Minute); !open.MatchString(system.Metrics(t, "events", 0)); {
		if time.Now().After(end) {
			t.Fatal("streams are still open whose clients have gone")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func next(t *testing.T, s *servicetest.Stream) servicetest.Event {
	t.Helper()
	e, open := s.Next()
	if !open {
		t.Fatal("the stream has ended")
	}
	return e
}

// told reads up to the creation of an element.
func told(t *testing.T, s *servicetest.Stream, id int64) {
	t.Helper()
	for {
		e := next(t, s)
		if e.Data == "" {
			continue
		}
		var got struct {
			Changes []struct {
				Kind, Change string
				ID           int64
			}
		}
		errortest.None(t, json.Unmarshal([]byte(e.Data), &got), "%+v", e)
		for _, c := range got.Changes {
			if c.Kind == "Element" && c.ID == id && c.Change == "created" {
				return
			}
		}
	}
}
