package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/service/release"
)

func mcpCommand(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "mcp", Short: "Serve tools for assistants, over standard input and output",
		Long: `Serves the Model Context Protocol: find, free, day, book, move and who_decides, as the user of
the login. book and move write only what a dry run has shown before.`,
		Example: "  belfryctl mcp --url https://belfry.school.example --uuid-file ~/.belfry-uuid",
	}
	return administrative(s, command, func(j job) error {
		out := struct {
			io.Writer
			io.Closer
		}{s.out, io.NopCloser(nil)}
		return assistant(j).Run(j.ctx, &mcp.IOTransport{Reader: io.NopCloser(s.in), Writer: out})
	}, asTable)
}

// assistant returns the server of the tools.
func assistant(j job) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "belfry", Title: "Belfry", Version: release.Version()},
		&mcp.ServerOptions{Instructions: "The calendar of a school. Elements are its people, rooms, groups and " +
			"things. They are named by their name, a part of it that no other has, or their id. Times are local, " +
			"such as 2026-11-28 14:00."})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	add(server, j, &mcp.Tool{Name: "find", Annotations: reads,
		Description: "Find events by a part of the title, an element, a category, days, or the status of an entry. " +
			"At least one of these is needed."}, findTool)
	add(server, j, &mcp.Tool{Name: "free", Annotations: reads,
		Description: "List the rooms, staff or things that are free from one time to another, or during an event."},
		freeTool)
	add(server, j, &mcp.Tool{Name: "day", Annotations: reads,
		Description: "List what a person, room, group or thing is committed to on a day."}, dayTool)
	add(server, j, &mcp.Tool{Name: "who_decides", Annotations: reads,
		Description: "List the users who decide on requests for an element. With none, it is booked at once. Only " +
			"administrators may ask."}, whoDecidesTool)
	shown := &plans{made: map[string]string{}}
	const dryRunFirst = " Without a plan it is a dry run, which writes nothing and answers with a plan. Show it to " +
		"the user; when the user agrees, call again with the same arguments and that plan."
	destructive := true
	add(server, j, &mcp.Tool{Name: "book", Annotations: &mcp.ToolAnnotations{},
		Description: "Make an event of elements, which the user owns. Elements that are taken are left out, and are " +
			"in failures." + dryRunFirst}, shown.bookTool)
	add(server, j, &mcp.Tool{Name: "move", Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive},
		Description: "Move an event to another day or time, unless one of its elements is taken then." + dryRunFirst},
		shown.moveTool)
	return server
}

// add adds a tool. Its errors are results that the assistant reads.
func add[In, Out any](server *mcp.Server, j job, tool *mcp.Tool, work func(job, In) (Out, error)) {
	handler := func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		call := j
		call.ctx = ctx
		out, err := work(call, in)
		return nil, out, err
	}
	mcp.AddTool(server, tool, handler)
}

// findArguments are the conditions of a search, of which one is needed.
type findArguments struct {
	Text     string `json:"text,omitempty" jsonschema:"a part of the title, of at least three characters"`
	Element  string `json:"element,omitempty" jsonschema:"the event has this element, itself or through a group"`
	Category string `json:"category,omitempty" jsonschema:"the name or id of its category"`
	From     string `json:"from,omitempty" jsonschema:"the first day (2026-11-28) that it may touch"`
	To       string `json:"to,omitempty" jsonschema:"the last day that it may touch"`
	Status   string `json:"status,omitempty" jsonschema:"an entry is requested, confirmed, rejected or noted"`
}

type foundEvents struct {
	Events []client.Record `json:"events"`
	More   bool            `json:"more" jsonschema:"there are more events than these"`
}

func findTool(j job, in findArguments) (foundEvents, error) {
	const most = 50
	events, more, err := j.find(searched{findArguments: in, most: most}, true)
	return foundEvents{some(events), more}, err
}

// some returns records as a list, never nil.
func some(records []client.Record) []client.Record { return append([]client.Record{}, records...) }

// freeArguments are a time, or that of an event, with what is asked for then.
type freeArguments struct {
	Type  string `json:"type" jsonschema:"Location, Staff or Property"`
	From  string `json:"from,omitempty" jsonschema:"when the time begins: 2026-11-28 10:00"`
	To    string `json:"to,omitempty" jsonschema:"when the time ends"`
	Event string `json:"event,omitempty" jsonschema:"the id of an event, in place of from and to"`
	Group string `json:"group,omitempty" jsonschema:"only what is in this group all the time"`
	Near  string `json:"near,omitempty" jsonschema:"first what shares the most groups with this element"`
}

type freeElements struct {
	Elements []client.Record `json:"elements"`
}

func freeTool(j job, in freeArguments) (freeElements, error) {
	elements, err := j.free(in)
	return freeElements{some(elements)}, err
}

type dayArguments struct {
	Element string `json:"element" jsonschema:"the element's name or id"`
	Day     string `json:"day,omitempty" jsonschema:"2026-11-28; today when not given"`
}

