package mongostore_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/mongostore"
)

func TestTurns_OneWriterOfADocumentAtATime(t *testing.T) {
	turns := mongostore.NewWriterQueues()
	count := 0 // guarded by nothing else: the race detector would tell
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			done, err := turns.Take(t.Context(), 7)
			if err != nil {
				t.Error(err)
				return
			}
			defer done()
			count++
		})
	}
	wg.Wait()
	if count != 100 {
		t.Errorf("%d of 100 took their turn", count)
	}
}

func TestTurns_WaitEndsWithTheContextAndOtherDocumentsAreFree(t *testing.T) {
	turns := mongostore.NewWriterQueues()
	done, err := turns.Take(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	other, err := turns.Take(t.Context(), 8)
	if err != nil {
		t.Fatal(err)
	}
	other()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := turns.Take(ended, 7); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's end", err)
	}
	done()
	if done, err = turns.Take(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	done()
}
