package mongostore_test

import (
	"context"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestWriterQueues_OneWriterOfADocumentAtATime(t *testing.T) {
	queues := mongostore.NewWriterQueues()
	count := 0 // guarded by nothing else: the race detector checks it
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			done, err := queues.Wait(t.Context(), 7)
			if err != nil {
				t.Error(err)
				return
			}
			defer done()
			count++
		})
	}
	wg.Wait()
	valuetest.Same(t, count, 100, "wrote")
}

func TestWriterQueues_WaitEndsWithTheContextAndOtherDocumentsAreFree(t *testing.T) {
	queues := mongostore.NewWriterQueues()
	done, err := queues.Wait(t.Context(), 7)
	errortest.None(t, err)
	other, err := queues.Wait(t.Context(), 8)
	errortest.None(t, err)
	other()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	errortest.Is(t, errortest.Of(queues.Wait(ended, 7)), context.Canceled, "want the context's end")
	done()
	done, err = queues.Wait(t.Context(), 7)
	errortest.None(t, err)
	done()
}
