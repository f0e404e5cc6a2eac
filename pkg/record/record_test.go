package record_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

func TestMissing_ConcernsErrNotFoundAlone(t *testing.T) {
	err := record.Missing(fmt.Errorf("get: %w", record.ErrNotFound), "Event", 7)
	if p := problem.As(err); p.Kind != problem.NotFound || p.Detail() != "Couldn't find Event with 'id'=7" {
		t.Errorf("%v", err)
	}
	away := errors.New("away")
	if got := record.Missing(away, "Event", 7); !errors.Is(got, away) || problem.Is(got, problem.NotFound) {
		t.Errorf("%v", got)
	}
	if record.Missing(nil, "Event", 7) != nil {
		t.Error("no error became one")
	}
}

func TestInvalid_NeedsAFault(t *testing.T) {
	errortest.Report(t, record.Invalid(1, problem.Fields{}))
	err := fmt.Errorf("create: %w", record.Invalid(1, problem.Fields{"name": {problem.Blank}}))
	invalid, ok := errors.AsType[*record.InvalidError[int]](err)
	if !ok || invalid.Record != 1 || invalid.Faults["name"][0] != "can't be blank" {
		t.Errorf("%v", err)
	}
}
