package api_test

import (
	"slices"
	"testing"
)

const notFound = `{"status":"Not found","elements":[]}`

func TestDecisionsPart3_OneTwoAndMoreLettersAreEnough(t *testing.T) {
	s := newSchool(t)
	s.add(t, "subjects", "1", fields{"name": "☀☁"})
	for _, part := range []string{"☀", "☀☁", " ☀☁", s.mark + " ☀☁"} {
		if got := s.names(t, "namelike", part); !slices.Contains(got, s.mark+" ☀☁") {
			t.Errorf("%q: %q", part, got)
		}
	}
}
