package problem_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func TestDecisionsPart1_KindsHaveTheirCodesAndStatuses(t *testing.T) {
	want := map[problem.Kind]string{
		problem.Internal: "500 Internal server error", problem.Malformed: "400 Bad request",
		problem.AccessDenied: "401 Access denied", problem.Forbidden: "403 Forbidden",
		problem.NotFound: "404 Not found", problem.MethodNotAllowed: "405 Method not allowed",
		problem.Conflict: "409 Conflict", problem.PreconditionFailed: "412 Precondition failed",
		problem.TooLarge: "413 Payload too large", problem.UnsupportedMediaType: "415 Unsupported media type",
		problem.Invalid: "422 Unprocessable entity", problem.TooManyRequests: "429 Too many requests",
		problem.Unavailable: "503 Service unavailable",
	}
	for kind, text := range want {
		valuetest.Same(t, fmt.Sprintf("%d %s", kind.Code(), kind.Status()), text, "kind %d", kind)
		if back := problem.OfCode(kind.Code()); back != kind {
			t.Errorf("OfCode(%d) = %v, want %v", kind.Code(), back, kind)
		}
	}
}

func TestAs_FindsAWrappedProblemAndHidesForeignErrors(t *testing.T) {
	wrapped := fmt.Errorf("b: %w", fmt.Errorf("a: %w", problem.Missing("Event", 7)))
	if p := problem.As(wrapped); p.Kind != problem.NotFound || p.Detail() != "Couldn't find Event with 'id'=7" {
		t.Errorf("wrapped problem became %+v", p)
	}
	foreign := errors.New("dial mongodb://user:secret@host")
	p := problem.As(foreign)
	if p.Kind != problem.Internal || p.Detail() != "" {
		t.Errorf("a foreign error shows %q to clients", p.Detail())
	}
	errortest.Is(t, p, foreign, "the cause is lost to the log")
	valuetest.Holds(t, problem.As(nil) == nil && problem.InvalidFields(nil) == nil, "no error became a problem")
}
