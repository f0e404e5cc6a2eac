package conformance_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// calls are all calls of the table of rights, by the names of their rows.
func (c *cast) calls() map[string]call {
	all := map[string]call{}
	for _, some := range []map[string]call{sessionCalls(), elementCalls(), feedCalls(), eventCalls(), waitingCalls(),
		noteCalls("/api/notes"), noteCalls("/notes"), notesOfEventCalls(), categoryCalls(), accountCalls(),
		elementRecordCalls(), otherAdministrationCalls(), houseCalls()} {
		maps.Copy(all, some)
	}
	return all
}

// send is a call of one request, whose path and body are made from the scene. A body is sent with every method that has
// one.
func send(method string, path func(x *scene) string, body func(x *scene) any) call {
	return call{do: func(x *scene) servicetest.Answer {
		if body == nil {
			return x.client.Do(x.t, method, path(x), nil)
		}
		return x.client.Do(x.t, method, path(x), body(x))
	}}
}

// at is a path that no scene changes.
func at(path string) func(*scene) string { return func(*scene) string { return path } }

// with is a body that no scene changes.
func with(body any) func(*scene) any { return func(*scene) any { return body } }

// using marks a call that can succeed only once for an event.
func (c call) using() call { c.uses = true; return c }

// alone marks a call that needs a session of its own.
func (c call) alone() call { c.signsIn = true; return c }

// listing adds what the answer may show.
func (c call) listing(list string, id func(x *scene) int64) call {
	c.listed = func(x *scene) (string, int64) { return list, id(x) }
	return c
}

func sessionCalls() map[string]call {
	login := func(uuid func(x *scene) string) call {
		return call{do: func(x *scene) servicetest.Answer { return tryLogin(x.t, x.client, uuid(x)) }}.alone()
	}
	loginByBody := func(uuid func(x *scene) string) call {
		return call{do: func(x *scene) servicetest.Answer {
			return tryLoginByBody(x.t, x.client, object{"uuid": uuid(x)})
		}}.alone()
	}
	own := func(x *scene) string {
		if x.who.kind == "switched" {
			return x.switcher.uuid
		}
		return x.who.uuid
	}
	others := func(x *scene) string { return x.stranger.uuid }
	switchBy := func(method string, user func(x *scene) int64) call {
		return send(method, at("/api/sessions/1"), func(x *scene) any {
			return wrapped("session", "user_id", fmt.Sprint(user(x)))
		}).alone()
	}
	lookUp := func(who func(x *scene) *actor) call {
		return send(http.MethodGet, func(x *scene) string {
			return "/api/users?email=" + url.QueryEscape(x.email(who(x)))
		}, nil).listing("users", func(x *scene) int64 { return who(x).id })
	}
	// somebody who has no uuid of its own has one to look up all the same
	itself := func(x *scene) *actor {
		if x.who.key == "" {
			return x.stranger
		}
		return x.who
	}
	another := func(x *scene) *actor { return x.stranger }
	return map[string]call{
		"GET /api/login | with its own uuid":                         login(own),
		"GET /api/login | with another's uuid, which is a password":  login(others),
		"POST /api/login | with its own uuid":                        loginByBody(own),
		"POST /api/login | with another's uuid, which is a password": loginByBody(others),

		"GET /api/logout | its own session":           send(http.MethodGet, at("/api/logout"), nil).alone(),
		"GET /api/me | itself":                        send(http.MethodGet, at("/api/me"), nil),
		"GET /api/sessions/{session}/whoami | itself": send(http.MethodGet, at("/api/sessions/1/whoami"), nil),
		"GET /sessions/{session}/whoami | itself":     send(http.MethodGet, at("/sessions/1/whoami"), nil),
		"GET /api/users | itself":                     lookUp(itself),
		"GET /api/users | another":                    lookUp(another),
		"PUT /api/sessions/{session} | itself": switchBy(
			http.MethodPut, func(x *scene) int64 { return x.who.id }),
		"PUT /api/sessions/{session} | another": switchBy(
			http.MethodPut, func(x *scene) int64 { return x.stranger.id }),
		"PUT /api/sessions/{session} | an admin": switchBy(http.MethodPut, anAdmin),
		"PUT /api/sessions/{session} | the user who switched": switchBy(
			http.MethodPut, func(x *scene) int64 { return x.switcher.id }),
		"PATCH /api/sessions/{session} | itself": switchBy(
			http.MethodPatch, func(x *scene) int64 { return x.who.id }),
		"PATCH /api/sessions/{session} | another": switchBy(
			http.MethodPatch, func(x *scene) int64 { return x.stranger.id }),
		"PATCH /api/sessions/{session} | an admin": switchBy(http.MethodPatch, anAdmin),
		"PATCH /api/sessions/{session} | the user who switched": switchBy(
			http.MethodPatch, func(x *scene) int64 { return x.switcher.id }),
		"PUT /api/sessions/{session}/revert | its own session": send(http.MethodPut, at("/api/sessions/1/revert"),
			with(object{})).alone(),
	}
}

