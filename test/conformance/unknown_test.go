package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// told fails the test unless an answer names exactly those parameters and fields as unknown; "": none.
func told(t *testing.T, a servicetest.Answer, want string) {
	t.Helper()
	if want != "" {
		want = fmt.Sprintf(`299 belfry "unknown: %s"`, want)
	}
	equal(t, a.Request+": Warning", a.Header.Get("Warning"), want)
}

func TestClients_RefuseEventIsAllOrNothing(t *testing.T) {
	proves(t,
		`clients refuse event: "clashes": "refuse_event": one booked element fails the whole call, and nothing is `+
			"written")
	c, taken, free := school.Booker(t), school.Location(t), school.Location(t)
	busy := school.busy(t)
	school.Event(t, c, busy, taken)
	fields := servicetest.With(busy, "starts_at", "2019-04-10 09:00", "ends_at", "2019-04-10 10:00", "body", "Both")
	both := object{"event": fields, "elements": sent(free, taken), "clashes": "refuse_event"}
	a := c.Post(t, "/api/events", both).Must(t, http.StatusUnprocessableEntity)
	equal(t, "errors", a.At(t, "event.errors"), `{"elements":["is already booked: `+taken.Name+`"]}`)
	c.Get(t, elementPath(free)+"/commitments?start_date=2019-04-10").Want(t, http.StatusOK,
		`{"status":"OK","commitments":[]}`)
	both["elements"] = sent(free)
	c.Post(t, "/api/events", both).Must(t, http.StatusOK)
}

func TestClients_WhatACallDoesNotKnowIsNamed(t *testing.T) {
	proves(t, "clients unknown: an unknown parameter or field is named in a Warning header, and ignored")
	c, room := school.Booker(t), school.Location(t)
	list := elementPath(room) + "/commitments?"
	plain := c.Get(t, list+"start_date=2019-04-10")
	told(t, plain, "")
	a := c.Get(t, list+"start_date=2019-04-10&begin_date=2019-04-11")
	a.Want(t, http.StatusOK, plain.Body)
	told(t, a, "begin_date in the query")
	unknown := servicetest.With(school.booking(nil), "element", sent(room))
	unknown["event"].(object)["titel"] = "x"
	a = c.Post(t, "/api/events?clashes=refuse", unknown).Must(t, http.StatusOK)
	told(t, a, "clashes in the query; element, event.titel in the body")
	a = c.Get(t, "/api/elements/999999999999?x=1")
	a.WantCode(t, http.StatusNotFound)
	told(t, a, "x in the query")
}

func TestClients_StrictRefusesWhatACallDoesNotKnow(t *testing.T) {
	proves(t, "clients strict: Prefer: handling=strict: 400 instead")
	c, room := school.Booker(t), school.Location(t)
	strict := func(method, path string, body any) servicetest.Answer {
		return c.Do(t, method, path, body, "Prefer", "handling=strict")
	}
	list := elementPath(room) + "/commitments?start_date=2019-04-10"
	booking := school.booking(sent(room))
	refused := func(a servicetest.Answer, what string) {
		t.Helper()
		a.Want(t, http.StatusBadRequest, `{"status":"Bad request","message":"unknown: `+what+`"}`)
		equal(t, a.Request+": Preference-Applied", a.Header.Get("Preference-Applied"), "handling=strict")
	}
	refused(strict(http.MethodGet, list+"&begin_date=2019-04-11", nil), "begin_date in the query")
	refused(strict(http.MethodPost, "/api/events", object{"event": booking["event"], "element": sent(room)}),
		"element in the body")
	made := strict(http.MethodPost, "/api/events", booking)
	made.Must(t, http.StatusOK)
	equal(t, "Preference-Applied", made.Header.Get("Preference-Applied"), "handling=strict")
	told(t, made, "")
	listed := strict(http.MethodGet, list, nil).Must(t, http.StatusOK)
	equal(t, "the event that was not refused", listed.Int(t, "commitments.0.event.id"), made.Int(t, "event.id"))
	equal(t, "events", len(decode[struct{ Commitments []any }](t, listed).Commitments), 1)
}

func TestClients_StrictRefusesWhatAnImportDoesNotKnow(t *testing.T) {
	proves(t, "clients strict")
	c, key := school.Admin(), school.Unique("strict")
	lines := fmt.Sprintf(`{"key":%q,"name":%q}`, key, key)
	strict := func(query string) servicetest.Answer {
		return c.Do(t, http.MethodPost, "/api/admin/import/locations"+query, lines, "Content-Type",
			"application/x-ndjson", "Prefer", "handling=strict")
	}
	a := strict("?dryrun=true")
	a.Want(t, http.StatusBadRequest, `{"status":"Bad request","message":"unknown: dryrun in the query"}`)
	equal(t, "Preference-Applied", a.Header.Get("Preference-Applied"), "handling=strict")
	a = strict("?dry_run=true").Must(t, http.StatusOK)
	equal(t, "Preference-Applied", a.Header.Get("Preference-Applied"), "handling=strict")
	equal(t, "what the refused batch had made", a.Text(t, "records.0.result"), "created")
	school.Booker(t).Get(t, "/api/elements?name="+url.QueryEscape(key)).
		Want(t, http.StatusNotFound, `{"status":"Not found","elements":[]}`)
}
