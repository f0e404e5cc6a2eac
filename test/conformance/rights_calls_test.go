package conformance_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// param is a value in a path or a query, made from the scene.
type param = func(x *scene) any

// call is how a row of the table is asked for.
type call struct {
	do      func(x *scene) servicetest.Answer // nil: the request that the fields below describe
	params  []param                           // of the route, in their order
	query   func(x *scene) string
	body    func(x *scene) any
	headers []string
	// list and id are what the answer may show, where the row has + or -.
	list string
	id   param
	// uses says that the call can succeed only once for an event.
	uses bool
	// signsIn says that the call needs a session of its own, as it ends or changes it.
	signsIn bool
}

// at is the row's route with these parameters.
func at(params ...param) call { return call{params: params} }

// calling is a call that is more than one request.
func calling(do func(x *scene) servicetest.Answer) call { return call{do: do} }

// asking adds a query.
func (c call) asking(format string, values ...param) call {
	c.query = func(x *scene) string {
		found := sequence.Map(values, func(value param) any { return value(x) })
		return fmt.Sprintf(format, found...)
	}
	return c
}

// with adds a body that no scene changes.
func (c call) with(body any) call { return c.sending(func(*scene) any { return body }) }

// sending adds a body.
func (c call) sending(body param) call { c.body = body; return c }

// using marks a call that can succeed only once for an event.
func (c call) using() call { c.uses = true; return c }

// alone marks a call that needs a session of its own.
func (c call) alone() call { c.signsIn = true; return c }

// listing adds what the answer may show.
func (c call) listing(list string, id param) call { c.list, c.id = list, id; return c }

// make makes the call.
func (c call) make(x *scene) servicetest.Answer {
	if c.do != nil {
		return c.do(x)
	}
	method, path, _ := strings.Cut(x.row.Route, " ")
	for _, value := range c.params {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = fmt.Sprint(before, value(x), after)
	}
	if c.query != nil {
		path += "?" + c.query(x)
	}
	var body any
	if c.body != nil {
		body = c.body(x)
	}
	return x.client.Do(x.t, method, path, body, c.headers...)
}

// allowed says whether the table lets the user do it. Then the call is made with something that may go.
func (x *scene) allowed() bool { return x.row.Answers[x.who.kind].Code < 300 }

// nowhere is the id of no record.
const nowhere = 1 << 60

// The parameters of many calls.
var (
	one       param = func(*scene) any { return 1 } // any session's
	none      param = func(*scene) any { return nowhere }
	user      param = func(x *scene) any { return x.who.id }
	stranger  param = func(x *scene) any { return x.stranger.id }
	element   param = func(x *scene) any { return x.person.element.ID } // the row's: its own, or another's
	own       param = func(x *scene) any { return x.who.element.ID }
	anothers  param = func(x *scene) any { return x.stranger.element.ID }
	room      param = func(x *scene) any { return x.room.ID }
	buses     param = func(x *scene) any { return x.buses.ID }
	calendar  param = func(x *scene) any { return x.calendar.ID }
	house     param = func(x *scene) any { return x.house.ID }
	teacher   param = func(x *scene) any { return x.teacher.ID }
	fresh     param = func(x *scene) any { return x.ofHouse(x.t, x.school.Location(x.t)).ID }
	colleague param = func(x *scene) any { return x.colleague(x.t).ID }
	aRoom     param = func(x *scene) any { return x.school.Location(x.t).ID }
	event     param = func(x *scene) any { return x.event.id } // the row's: its own, or another's
)

// calls are all calls of the table of rights, by the names of their rows.
func (c *cast) calls() map[string]call {
	all := map[string]call{}
	for _, some := range []map[string]call{sessionCalls(), elementCalls(), feedCalls(), eventCalls(), waitingCalls(),
		noteCalls(), categoryCalls(), accountCalls(), colleagueCalls(), recordCalls(), houseCalls(),
		administrationCalls()} {
		maps.Copy(all, some)
	}
	return all
}

