package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// told fails the test unless an answer names exactly those parameters and fields as unknown; "": none.
func told(t *testing.T, a servicetest.Answer, want string) {
	t.Helper()
	if want != "" {
		want = fmt.Sprintf(`299 belfry "unknown: %s"`, want)
	}
	equal(t, a.Request+": Warning", a.Header.Get("Warning"), want)
}

func TestClients_RefuseIsAllOrNothing(t *testing.T) {
	proves(t,
		`clients refuse: "clashes": "refuse": where one element is booked, nothing is written: 409 with the clashes`)
	c, taken, free := school.Booker(t), school.Location(t), school.Location(t)
	busy := school.busy(t)
	school.Event(t, c, busy, taken)
	fields := servicetest.With(busy, "starts_at", "2019-04-10 09:00", "ends_at", "2019-04-10 10:00", "body", "Both")
	both := object{"event": fields, "elements": sent(free, taken), "clashes": "refuse"}
	a := c.Post(t, "/api/events", both).Must(t, http.StatusConflict)
	equal(t, "what clashes", a.At(t, "clashes.0.element"), taken.List())
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
	a = c.Post(t, "/api/events?clash=refuse", unknown).Must(t, http.StatusOK)
	told(t, a, "clash in the query; element, event.titel in the body")
	a = c.Get(t, "/api/elements/999999999999?x=1")
	a.WantCode(t, http.StatusNotFound)
	told(t, a, "x in the query")
}

func TestClients_WordsThatKeepPeopleSafeAreNeverIgnored(t *testing.T) {
	proves(t, "clients safety words: dry_run, clashes, scope, overwrite and If-Match in another place, with another "+
		"value or where a call does not take them: 400, and nothing is written")
	c, room := school.Booker(t), school.Location(t)
	event := eventPath(c.Post(t, "/api/events", school.booking(nil)).Must(t, http.StatusOK).Int(t, "event.id"))
	before := c.Get(t, event)
	refused := func(method, path string, body any, word string, headers ...string) {
		t.Helper()
		a := c.Do(t, method, path, body, headers...)
		a.WantCode(t, http.StatusBadRequest)
		valuetest.Has(t, a.Text(t, "message"), word, "%s: does not name %s", a.Request, word)
	}
	booking := school.booking(sent(room))
	refused(http.MethodPost, "/api/events?clashes=refuse", booking, "clashes")
	refused(http.MethodPost, "/api/events", servicetest.With(booking, "dry_run", true), "dry_run in the query")
	refused(http.MethodPost, "/api/events?dry_run=yes", booking, "dry_run")
	refused(http.MethodPost, "/api/events", booking, "If-Match", "If-Match", "*")
	refused(http.MethodPost, event+"/add?scope=all", object{"elements": sent(room)}, "scope")
	refused(http.MethodPost, event+"/notes", object{"note": object{"contents": "x"}, "overwrite": true}, "overwrite")
	refused(http.MethodDelete, event, object{"dry_run": true}, "dry_run in the query")
	refused(http.MethodDelete, event+"?scope=each", nil, "scope")
	refused(http.MethodDelete, event, `{"dry_run":tru`, "the body")
	c.Do(t, http.MethodDelete, event, "dry_run=true", "Content-Type", "application/x-www-form-urlencoded").WantCode(t,
		http.StatusUnsupportedMediaType)
	c.Get(t, elementPath(room)+"/commitments?start_date=2019-04-10").Want(t, http.StatusOK,
		`{"status":"OK","commitments":[]}`)
	c.Get(t, event).Want(t, http.StatusOK, before.Body)
	c.Get(t, event+"/notes").Want(t, http.StatusOK, `{"status":"OK","notes":[]}`)
}

func TestClients_DryRunsAnswerAsTheCallAndWriteNothing(t *testing.T) {
	proves(t, "clients dry run: dry_run=true in the query: creation, addition, change and deletion of an event answer "+
		"as the call with \"dry_run\": true, and write nothing")
	c, room := school.Booker(t), school.Location(t)
	none := func(what string) {
		t.Helper()
		a := c.Get(t, elementPath(room)+"/commitments?start_date=2019-04-10")
		equal(t, "commitments after "+what, a.Len(t, "commitments"), 0)
	}
	a := c.Post(t, "/api/events?dry_run=true", school.booking(sent(room))).Must(t, http.StatusOK)
	equal(t, "a dry run", a.At(t, "dry_run")+a.At(t, "status")+a.At(t, "event.id"), `true"Created"null`)
	equal(t, "its commitment", a.At(t, "event.commitments.0.id"), "null")
	none("a creation")
	event := eventPath(c.Post(t, "/api/events", school.booking(nil)).Must(t, http.StatusOK).Int(t, "event.id"))
	before := c.Get(t, event)
	a = c.Post(t, event+"/add?dry_run=true", object{"elements": sent(room)}).Must(t, http.StatusOK)
	equal(t, "elements added", a.At(t, "dry_run")+a.At(t, "event.commitments.0.element.id"), "true"+room.Sent())
	none("an addition")
	a = c.Patch(t, event+"?dry_run=true", object{"event": object{"body": "Tried"}}).Must(t, http.StatusOK)
	equal(t, "a title", a.At(t, "dry_run")+a.At(t, "event.body"), `true"Tried"`)
	c.Delete(t, event+"?dry_run=true").Want(t, http.StatusOK, `{"status":"OK","dry_run":true}`)
	c.Get(t, event).Want(t, http.StatusOK, before.Body)
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
	c.Do(t, http.MethodGet, list+"&include=nonsense", nil, "Prefer", "handling=strict").Want(t, http.StatusBadRequest,
		`{"status":"Bad request","message":"invalid: include in the query"}`)
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
	a := strict("?try_out=true")
	a.Want(t, http.StatusBadRequest, `{"status":"Bad request","message":"unknown: try_out in the query"}`)
	equal(t, "Preference-Applied", a.Header.Get("Preference-Applied"), "handling=strict")
	a = strict("?dry_run=true").Must(t, http.StatusOK)
	equal(t, "Preference-Applied", a.Header.Get("Preference-Applied"), "handling=strict")
	equal(t, "what the refused batch had made", a.Text(t, "records.0.result"), "created")
	school.Booker(t).Get(t, "/api/elements?name="+url.QueryEscape(key)).
		Want(t, http.StatusNotFound, `{"status":"Not found","elements":[]}`)
}
