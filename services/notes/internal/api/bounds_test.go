package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

func TestHardToBreak_Row02_HostileNotesAreRefusedAndReadersGetTheOthers(t *testing.T) {
	s := newSchool(t)
	path := fmt.Sprintf("/api/events/%d/notes", s.event)
	const faults = `{"contents":["is too much: an event has at most 500 notes and 1 MiB of contents"]}`
	hostile := map[string]any{"note": map[string]any{"contents": strings.Repeat("<", 65536)}}
	answers := make([]servicetest.Answer, 40)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < len(answers); i += 8 {
				answers[i] = s.clients["author"].Post(t, path, hostile)
			}
		})
	}
	wg.Wait()
	codes := map[int]int{}
	for _, a := range answers {
		codes[a.Code]++
		if a.Code == 422 && (!strings.HasPrefix(a.Body, `{"status":"Unprocessable entity","note":{"id":null,`) ||
			!strings.HasSuffix(a.Body, `"valid":false,"errors":`+faults+`}}`)) {
			t.Errorf("%.100s…", a.Body)
		}
	}
	if codes[200] == 0 || codes[200]+codes[422] != len(answers) {
		t.Errorf("codes %v", codes)
	}
	// One after another: with the race detector several at once outlast the deadline of a request, since large answers
	// wait for each other. Many readers at once are the next test's, whose services run without it.
	for range 4 {
		a := s.clients["colleague"].Get(t, path)
		for try := 1; a.Code == 503 && try < 5; try++ { // one alone does on a machine that is busy enough
			a = s.clients["colleague"].Get(t, path)
		}
		if a.Code != 200 || len(a.Body) > 8<<20 || strings.Count(a.Body, `"formatted_contents"`) != codes[200] {
			t.Errorf("%d, %d bytes", a.Code, len(a.Body))
		}
	}
	listed := s.clients["author"].Get(t, path)
	t.Logf("%d of %d notes fit; their listing has %d bytes", codes[200], len(answers), len(listed.Body))
}