type dayOfElement struct {
	Element     client.Record   `json:"element"`
	Commitments []client.Record `json:"commitments"`
}

func dayTool(j job, in dayArguments) (dayOfElement, error) {
	element, commitments, err := j.commitmentsOf(in.Element, queryOf(map[string]string{"start_date": in.Day}))
	return dayOfElement{element, some(commitments)}, err
}

type whoDecidesArguments struct {
	Element string `json:"element" jsonschema:"the element's name or id"`
}

type deciders struct {
	Element        client.Record   `json:"element"`
	Administrators []client.Record `json:"administrators"`
}

func whoDecidesTool(j job, in whoDecidesArguments) (deciders, error) {
	element, err := j.named(in.Element)
	if err != nil {
		return deciders{}, err
	}
	path := onePath(elementPath, element.ID("id")) + "/administrators"
	users, err := collect(j.c.List(j.ctx, path, "administrators", nil))
	return deciders{element, some(users)}, err
}

// plans are the writes that dry runs have shown, by the plan of the answer. A plan is good for one write.
type plans struct {
	mu   sync.Mutex
	made map[string]string
}

// maxPlans bounds those that are kept.
const maxPlans = 1000

// run does a write: without a plan as a dry run, which makes one, and with the plan of the same write for good.
func (p *plans) run(j job, plan string, write any, do func(job) error) (made string, err error) {
	text, err := json.Marshal(write)
	if err != nil {
		return "", err
	}
	if plan != "" {
		p.mu.Lock()
		known := p.made[plan] == string(text)
		if known {
			delete(p.made, plan)
		}
		p.mu.Unlock()
		if !known {
			return "", errors.New("no dry run with these arguments made this plan, or the event was moved since; " +
				"call without a plan first")
		}
		return "", do(j)
	}
	if err := do(j.dry()); err != nil {
		return "", err
	}
	made = rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.made) == maxPlans {
		clear(p.made)
	}
	p.made[made] = string(text)
	return made, nil
}

type bookArguments struct {
	Title    string   `json:"title" jsonschema:"the event's title"`
	Elements []string `json:"elements,omitempty" jsonschema:"the names or ids of its people, rooms, groups and things"`
	Category string   `json:"category" jsonschema:"the name or id of its category"`
	From     string   `json:"from" jsonschema:"when it begins: 2026-11-28 14:00, or a day"`
	To       string   `json:"to,omitempty" jsonschema:"when it ends; of whole days the last one"`
	AllDay   bool     `json:"all_day,omitempty" jsonschema:"whether it takes whole days"`
	Plan     string   `json:"plan,omitempty" jsonschema:"the plan of the dry run; without it this is one"`
}

// written is an event as it was written or, with a plan, would be.
type written struct {
	Plan     string          `json:"plan,omitempty" jsonschema:"nothing is written yet; this plan writes it"`
	Event    client.Record   `json:"event"`
	Failures []client.Record `json:"failures,omitempty" jsonschema:"the elements that are left out, with the reasons"`
}

// maxNames bounds the elements of a booking, each of which is looked up by its name.
const maxNames = 100

func (p *plans) bookTool(j job, in bookArguments) (w written, err error) {
	if len(in.Elements) > maxNames {
		return w, fmt.Errorf("elements: %d are too many; at most %d", len(in.Elements), maxNames)
	}
	plan := in.Plan
	in.Plan = ""
	j.args = append([]string{in.Title}, in.Elements...)
	of := booking{from: in.From, to: in.To, category: in.Category, allDay: in.AllDay}
	w.Plan, err = p.run(j, plan, in, func(j job) error {
		booked, err := j.book(of, false)
		w.Event, w.Failures = booked.Event, booked.Failures
		return err
	})
	return w, err
}

type moveArguments struct {
	Event string `json:"event" jsonschema:"the event's id, or a part of its title that no other event has"`
	On    string `json:"on,omitempty" jsonschema:"the day of the event, where the title alone does not say which it is"`
	When  string `json:"when" jsonschema:"the new day (2026-11-28), time (15:00) or both; what it does not say stays"`
	Until string `json:"until,omitempty" jsonschema:"the new end; without it the length stays"`
	Plan  string `json:"plan,omitempty" jsonschema:"the plan of the dry run; without it this is one"`
}

func (p *plans) moveTool(j job, in moveArguments) (w written, err error) {
	event, err := j.event(in.Event, in.On)
	if err != nil {
		return w, err
	}
	plan := in.Plan
	in.Plan, in.Event, in.On = "", event.Text("id"), ""
	shown := []any{in, event["starts_at"], event["ends_at"], event["all_day"]} // when may be relative to its times
	w.Plan, err = p.run(j, plan, shown, func(j job) (err error) {
		w.Event, err = j.move(event, move{when: in.When, until: in.Until})
		return err
	})
	if err != nil {
		return w, fmt.Errorf("event %s: %w", eventText(event), err)
	}
	return w, nil
}
