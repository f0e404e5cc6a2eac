// Command generated makes the README's walk with a client that oapi-codegen has made of Belfry's own document. It is a
// module of its own, as a stranger's program would be. The environment has BELFRY (the address), TEACHER and SCRIPT
// (their uuids).
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/cookiejar"
	"os"
	"time"

	"github.com/oapi-codegen/runtime/types"

	"walk.example/generated/api"
)

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	teacher, err := newCaller(ctx, "TEACHER")
	must(err)
	made := teacher.book()
	teacher.look(made)
	teacher.series()
	script, err := newCaller(ctx, "SCRIPT")
	must(err)
	script.switchUser()
	teacher.remove(made)
}

// caller is a logged-in user's client. Anything but success ends the program.
type caller struct {
	ctx context.Context
	api *api.ClientWithResponses
}

func newCaller(ctx context.Context, user string) (caller, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return caller{}, err
	}
	client, err := api.NewClientWithResponses(os.Getenv("BELFRY"), api.WithHTTPClient(&http.Client{Jar: jar}))
	if err != nil {
		return caller{}, err
	}
	c := caller{ctx, client}
	r, err := client.LogInByBodyWithResponse(ctx, api.LogInByBodyJSONRequestBody{Uuid: os.Getenv(user)})
	answered(r, err)
	return c, nil
}

// element returns the id of the element with a name.
func (c caller) element(name string) api.Id {
	r, err := c.api.FindElementsWithResponse(c.ctx, &api.FindElementsParams{Name: &name})
	answered(r, err)
	return r.JSON200.Elements[0].Id
}

func (c caller) category() *api.GivenReference {
	r, err := c.api.ListCategoriesWithResponse(c.ctx, nil)
	answered(r, err)
	for _, category := range r.JSON200.Eventcategories {
		if category.Name == "Trip" {
			reference := &api.GivenReference{}
			must(reference.FromGivenId(given(category.Id)))
			return reference
		}
	}
	log.Fatal("there is no category Trip")
	return nil
}

// given returns an id as requests have it.
func given(id api.Id) (g api.GivenId) {
	must(g.FromId(id))
	return g
}

// create makes an event, whose times are texts, of the elements.
func (c caller) create(
	body, starts, ends string, repeat *api.Repeat, ids ...api.Id,
) api.CreateEvent200JSONResponseBody {
	var all api.GivenElements0
	for _, id := range ids {
		all = append(all, given(id))
	}
	elements := &api.GivenElements{}
	must(elements.FromGivenElements0(all))
	r, err := c.api.CreateEventWithResponse(c.ctx, nil, api.CreateEventJSONRequestBody{
		Event: api.CreateEventJSONBody_Event{
			Body: &body, EventCategoryId: c.category(), StartsAtText: &starts, EndsAtText: &ends},
		Elements: elements, Repeat: repeat,
	})
	answered(r, err)
	return *r.JSON200
}

func (c caller) book() api.EventAnswer {
	bus := c.element("Minibuses")
	answer, err := c.create("Bletchley Park", "2026-11-28 09:30", "2026-11-28 16:00", nil,
		c.element("HGO - Hannah Gordon"), c.element("7 Mathematics 1"), c.element("Great Hall"), bus, bus,
		c.element("Public Calendar")).AsCreateEvent200JSONResponseBody0()
	must(err)
	fmt.Println("booked", answer.Event.Body, answer.Event.StartsAt.Format(time.RFC3339), len(answer.Failures))
	for _, commitment := range answer.Event.Commitments {
		fmt.Println(commitment.Status, commitment.Element.Name)
	}
	for _, request := range answer.Event.Requests {
		fmt.Println(request.Quantity, request.NumAllocated, request.Element.Name)
	}
	return answer.Event
}

