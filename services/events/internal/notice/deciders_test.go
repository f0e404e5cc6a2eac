package notice

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/form"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	north, south              = 11, 12 // schools
	gym, hall                 = 21, 22 // elements of the north; the hall has an administrator
	keeper, head, both, other = 31, 32, 33, 34
)

// secret stands in for the categories: each is confidential.
type secret struct{}

func (secret) Find(_ context.Context, ids []int64, _ []string) ([]category.Category, error) {
	return []category.Category{{ID: ids[0], Flags: category.Flags{Confidential: true}}}, nil
}

// away stands in for the store: no event exists any more.
type away struct{ Store }

func (away) CategoriesOf(context.Context, []int64) (map[int64]int64, error) { return nil, nil }

// Webhooks were sent the reasons of decisions about confidential events, which answers show only to those concerned.
func TestDecisionsPart9_AWebhookIsSentNeitherTitleNorReasonOfAConfidentialEvent(t *testing.T) {
	s := &Service{Options: Options{Store: away{}, Categories: secret{}}}
	n := Notice{Notice: event.Notice{
		Event:   event.NoticeEvent{Body: "Mia is excluded", CategoryID: 9},
		Entries: []event.Entry{{Reason: "Mia is ill"}},
	}}
	sent, err := s.redacted(t.Context(), n)
	errortest.None(t, err)
	valuetest.Same(t, sent.Event.Body, event.RedactedBody, "the title that is sent")
	valuetest.Same(t, sent.Entries[0].Reason, "", "the reason that is sent")
	valuetest.Same(t, n.Entries[0].Reason, "Mia is ill", "the reason for those concerned")
}

// district stands in for the neighbours.
type district struct{ Elements }

func (district) Control(_ context.Context, q fact.ControlQuestion) ([]fact.Control, error) {
	return sequence.Map(q.IDs, func(id int64) fact.Control {
		return fact.Control{ElementID: id, Schools: []int64{north}}
	}), nil
}

func (district) Users(_ context.Context, q fact.UsersQuestion) ([]fact.User, error) {
	var users []fact.User
	for id, schools := range map[int64][]int64{head: {north}, both: {north, south}, other: {south}} {
		administers := slices.ContainsFunc(schools, func(id int64) bool { return slices.Contains(q.AdminOf, id) })
		if administers || slices.Contains(q.IDs, id) {
			users = append(users, fact.User{
				User: form.User{ID: id}, AdminOf: schools, Active: true, Kind: principal.Guest,
			})
		}
	}
	return users, nil
}

func (district) Surroundings(context.Context, fact.SurroundingsQuestion) (fact.Surroundings, error) {
	return fact.Surroundings{}, nil
}

func TestDecisionsPart9_ASchoolIsToldWhatWaitsForItsDecision(t *testing.T) {
	s := &Service{Options: Options{Elements: district{}, Users: district{}}}
	elements := map[int64]fact.Element{
		gym: {Element: form.Element{ID: gym}}, hall: {Element: form.Element{ID: hall}, Administrators: []int64{keeper}},
	}
	for kind, want := range map[event.NoticeKind][2][]int64{
		event.CommitmentRequested: {{head, both}, {keeper}},
		event.CommitmentDecided:   {nil, nil},
	} {
		n := Notice{Notice: event.Notice{Kind: kind, Entries: []event.Entry{{ElementID: gym}, {ElementID: hall}}}}
		deciders, err := s.decidersOf(t.Context(), n, elements)
		errortest.None(t, err)
		for i, e := range n.Entries {
			got := concerned(n, e, deciders[e.ElementID])
			slices.Sort(got)
			valuetest.List(t, got, want[i], "%s of element %d concerns", kind, e.ElementID)
		}
	}
}

func TestWebhook_PausesDoubleFromTwoSecondsToAnHourGiveOrTakeAQuarter(t *testing.T) {
	attempts, passed := 0, time.Duration(0)
	for want := 2 * time.Second; passed < deliveryPatience; want = min(2*want, time.Hour) {
		attempts++
		least, most := 2*want, time.Duration(0)
		for range 200 {
			got := deliveryWait(attempts)
			least, most = min(least, got), max(most, got)
		}
		if least < want*3/4 || most > want*5/4 || most-least < want/4 {
			t.Errorf("after attempt %d: %v to %v, want about %v", attempts, least, most, want)
		}
		passed += want
	}
	valuetest.Holds(t, attempts >= 30 && attempts <= 40, "%d attempts in a day", attempts)
	if got := deliveryWait(1 << 40); got < 45*time.Minute || got > 75*time.Minute {
		t.Errorf("after very many attempts: %v", got)
	}
}

func TestMail_PausesAreHalfTheMailsAgeFromTenSecondsToHalfAnHour(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 15 * time.Second: 10 * time.Second, time.Minute: 30 * time.Second,
		30 * time.Minute: 15 * time.Minute, 72 * time.Hour: 30 * time.Minute,
	} {
		for range 100 {
			if got := mailWait(age); got < want*3/4 || got > want*5/4 {
				t.Fatalf("at %v: %v, want about %v", age, got, want)
			}
		}
	}
}

// A mail to a head who is a guest was empty, and so was not sent.
func TestDecisionsPart9_AGuestWhoDecidesForASchoolIsSentWhatWaits(t *testing.T) {
	s := &Service{Options: Options{
		Elements: district{}, Users: district{}, Sights: principal.Sights{Guests: principal.SeesPublic},
	}}
	elements := map[int64]fact.Element{
		gym:  {Element: form.Element{ID: gym, Name: "Gym"}},
		hall: {Element: form.Element{ID: hall, Name: "Hall"}, Administrators: []int64{keeper}},
	}
	n := Notice{Notice: event.Notice{
		Kind: event.CommitmentRequested, Entries: []event.Entry{{ElementID: gym}, {ElementID: hall}},
	}}
	items, err := s.itemsOf(t.Context(), n, "Match", elements)
	errortest.None(t, err)
	valuetest.MustSame(t, len(items), 2, "readers of %+v", items)
	for _, item := range items {
		valuetest.List(t, item.Lines, []Line{{Text: "Gym was requested and awaits a decision."}},
			"told to %d", item.UserID)
	}
}
