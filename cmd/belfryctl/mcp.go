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
		Use: "mcp", Short: "Serve tools for AI assistants over standard input and output",
		Long: `Serves the Model Context Protocol with the tools find, free, day, book, move and who_decides,
and the rights of the user who logs in. book and move first answer with what they would write and
a plan; they write only when called again with that plan.`,
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
			"things. Give them by name, by an unambiguous part of it, or by id. Times are local, " +
			"such as 2026-11-28 14:00."})
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	add(server, j, &mcp.Tool{Name: "find", Annotations: reads,
		Description: "Find events by a part of the title, an element, a category, days, or the status of an entry. " +
			"At least one of these is needed."}, findTool)
	add(server, j, &mcp.Tool{Name: "free", Annotations: reads,
		Description: "List the rooms, staff or things that are free from one time to another, or during an event."},
		freeTool)
	add(server, j, &mcp.Tool{Name: "day", Annotations: reads,
		Description: "List the commitments of a person, room, group or thing on a day."}, dayTool)
	add(server, j, &mcp.Tool{Name: "who_decides", Annotations: reads,
		Description: "List the users who decide on requests for an element. Without any, it needs no approval. Only " +
			"administrators may ask."}, whoDecidesTool)
	shown := &plans{made: map[string]string{}}
	const dryRunFirst = " Without a plan it is a dry run, which writes nothing and answers with a plan. Show it to " +
		"the user; when the user agrees, call again with the same arguments and that plan."
	destructive := true
	add(server, j, &mcp.Tool{Name: "book", Annotations: &mcp.ToolAnnotations{},
		Description: "Create an event with elements; the user owns it. Elements that are already booked are " +
			"left out, and listed in failures." + dryRunFirst}, shown.bookTool)
	add(server, j, &mcp.Tool{Name: "move", Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive},
		Description: "Move an event to another day or time, unless one of its elements is already booked then." +
			dryRunFirst},
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
	Element  string `json:"element,omitempty" jsonschema:"only events with this element or a group that contains it"`
	Category string `json:"category,omitempty" jsonschema:"the name or id of its category"`
	From     string `json:"from,omitempty" jsonschema:"only events on this day (2026-11-28) or later"`
	To       string `json:"to,omitempty" jsonschema:"only events on this day or earlier"`
	Status   string `json:"status,omitempty" jsonschema:"only with a requested, confirmed, rejected or noted commitment"`
}

type foundEvents struct {
	Events []client.Record `json:"events"`
	More   bool            `json:"more" jsonschema:"whether there are more events"`
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
	From  string `json:"from,omitempty" jsonschema:"start: 2026-11-28 10:00"`
	To    string `json:"to,omitempty" jsonschema:"end"`
	Event string `json:"event,omitempty" jsonschema:"id of an event, instead of from and to"`
	Group string `json:"group,omitempty" jsonschema:"only members of this group during the whole time"`
	Near  string `json:"near,omitempty" jsonschema:"list those first that share the most groups with this element"`
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
	Day     string `json:"day,omitempty" jsonschema:"2026-11-28 (default today)"`
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
			return "", errors.New("this plan is not from a dry run with these arguments, or the event has been moved " +
				"since; call without a plan first")
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
	From     string   `json:"from" jsonschema:"start: 2026-11-28 14:00, or a day"`
	To       string   `json:"to,omitempty" jsonschema:"end; for whole days, the last day"`
	AllDay   bool     `json:"all_day,omitempty" jsonschema:"whether it lasts whole days"`
	Plan     string   `json:"plan,omitempty" jsonschema:"plan from the dry run; without it, this is the dry run"`
}

// written is an event as it was written or, with a plan, would be.
type written struct {
	Plan     string          `json:"plan,omitempty" jsonschema:"nothing has been written; this plan writes it"`
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
	Event string `json:"event" jsonschema:"id of the event, or an unambiguous part of its title"`
	On    string `json:"on,omitempty" jsonschema:"day of the event, if the title is ambiguous"`
	When  string `json:"when" jsonschema:"new day (2026-11-28), time (15:00) or both; what is missing stays the same"`
	Until string `json:"until,omitempty" jsonschema:"new end; without it, the event keeps its length"`
	Plan  string `json:"plan,omitempty" jsonschema:"plan from the dry run; without it, this is the dry run"`
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
