package neighbour

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"slices"
	"testing"
	"testing/quick"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// Answers are written by encoding/json and read by a faster library, which must read what was written, and refuse what
// was cut short.
func TestAnswersAreReadAsEncodingJSONReadsThem(t *testing.T) {
	checkRead(t, Commitments, commitments(anyAnswers(t, Summaries))...)
	checkRead(t, Requests, anyAnswers(t, Requests)...)
	checkRead(t, Summaries, anyAnswers(t, Summaries)...)
	checkRead(t, Living, anyAnswers(t, Living)...)
	checkRead(t, ElementFacts, anyAnswers(t, ElementFacts)...)
	checkRead(t, Reaches, anyAnswers(t, Reaches)...)
	checkRead(t, UserFacts, anyAnswers(t, UserFacts)...)
	checkRead(t, NotesOfEvent, anyAnswers(t, NotesOfEvent)...)
	at := time.Date(2199, time.December, 31, 23, 59, 59, 999_000_000, time.UTC)
	checkRead(t, Busy, nil, []fact.Busy{}, []fact.Busy{{ElementID: 1, Starts: at, Ends: at.Add(time.Hour)}, {}})
	checkRead(t, Calendar, []fact.CalendarEvent{
		{ID: 1, Version: 2, Modified: at, Starts: at, Body: "<é\u2028\x00\"", Firm: []int64{3}},
	})
}

// commitments returns answers with commitments to the events.
func commitments(answers [][]fact.Event) [][]fact.Commitment {
	all := make([][]fact.Commitment, len(answers))
	for i, events := range answers {
		for j := range events {
			all[i] = append(all[i], fact.Commitment{
				ID: int64(j), Status: events[j].Body, ElementID: 7, Event: form.AppendEvent(nil, &events[j].Event),
				Involved: []int64{int64(i)}, Decision: &form.Decision{Reason: &events[j].Key},
			})
		}
	}
	return all
}

// anyAnswers returns random answers of a question, each run others.
func anyAnswers[Q, A any](t *testing.T, _ Question[Q, A]) []A {
	t.Helper()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewSource(seed))
	answers := make([]A, 50)
	for i := range answers {
		value, ok := quick.Value(reflect.TypeFor[A](), dice)
		if !ok {
			t.Fatalf("no value of %v", reflect.TypeFor[A]())
		}
		reflect.ValueOf(&answers[i]).Elem().Set(value)
	}
	return answers
}

func checkRead[Q, A any](t *testing.T, question Question[Q, A], answers ...A) {
	t.Helper()
	for _, answer := range answers {
		inside, err := json.Marshal(answer)
		errortest.None(t, err)
		text := []byte(`{"status":"OK","` + question.Field + `":` + string(inside) + `}`)
		var want A
		errortest.None(t, json.Unmarshal(inside, &want))
		if got, err := question.decode(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: read %+v (%v), want %+v", text, got, err, want)
		}
		if _, err := question.decode(append(slices.Clone(text), '1')); err == nil {
			t.Fatalf("%s: no error for what comes after it", text)
		}
		for _, n := range []int{0, 1, len(text) / 2, len(text) - 1} {
			if _, err := question.decode(text[:n]); err == nil {
				t.Fatalf("%s: no error", text[:n])
			}
		}
	}
}