// anAdmin is an admin other than the one who asks: the run's own.
func anAdmin(x *scene) int64 {
	return x.school.Admin().Get(x.t, "/api/sessions/1/whoami").Int(x.t, "user_id")
}

// elementOf is the path of the element of the row: its own, another's, or a room.
func elementOf(rest string) func(x *scene) string {
	return func(x *scene) string { return fmt.Sprintf("/api/elements/%d%s", x.person.element.ID, rest) }
}

func elementCalls() map[string]call {
	calls := map[string]call{
		"GET /api/elements/{id}/requests | a resource group": send(http.MethodGet, func(x *scene) string {
			return elementPath(x.buses) + "/requests"
		}, nil),
		"GET /api/freebusy | itself and another person": send(http.MethodGet, func(x *scene) string {
			return fmt.Sprintf("/api/freebusy?elements=%d,%d", x.who.element.ID, x.stranger.element.ID)
		}, nil),
		"GET /api/free | itself or another person": send(http.MethodGet, func(*scene) string {
			return "/api/free?type=Property&starts_at=2019-04-10&ends_at=2019-04-11"
		}, nil),
		"GET /api/timetables | itself and another person": send(http.MethodGet, func(x *scene) string {
			return fmt.Sprintf("/api/timetables?elements=%d,%d", x.who.element.ID, x.stranger.element.ID)
		}, nil),
	}
	for _, whose := range []string{"itself", "another person"} {
		calls["GET /api/elements | "+whose] = send(http.MethodGet, func(x *scene) string {
			return "/api/elements?name=" + url.QueryEscape(x.person.element.Name)
		}, nil).listing("elements", func(x *scene) int64 { return x.person.element.ID })
		for _, rest := range []string{"", "/commitments", "/freebusy", "/calendar.ics"} {
			calls["GET /api/elements/{id}"+rest+" | "+whose] = send(http.MethodGet, elementOf(rest), nil)
		}
	}
	return calls
}

func feedCalls() map[string]call {
	post := send(http.MethodPost, elementOf("/feeds"), nil)
	list := func(of func(x *scene) *actor) call {
		return send(http.MethodGet, func(x *scene) string { return feedsPath(of(x).element) }, nil).
			listing("feeds", func(x *scene) int64 { return of(x).feedID })
	}
	remove := func(of func(x *scene) *actor) call {
		return send(http.MethodDelete, func(x *scene) string {
			return fmt.Sprintf("%s/%d", feedsPath(of(x).element), of(x).feedID)
		}, nil)
	}
	file := func(of func(x *scene) *actor) call {
		return send(http.MethodGet, func(x *scene) string { return of(x).feedPath }, nil)
	}
	who := func(x *scene) *actor { return x.who }
	stranger := func(x *scene) *actor { return x.stranger }
	return map[string]call{
		"POST /api/elements/{id}/feeds | itself":         post,
		"POST /api/elements/{id}/feeds | another person": post,
		"POST /api/elements/{id}/feeds | a room": send(http.MethodPost, func(x *scene) string {
			return feedsPath(x.room)
		}, nil),
		"GET /api/elements/{id}/feeds | its own":             list(who),
		"GET /api/elements/{id}/feeds | another's":           list(stranger),
		"DELETE /api/elements/{id}/feeds/{feed} | its own":   remove(who),
		"DELETE /api/elements/{id}/feeds/{feed} | another's": remove(stranger),
		"GET /ical/{file} | of a user who may log in":        file(stranger),
		"GET /ical/{file} | of a user who was deactivated":   file(func(x *scene) *actor { return x.buried }),
	}
}

func eventOf(rest string) func(x *scene) string {
	return func(x *scene) string { return eventPath(x.event.id) + rest }
}