func (c caller) look(made api.EventAnswer) {
	day := types.Date{Time: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)}
	listed, err := c.api.ListCommitmentsWithResponse(c.ctx, c.element("HGO - Hannah Gordon"),
		&api.ListCommitmentsParams{StartDate: &day})
	answered(listed, err)
	for _, commitment := range listed.JSON200.Commitments {
		fmt.Println("day", commitment.Event.Body)
	}
	text, pupil := "bletchley", c.element("7 Mathematics 1")
	found, err := c.api.SearchEventsWithResponse(c.ctx, &api.SearchEventsParams{Text: &text, Element: &pupil})
	answered(found, err)
	for _, event := range found.JSON200.Events {
		fmt.Println("found", event.Body, event.Id == *made.Id)
	}
	kind, starts, ends := api.ListFreeParamsTypeLocation, "2026-11-28T10:00", "2026-11-28T11:00"
	free, err := c.api.ListFreeWithResponse(c.ctx,
		&api.ListFreeParams{Type: &kind, StartsAt: &starts, EndsAt: &ends})
	answered(free, err)
	rooms, err := free.JSON200.AsListFree200JSONResponseBody0()
	must(err)
	for _, room := range rooms.Elements {
		if room.Name == "Great Hall" || room.Name == "Sports Hall" {
			fmt.Println("free", room.Name)
		}
	}
	contents := "Bring a *packed lunch*."
	noted, err := c.api.AddNoteWithResponse(c.ctx, *made.Id, nil,
		api.AddNoteJSONRequestBody{Note: api.NoteFields{Contents: &contents}})
	answered(noted, err)
	fmt.Print("note ", noted.JSON200.Note.FormattedContents)
}

func (c caller) series() {
	answer, err := c.create("Choir", "2027-01-12 16:00", "2027-01-12 17:00",
		&api.Repeat{Rule: "FREQ=WEEKLY;BYDAY=TU;COUNT=3"}, c.element("Great Hall")).AsCreateEvent200JSONResponseBody1()
	must(err)
	fmt.Println("series of", len(answer.Series.Events))
	series, err := c.api.GetSeriesWithResponse(c.ctx, *answer.Series.Id, nil)
	answered(series, err)
	scope := api.DeleteEventParamsScope("all")
	r, err := c.api.DeleteEventWithResponse(c.ctx, series.JSON200.Series.Events[0].Event.Id,
		&api.DeleteEventParams{Scope: &scope})
	answered(r, err)
}

func (c caller) switchUser() {
	email := "hannah.gordon@school.example"
	found, err := c.api.FindUsersWithResponse(c.ctx, &api.FindUsersParams{Email: &email})
	answered(found, err)
	body := api.SwitchUserJSONRequestBody{}
	body.Session.UserId = given(found.JSON200.Users[0].Id)
	switched, err := c.api.SwitchUserWithResponse(c.ctx, 1, body)
	answered(switched, err)
	who, err := c.api.WhoAmIWithResponse(c.ctx, 1)
	answered(who, err)
	fmt.Println("switched", who.JSON200.UserId == found.JSON200.Users[0].Id)
	back, err := c.api.RevertUserWithResponse(c.ctx, 1, api.RevertUserJSONRequestBody{})
	answered(back, err)
}

func (c caller) remove(made api.EventAnswer) {
	before, err := c.api.ListChangesWithResponse(c.ctx, nil)
	answered(before, err)
	r, err := c.api.DeleteEventWithResponse(c.ctx, *made.Id, nil)
	answered(r, err)
	gone, err := c.api.GetEventWithResponse(c.ctx, *made.Id, nil)
	must(err)
	fmt.Println("deleted", gone.JSON404 != nil)
	since := before.JSON200.Next
	changes, err := c.api.ListChangesWithResponse(c.ctx, &api.ListChangesParams{After: &since})
	answered(changes, err)
	for _, change := range changes.JSON200.Changes {
		if change.Id == *made.Id && change.Kind == api.ChangeKindEvent {
			fmt.Println("change", change.Change)
		}
	}
}

// answered ends the program unless an answer is a success.
func answered(r interface {
	StatusCode() int
	GetBody() []byte
}, err error) {
	must(err)
	if r.StatusCode() != http.StatusOK {
		log.Fatalf("%d %s", r.StatusCode(), r.GetBody())
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
