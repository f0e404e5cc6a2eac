package conformance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// weekly makes a series of Tuesdays at 9:00 from 2027-03-16 on, and returns the paths of its events and its own.
func weekly(t *testing.T, c *servicetest.Client, count int) (events []string, series string) {
	t.Helper()
	made := c.Post(t, "/api/events", repeating(nil, "rule", fmt.Sprintf("FREQ=WEEKLY;COUNT=%d", count))).
		Must(t, http.StatusOK)
	return sequence.Map(made.Ints(t, "series.events.#.id"), eventPath), seriesPath(made.Int(t, "series.id"))
}

// changing is the body of a change, with more beside the event.
func changing(fields object, more ...any) object {
	return servicetest.With(object{"event": fields}, more...)
}

// starts are those of the events of a series, in order, as the clock shows them.
func starts(t *testing.T, c *servicetest.Client, series string) (all []string) {
	t.Helper()
	for _, start := range c.Get(t, series).Must(t, http.StatusOK).Texts(t, "series.events.#.event.starts_at") {
		all = append(all, start[5:16])
	}
	return all
}

func TestClients_SeriesAreChangedByScope(t *testing.T) {
	proves(t,
		"clients series changed: PATCH /api/events/<id>?scope=one, following or all: the event alone, the event and "+
			"all later ones, or all",
		"clients series moved: the others move by the same local time as the event, over both clock changes",
		"clients series changed alone: an event that was changed by itself stays as it is, unless overwrite is true")
	c := school.Booker(t)
	events, series := weekly(t, c, 4)
	alone := changing(object{"starts_at_text": "2027-03-23 15:00", "ends_at_text": "2027-03-23 16:00"})
	c.Patch(t, events[1]+"?scope=one", alone).WantCode(t, http.StatusOK)
	later := changing(object{"starts_at_text": "2027-03-16 10:00", "ends_at_text": "2027-03-16 11:00"})
	a := c.Patch(t, events[0]+"?scope=all", later).Must(t, http.StatusOK)
	equal(t, "events changed", a.Len(t, "series.changed"), 3)
	equal(t, "why another was not", a.At(t, "series.left_out.0.reason")+a.At(t, "series.left_out.0.changed_alone"),
		`"changed"["times"]`)
	equal(t, "starts", fmt.Sprint(starts(t, c, series)), "[03-16T10:00 03-23T15:00 03-30T10:00 04-06T10:00]")
	c.Patch(t, events[2]+"?scope=following", changing(object{
		"starts_at_text": "2027-03-31 09:00", "ends_at_text": "2027-03-31 10:00"})).WantCode(t, http.StatusOK)
	equal(t, "starts", fmt.Sprint(starts(t, c, series)), "[03-16T10:00 03-23T15:00 03-31T09:00 04-07T09:00]")
	earlier := changing(object{"starts_at_text": "2027-03-16 09:00"}, "overwrite", true)
	c.Patch(t, events[0]+"?scope=all", earlier).WantCode(t, http.StatusOK)
	equal(t, "starts", fmt.Sprint(starts(t, c, series)), "[03-16T09:00 03-23T09:00 03-31T08:00 04-07T08:00]")
}

func TestClients_SeriesChangesThatAreRefused(t *testing.T) {
	proves(t,
		"clients series change refused: fields that a change of several events does not take, and times outside the "+
			"years of events: 422, nothing written")
	c := school.Booker(t)
	events, series := weekly(t, c, 3)
	for name, body := range map[string]object{
		"elements":    changing(object{"body": "x"}, "elements", []string{}),
		"an owner":    changing(object{"owner_id": 1}),
		"late events": changing(object{"starts_at_text": "2199-12-24", "ends_at_text": "2199-12-25"}),
	} {
		a := c.Patch(t, events[0]+"?scope=all", body)
		equal(t, name, a.Code, http.StatusUnprocessableEntity)
	}
	c.Patch(t, events[0]+"?scope=some", changing(object{"body": "x"})).WantCode(t, http.StatusBadRequest)
	c.Patch(t, events[0]+"?scope=all", changing(object{"body": "x"}, "overwrite", "maybe")).
		WantCode(t, http.StatusBadRequest)
	equal(t, "starts", fmt.Sprint(starts(t, c, series)), "[03-16T09:00 03-23T09:00 03-30T09:00]")
}

func TestClients_SeriesChangesAreTriedAndRepeated(t *testing.T) {
	proves(t, "clients series change trial: dry_run of a change answers the same and writes nothing",
		"clients series change key: a change of several repeated with the same Idempotency-Key is done once")
	c := school.Booker(t)
	events, series := weekly(t, c, 3)
	c.Patch(t, events[2], changing(object{"body": "Alone"})).Must(t, http.StatusOK)
	fields := object{"starts_at_text": "2027-03-17 09:00", "ends_at_text": "2027-03-17 10:00"}
	trial := c.Patch(t, events[0]+"?scope=all&dry_run=true", changing(fields)).Must(t, http.StatusOK)
	equal(t, "starts after a trial", fmt.Sprint(starts(t, c, series)), "[03-16T09:00 03-23T09:00 03-30T09:00]")
	key := school.Prefix + "-change"
	first := c.Do(t, http.MethodPatch, events[0]+"?scope=all", changing(fields), "Idempotency-Key", key).
		Must(t, http.StatusOK)
	equal(t, "what becomes of them", first.At(t, "series"), trial.At(t, "series"))
	c.Do(t, http.MethodPatch, events[0]+"?scope=all", changing(fields), "Idempotency-Key", key).
		Want(t, http.StatusOK, first.Body)
	equal(t, "starts", fmt.Sprint(starts(t, c, series)), "[03-17T09:00 03-24T09:00 03-30T09:00]")
}
