package notice_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
)

// TestHardToBreak_HostileInput_WebhooksHaveABoundWhoeverMakesThemAtOnce: 100,000 hostile requests left 101, which the
// interface's document does not know.
func TestHardToBreak_HostileInput_WebhooksHaveABoundWhoeverMakesThemAtOnce(t *testing.T) {
	db := storetest.Mongo(t)
	replicas := []*office{open(t, db, allowLocal), open(t, db, allowLocal)}
	const most, before, tried = 100, 95, 20
	for range before {
		errortest.None(t,
			errortest.Of(replicas[0].Store.InsertWebhook(t.Context(), notice.Webhook{URL: "http://127.0.0.1:9/",
				Kinds: event.NoticeKinds(), Secret: settings.NewSecret("s")})))
	}
	var made, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range tried {
		wg.Go(func() {
			url := "http://127.0.0.1:9/"
			_, err := replicas[i%len(replicas)].CreateWebhook(t.Context(), admin,
				notice.WebhookFields{URL: &url, Faults: problem.Fields{}})
			switch {
			case err == nil:
				made.Add(1)
			case problem.As(err).Kind == problem.Conflict:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := replicas[0].ListWebhooks(t.Context(), admin)
	if err != nil || len(all) != most || made.Load() != most-before || refused.Load() != tried-(most-before) {
		t.Errorf("%d made, %d refused, %d there, %v", made.Load(), refused.Load(), len(all), err)
	}
}