func sessionCalls() map[string]call {
	calls := map[string]call{
		"GET /api/logout | its own session":                    at().alone(),
		"GET /api/logout/oidc | its own session":               at().alone(),
		"GET /api/login/providers | any":                       at(),
		"GET /api/me | itself":                                 at(),
		"GET /api/sessions/{session}/whoami | itself":          at(one),
		"GET /sessions/{session}/whoami | itself":              at(one),
		"PUT /api/sessions/{session}/revert | its own session": at(one).with(object{}).alone(),

		"GET /api/me/tokens | its own":              at(),
		"POST /api/me/tokens | its own":             calling(makeToken),
		"DELETE /api/me/tokens/{token} | another's": at(none),
		"DELETE /api/me/tokens/{token} | its own":   calling(endToken),
	}
	for _, route := range []string{"GET /api/login/oidc/{provider}", "GET /api/login/oidc/{provider}/callback",
		"POST /api/login/oidc/{provider}/logout"} { // those with providers are in test/openid
		calls[route+" | a deployment without providers"] = at(one)
	}
	for whose, uuid := range map[string]func(x *scene) string{
		"with its own uuid": func(x *scene) string {
			if x.who.kind == "switched" {
				return x.switcher.uuid
			}
			return x.who.uuid
		},
		"with another's uuid, which is a password": func(x *scene) string { return x.stranger.uuid },
	} {
		calls["GET /api/login | "+whose] = calling(func(x *scene) servicetest.Answer {
			return tryLogin(x.t, x.client, uuid(x))
		}).alone()
		calls["POST /api/login | "+whose] = calling(func(x *scene) servicetest.Answer {
			return tryLoginByBody(x.t, x.client, object{"uuid": uuid(x)})
		}).alone()
	}
	for whose, who := range map[string]func(x *scene) *actor{
		"itself": func(x *scene) *actor {
			if x.who.key == "" { // without a user, no address is its own
				return x.stranger
			}
			return x.who
		},
		"another": func(x *scene) *actor { return x.stranger },
	} {
		calls["GET /api/users | "+whose] = at().asking("email=%s", func(x *scene) any {
			return url.QueryEscape(x.email(who(x)))
		}).listing("users", func(x *scene) any { return who(x).id })
	}
	for whose, id := range map[string]param{
		"itself": user, "another": stranger,
		"the user who switched": func(x *scene) any { return x.switcher.id },
		"an admin":              func(x *scene) any { return whoAmI(x.t, x.school.Admin()) }, // the run's own
	} {
		for _, method := range []string{http.MethodPut, http.MethodPatch} {
			calls[method+" /api/sessions/{session} | "+whose] = at(one).sending(func(x *scene) any {
				return wrapped("session", "user_id", fmt.Sprint(id(x)))
			}).alone()
		}
	}
	return calls
}

func elementCalls() map[string]call {
	calls := map[string]call{
		"GET /api/elements/{id}/requests | a resource group":     at(buses),
		"GET /api/freebusy | itself and another person":          at().asking("elements=%d,%d", own, anothers),
		"GET /api/free | the slots of itself and another person": at().asking("slots=%d,%d", own, anothers),
		"GET /api/free | itself or another person": at().asking(
			"type=Property&starts_at=2019-04-10&ends_at=2019-04-11"),
		"GET /api/timetables | itself and another person": at().asking("elements=%d,%d", own, anothers),
	}
	for _, whose := range []string{"itself", "another person"} {
		calls["GET /api/elements | "+whose] = at().asking("name=%s", func(x *scene) any {
			return url.QueryEscape(x.person.element.Name)
		}).listing("elements", element)
		for _, rest := range []string{"", "/commitments", "/freebusy", "/calendar.ics"} {
			calls["GET /api/elements/{id}"+rest+" | "+whose] = at(element)
		}
	}
	return calls
}