func eventCalls() map[string]call {
	create := func(category func(x *scene) int64) call {
		return send(http.MethodPost, at("/api/events"), func(x *scene) any {
			return object{"event": object{"body": x.school.Unique("Event"),
				"event_category_id": category(x), "starts_at_text": "2019-04-10"}}
		})
	}
	ordinary := func(x *scene) int64 { return x.school.Category.ID }
	privileged := func(x *scene) int64 { return x.school.Privileged.ID }
	calls := map[string]call{
		"POST /api/events | in an ordinary category":            create(ordinary),
		"POST /api/events | in a privileged category":           create(privileged),
		"POST /api/events | in a category of the head's school": create(func(x *scene) int64 { return x.lesson }),
	}
	calls["POST /api/events | a series"] = send(http.MethodPost, at("/api/events"), newSeries)
	allOfIt := func(x *scene) string {
		made := x.school.Admin().Post(x.t, "/api/events", newSeries(x)).Must(x.t, http.StatusOK)
		return eventPath(made.Int(x.t, "series.events.0.id")) + "?scope=all"
	}
	calls["PATCH /api/events/{id} | all of another's series"] = send(http.MethodPatch, allOfIt,
		with(wrapped("event", "body", "Another")))
	calls["DELETE /api/events/{id} | all of another's series"] = send(http.MethodDelete, allOfIt, nil)
	calls["GET /api/series/{id} | another's"] = send(http.MethodGet, func(x *scene) string {
		made := x.school.Admin().Post(x.t, "/api/events", newSeries(x)).Must(x.t, http.StatusOK)
		return seriesPath(made.Int(x.t, "series.id"))
	}, nil)
	calls["GET /api/changes/stream | the beginning"] = send(http.MethodGet, at("/api/changes/stream"), nil)
	calls["GET /api/changes | an event's"] = send(http.MethodGet, func(x *scene) string {
		token := x.school.Admin().Get(x.t, "/api/changes").Must(x.t, http.StatusOK).Text(x.t, "next")
		x.school.Admin().Patch(x.t, eventPath(x.event.id), wrapped("event", "body", x.school.Unique("Changed"))).
			Must(x.t, http.StatusOK)
		return "/api/changes?limit=1000&since=" + token
	}, nil).listing("changes", func(x *scene) int64 { return x.event.id })
	for _, whose := range []string{"its own", "another's"} {
		calls["GET /api/events | "+whose] = send(http.MethodGet, func(x *scene) string {
			return fmt.Sprintf("/api/events?element=%d&limit=200", x.room.ID)
		}, nil).listing("events", func(x *scene) int64 { return x.event.id })
		calls["GET /api/events/{id} | "+whose] = send(http.MethodGet, eventOf(""), nil)
		for _, method := range []string{http.MethodPatch, http.MethodPut} {
			calls[method+" /api/events/{id} | "+whose] = send(method, eventOf(""),
				func(x *scene) any { return wrapped("event", "body", x.school.Unique("Changed")) })
		}
		calls["PATCH /api/events/{id} | "+whose+", into a privileged category"] = send(http.MethodPatch, eventOf(""),
			func(x *scene) any { return wrapped("event", "event_category_id", privileged(x)) }).using()
		calls["DELETE /api/events/{id} | "+whose] = send(http.MethodDelete, eventOf(""), nil).using()
		calls["POST /api/events/{id}/add | "+whose] = send(http.MethodPost, eventOf("/add"), func(x *scene) any {
			return object{"elements": []string{x.spare.Sent()}}
		})
		calls["POST /api/events/{id}/notes | "+whose+" event"] = send(http.MethodPost, eventOf("/notes"),
			with(wrapped("note", "contents", "x")))
	}
	return calls
}

// newSeries is a create of two events.
func newSeries(x *scene) any {
	return object{"event": object{"body": x.school.Unique("Event"), "event_category_id": x.school.Category.ID,
		"starts_at_text": "2019-04-10"}, "repeat": object{"rule": "FREQ=WEEKLY;COUNT=2"}}
}

