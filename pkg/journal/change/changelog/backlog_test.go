package changelog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/belfry-schools/belfry/pkg/journal/change"
	"github.com/belfry-schools/belfry/pkg/journal/change/changelog"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// within reads as long as a request has that time, or more on a machine that needs it to read a page.
func within(t *testing.T, log *changelog.Log, limit time.Duration, from *change.Position) change.Part {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		part, err := log.Read(ctx, from, 1000)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			limit *= 2
			continue
		}
		errortest.None(t, err)
		return part
	}
}

// While nothing moves, readers get what is in the log, and that there is more.
func TestClients_ChangesInTheLogAreListedWhileOthersWait(t *testing.T) {
	s := open(t, 1, 0)
	log := s.logs[0]
	from := now(t, log)
	s.create(t, 1)
	middle := now(t, log)
	s.create(t, 2)
	release := log.Hold()
	part := within(t, log, time.Second, &from)
	valuetest.MustHold(t, len(part.Pages) == 1 && part.More && part.Waits, "%+v", part)
	if got := ids(part.Pages[0].Changes); !cmp.Equal(got, []string{"Event:1:1 created"}) {
		t.Error(got)
	}
	if part := within(t, log, time.Second, &middle); len(part.Pages) > 0 || !part.More || !part.Waits {
		t.Errorf("at the end of the log: %+v", part)
	}
	if part := within(t, log, time.Second, nil); !part.Waits {
		t.Errorf("now: %+v", part)
	}
	gone := change.Position{Page: middle.Page + 7}
	if part := within(t, log, time.Second, &gone); !part.Gone || part.Waits {
		t.Errorf("of a place that is not kept: %+v", part)
	}
	release()
	s.follow(t, &middle, "Event:2:1 created")
	if part := within(t, log, time.Minute, nil); part.Waits || part.Now != middle {
		t.Errorf("now: %+v, want %+v", part, middle)
	}
}

// An import has left more than is moved in the time of a request. Its changes come page by page, each once, and the
// end of the list comes after all of them.
func TestClients_ChangesOfALargeBacklogComeAsTheyAreMoved(t *testing.T) {
	const batches, each = 60, 500
	s := open(t, 1, 0)
	log := s.logs[0]
	from := now(t, log)
	release := log.Hold()
	for b := range int64(batches) {
		var together []thing
		for i := range int64(each) {
			together = append(together, thing{ID: 1 + b*each + i})
		}
		if refused, err := s.Insert(t.Context(), together); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
	}
	if part := within(t, log, time.Second, &from); !part.Waits || len(part.Pages) > 0 {
		t.Fatalf("nothing has moved, and it tells %+v", part)
	}
	release()
	seen, waits := map[string]bool{}, 0
	for {
		part := within(t, log, 500*time.Millisecond, &from)
		if part.Waits {
			waits++
		}
		for _, p := range part.Pages {
			for _, item := range p.Changes {
				valuetest.MustHold(t, !seen[item.ID], "%s is listed twice", item.ID)
				seen[item.ID] = true
			}
			from = p.After(len(p.Changes))
		}
		if !part.More {
			break
		}
	}
	for id := 1; id <= batches*each; id++ {
		if name := fmt.Sprintf("Event:%d:1", id); !seen[name] {
			t.Fatalf("%s was acknowledged before the list ended, and is not in it", name)
		}
	}
	t.Logf("%d changes, %d answers before all had moved", len(seen), waits)
}