func feedCalls() map[string]call {
	file := func(of func(x *scene) *actor) call {
		return at(func(x *scene) any { return strings.TrimPrefix(of(x).feedPath, "/ical/") })
	}
	calls := map[string]call{
		"POST /api/elements/{id}/feeds | itself":           at(element),
		"POST /api/elements/{id}/feeds | another person":   at(element),
		"POST /api/elements/{id}/feeds | a room":           at(room),
		"GET /ical/{file} | of a user who may log in":      file(func(x *scene) *actor { return x.stranger }),
		"GET /ical/{file} | of a user who was deactivated": file(func(x *scene) *actor { return x.buried }),
	}
	feed := func(x *scene) any { return x.person.feedID }
	for _, whose := range []string{"its own", "another's"} {
		calls["GET /api/elements/{id}/feeds | "+whose] = at(element).listing("feeds", feed)
		calls["DELETE /api/elements/{id}/feeds/{feed} | "+whose] = at(element, feed)
		calls["POST /api/elements/{id}/feeds/{feed}/address | "+whose] = at(element, feed)
	}
	return calls
}

func eventCalls() map[string]call {
	privileged := func(x *scene) any { return x.school.Privileged.ID }
	calls := map[string]call{}
	for what, category := range map[string]param{
		"in an ordinary category":            func(x *scene) any { return x.school.Category.ID },
		"in a privileged category":           privileged,
		"in a category of the head's school": func(x *scene) any { return x.lesson },
	} {
		calls["POST /api/events | "+what] = at().sending(func(x *scene) any {
			return object{"event": object{"body": x.school.Unique("Event"), "event_category_id": category(x),
				"starts_at_text": "2019-04-10"}}
		})
	}
	newSeries := func(x *scene) any {
		return object{"event": object{"body": x.school.Unique("Event"), "event_category_id": x.school.Category.ID,
			"starts_at_text": "2019-04-10"}, "repeat": object{"rule": "FREQ=WEEKLY;COUNT=2"}}
	}
	inSeries := func(path string) param { // of a series of another
		return func(x *scene) any {
			return x.school.Admin().Post(x.t, "/api/events", newSeries(x)).Must(x.t, http.StatusOK).Int(x.t, path)
		}
	}
	event0 := inSeries("series.events.0.id")
	maps.Copy(calls, map[string]call{
		"POST /api/events | a series":                       at().sending(newSeries),
		"GET /api/series/{id} | another's":                  at(inSeries("series.id")),
		"DELETE /api/events/{id} | all of another's series": at(event0).asking("scope=all"),
		"PATCH /api/events/{id} | all of another's series": at(event0).asking("scope=all").
			with(wrapped("event", "body", "x")),
		"GET /api/changes/stream | the beginning": at(),
		"GET /api/changes | an event's": at().asking("limit=1000&after=%s", func(x *scene) any {
			token := now(x.t, x.school.Admin())
			x.school.Admin().Patch(x.t, eventPath(x.event.id), wrapped("event", "body", x.school.Unique("Changed"))).
				Must(x.t, http.StatusOK)
			return token
		}).listing("changes", event),
	})
	change := at(event).sending(func(x *scene) any { return wrapped("event", "body", x.school.Unique("Changed")) })
	for _, whose := range []string{"its own", "another's"} {
		maps.Copy(calls, map[string]call{
			"GET /api/events | " + whose:        at().asking("element=%d&limit=200", room).listing("events", event),
			"GET /api/events/{id} | " + whose:   at(event),
			"PATCH /api/events/{id} | " + whose: change,
			"PUT /api/events/{id} | " + whose:   change,
			"PATCH /api/events/{id} | " + whose + ", into a privileged category": at(event).sending(func(x *scene) any {
				return wrapped("event", "event_category_id", privileged(x))
			}).using(),
			"DELETE /api/events/{id} | " + whose: at(event).using(),
			"POST /api/events/{id}/add | " + whose: at(event).sending(func(x *scene) any {
				return object{"elements": []string{x.spare.Sent()}}
			}),
			"POST /api/events/{id}/replace | " + whose: at(event).sending(func(x *scene) any {
				return object{"replace": []object{{"element": x.room.ID, "with": x.spare.ID}}}
			}).using(),
			"DELETE /api/events/{id}/elements/{element} | " + whose: at(event, room).using(),
			"DELETE /api/events/{id}/elements/{element} | " + whose + ", the keeper's calendar": at(event,
				func(x *scene) any { return x.calendar.ID }).using(),
			"POST /api/events/{id}/notes | " + whose + " event": at(event).with(wrapped("note", "contents", "x")),
		})
	}
	return calls
}