// waitingCalls are those about commitments and requests.
func waitingCalls() map[string]call {
	keepers := func(x *scene) string { return commitmentPath(x.event.ofCalendar) }
	others := func(x *scene) string { return commitmentPath(x.event.ofOther) }
	request := func(rest string) func(x *scene) string {
		return func(x *scene) string { return fmt.Sprintf("/api/requests/%d%s", x.event.ofBuses, rest) }
	}
	confirm := with(wrapped("commitment", "status", "confirmed"))
	calls := map[string]call{
		"GET /api/commitments | of the keeper's calendar": send(http.MethodGet, at("/api/commitments?limit=1000"), nil).
			listing("commitments", func(x *scene) int64 { return x.stranger.event.ofCalendar }),
		"GET /api/requests | of the keeper's minibuses": send(http.MethodGet, at("/api/requests?limit=1000"), nil).
			listing("requests", func(x *scene) int64 { return x.stranger.event.ofBuses }),
	}
	for _, whose := range []string{"its own event", "another's event"} {
		for _, one := range []struct {
			what string
			path func(x *scene) string
		}{{"of the keeper's calendar", keepers}, {"of what another administers", others}} {
			name := "/api/commitments/{id} | " + one.what + ", " + whose
			calls["PATCH "+name] = send(http.MethodPatch, one.path, confirm).using()
			calls["DELETE "+name] = send(http.MethodDelete, one.path, nil).using()
		}
		name := " | of the keeper's minibuses, " + whose
		calls["PATCH /api/requests/{id}"+name] = send(http.MethodPatch, request(""),
			with(wrapped("request", "quantity", 2)))
		calls["DELETE /api/requests/{id}"+name] = send(http.MethodDelete, request(""), nil).using()
		calls["POST /api/requests/{id}/allocations"+name] = send(http.MethodPost, request("/allocations"),
			func(x *scene) any { return object{"elements": []int64{x.bus.ID}, "clashes": "ignore"} }).using()
	}
	return calls
}

// noteIn are the notes of an event by how the table calls them.
var noteIn = map[string]func(b booking) int64{
	"shown to no one": func(b booking) int64 { return b.hidden },
	"shown to staff":  func(b booking) int64 { return b.forStaff },
	"shown to pupils": func(b booking) int64 { return b.forPupils },
	"shown to guests": func(b booking) int64 { return b.forGuests },
}

// noteCalls are the calls of a note below one of its two paths.
func noteCalls(below string) map[string]call {
	calls := map[string]call{}
	add := func(what, shown string, methods ...string) {
		path := func(x *scene) string { return fmt.Sprintf("%s/%d", below, noteIn[shown](x.event)) }
		for _, method := range methods {
			name := fmt.Sprintf("%s %s/{id} | %s, %s", method, below, what, shown)
			switch method {
			case http.MethodPut, http.MethodPatch:
				calls[name] = send(method, path, func(x *scene) any {
					return wrapped("note", "contents", x.school.Unique("Changed"))
				})
			case http.MethodDelete:
				calls[name] = send(method, path, nil).using()
			default:
				calls[name] = send(method, path, nil)
			}
		}
	}
	add("its own", "shown to no one", "GET", "PUT", "PATCH", "DELETE")
	add("another's", "shown to no one", "GET", "PUT", "PATCH", "DELETE")
	add("another's", "shown to staff", "GET", "PUT", "PATCH", "DELETE")
	add("another's", "shown to pupils", "GET")
	add("another's", "shown to guests", "GET")
	return calls
}

func notesOfEventCalls() map[string]call {
	calls := map[string]call{}
	for shown, id := range noteIn {
		calls["GET /api/events/{id}/notes | another's, "+shown] = send(http.MethodGet, eventOf("/notes"), nil).
			listing("notes", func(x *scene) int64 { return id(x.event) })
	}
	own, others := "its own, shown to no one", "another's, shown to no one"
	calls["GET /api/events/{id}/notes | "+own] = calls["GET /api/events/{id}/notes | "+others]
	return calls
}

func categoryCalls() map[string]call {
	calls := map[string]call{}
	for name, of := range map[string]func(x *scene) int64{
		"an ordinary one":      func(x *scene) int64 { return x.school.Category.ID },
		"a privileged one":     func(x *scene) int64 { return x.school.Privileged.ID },
		"of the head's school": func(x *scene) int64 { return x.lesson },
	} {
		calls["GET /api/eventcategories | "+name] = send(http.MethodGet, at("/api/eventcategories"), nil).
			listing("eventcategories", of)
		calls["GET /api/eventcategories/{id} | "+name] = send(http.MethodGet, func(x *scene) string {
			return categoryPath(of(x))
		}, nil)
	}
	return calls
}