// waitingCalls are those about commitments and requests.
func waitingCalls() map[string]call {
	calls := map[string]call{
		"GET /api/commitments | of the keeper's calendar": at().asking("limit=1000").listing("commitments",
			func(x *scene) any { return x.stranger.event.ofCalendar }),
		"GET /api/requests | of the keeper's minibuses": at().asking("limit=1000").listing("requests",
			func(x *scene) any { return x.stranger.event.ofBuses }),
	}
	request := func(x *scene) any { return x.event.ofBuses }
	for _, whose := range []string{", its own event", ", another's event"} {
		for what, commitment := range map[string]param{
			"of the keeper's calendar":    func(x *scene) any { return x.event.ofCalendar },
			"of what another administers": func(x *scene) any { return x.event.ofOther },
		} {
			calls["PATCH /api/commitments/{id} | "+what+whose] = at(commitment).
				with(wrapped("commitment", "status", "confirmed")).using()
			calls["DELETE /api/commitments/{id} | "+what+whose] = at(commitment).using()
		}
		name := " | of the keeper's minibuses" + whose
		calls["PATCH /api/requests/{id}"+name] = at(request).with(wrapped("request", "quantity", 2))
		calls["DELETE /api/requests/{id}"+name] = at(request).using()
		calls["POST /api/requests/{id}/allocations"+name] = at(request).sending(func(x *scene) any {
			return object{"elements": []int64{x.bus.ID}, "clashes": "allow"}
		}).using()
	}
	return calls
}

// noteIn are the notes of an event by how the table calls them.
var noteIn = map[string]param{
	"shown to no one": func(x *scene) any { return x.event.hidden },
	"shown to staff":  func(x *scene) any { return x.event.forStaff },
	"shown to pupils": func(x *scene) any { return x.event.forPupils },
	"shown to guests": func(x *scene) any { return x.event.forGuests },
}

func noteCalls() map[string]call {
	calls := map[string]call{"GET /api/notes | any": at().asking("events=1")}
	change := func(x *scene) any { return wrapped("note", "contents", x.school.Unique("Changed")) }
	for shown, note := range noteIn {
		list := at(event).listing("notes", note)
		calls["GET /api/events/{id}/notes | another's, "+shown] = list
		whose := []string{"another's, "}
		if shown == "shown to no one" {
			calls["GET /api/events/{id}/notes | its own, "+shown], whose = list, append(whose, "its own, ")
		}
		for _, path := range []string{" /api/notes/{id} | ", " /notes/{id} | "} {
			for _, who := range whose {
				name := path + who + shown
				calls["GET"+name] = at(note)
				if shown == "shown to no one" || shown == "shown to staff" {
					calls["PUT"+name], calls["PATCH"+name] = at(note).sending(change), at(note).sending(change)
					calls["DELETE"+name] = at(note).using()
				}
			}
		}
	}
	return calls
}

func categoryCalls() map[string]call {
	calls := map[string]call{}
	for name, category := range map[string]param{
		"an ordinary one":      func(x *scene) any { return x.school.Category.ID },
		"a privileged one":     func(x *scene) any { return x.school.Privileged.ID },
		"of the head's school": func(x *scene) any { return x.lesson },
	} {
		calls["GET /api/eventcategories | "+name] = at().listing("eventcategories", category)
		calls["GET /api/eventcategories/{id} | "+name] = at(category)
	}
	return calls
}
