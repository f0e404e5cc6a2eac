package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// assisted is an assistant that is connected to belfryctl mcp as a user.
type assisted struct{ session *mcp.ClientSession }

func (o office) assisted(t *testing.T) assisted {
	t.Helper()
	self, err := os.Executable()
	errortest.None(t, err)
	command := exec.Command(self, "mcp")
	command.Args[0] = "belfryctl"
	for name, value := range o.env {
		command.Env = append(command.Environ(), name+"="+value)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	errortest.None(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return assisted{session}
}

// calls calls a tool, and decodes its answer; it returns the text of an error.
func (a assisted) calls(t *testing.T, tool string, arguments object, answer any) (refused string) {
	t.Helper()
	result, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error()
	}
	if result.IsError {
		return result.Content[0].(*mcp.TextContent).Text
	}
	text, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(text, answer)
	}
	errortest.None(t, err, "%s %s", tool, text)
	return ""
}

// TestInterface_MCP_HasSixTools, which an assistant calls, with the real services.
func TestInterface_MCP_HasSixTools(t *testing.T) {
	t.Parallel()
	o, chess, _ := everyDay(t)
	a := o.assisted(t)
	tools, err := a.session.ListTools(t.Context(), nil)
	errortest.None(t, err)
	names := sequence.Map(tools.Tools, func(tool *mcp.Tool) string { return tool.Name })
	slices.Sort(names)
	valuetest.Same(t, strings.Join(names, " "), "book day find free move who_decides")
	is := func(refused, want string) {
		t.Helper()
		if want == "" && refused != "" || !strings.Contains(refused, want) {
			t.Errorf("refused %q, want %q", refused, want)
		}
	}

	var found struct {
		Events []struct {
			ID   json.Number
			Body string
		}
	}
	is(a.calls(t, "find", object{"text": "chess"}, &found), "")
	valuetest.Holds(t, len(found.Events) == 1 && found.Events[0].ID.String() == chess, "%+v", found)
	is(a.calls(t, "find", object{"text": "c"}, &found), "text has fewer than 3 characters")
	is(a.calls(t, "find", object{"title": "chess"}, &found), "title")
	is(a.calls(t, "find", object{"text": "nothing here"}, &found), "")

	var free struct{ Elements []struct{ Name string } }
	at := object{"type": "Location", "from": "2026-12-02 15:00", "to": "2026-12-02 16:00"}
	is(a.calls(t, "free", at, &free), "")
	valuetest.Holds(t, len(free.Elements) == 1 && free.Elements[0].Name == "Gym", "%+v", free)
	var day struct {
		Commitments []struct{ Event struct{ Body string } }
	}
	is(a.calls(t, "day", object{"element": "anna", "day": "2026-12-02"}, &day), "")
	valuetest.Holds(t, len(day.Commitments) == 1 && day.Commitments[0].Event.Body == "House chess", "%+v", day)
	is(a.calls(t, "day", object{"element": "nowhere"}, &day), "no element has")

	var deciders struct {
		Element        struct{ Name string }
		Administrators []struct{ Name string }
	}
	o.does(t, "administrators", "add", "Location:1", "1")
	is(a.calls(t, "who_decides", object{"element": "hall"}, &deciders), "")
	valuetest.Holds(t, deciders.Element.Name == "Great Hall" && len(deciders.Administrators) == 1, "%+v", deciders)
	cora := o.newUser(t, "Cora Dale", "cora@school.example", "--grant", "can_api")
	is(cora.assisted(t).calls(t, "who_decides", object{"element": "hall"}, &deciders), "403")
}

// TestInterface_MCP_WritesWhatADryRunHasShown: a plan is good for one write, of the same arguments.
func TestInterface_MCP_WritesWhatADryRunHasShown(t *testing.T) {
	t.Parallel()
	o, chess, drama := everyDay(t)
	a := o.assisted(t)
	type written struct {
		Plan     string
		Event    struct{ ID json.Number }
		Failures []any
	}
	for _, c := range []struct {
		tool      string
		arguments object
		done      func() bool
	}{
		{"book", object{"title": "Quiz", "elements": []string{"Gym", "Great Hall"}, "category": "Club",
			"from": "2026-12-02 15:00", "to": "2026-12-02 15:30"},
			func() bool { return o.does(t, "find", "quiz", "-o", "name") != "" }},
		{"move", object{"event": "drama", "on": "2026-12-02", "when": "18:00"},
			func() bool { return strings.Contains(o.does(t, "find", "drama"), "18:00") }},
	} {
		var dry, wet written
		if refused := a.calls(t, c.tool, c.arguments, &dry); refused != "" || dry.Plan == "" || c.done() {
			t.Fatalf("%s: %q %+v", c.tool, refused, dry)
		}
		c.arguments["plan"] = dry.Plan
		other := maps.Clone(c.arguments)
		other["when"], other["title"] = "19:00", "Other"
		delete(other, map[string]string{"book": "when", "move": "title"}[c.tool])
		for range 2 {
			refused := a.calls(t, c.tool, other, &wet)
			valuetest.Has(t, refused, "not from a dry run with these arguments", "%s of another", c.tool)
			if c.tool == "book" && c.done() {
				t.Error("something was booked")
			}
		}
		if refused := a.calls(t, c.tool, c.arguments, &wet); refused != "" || wet.Plan != "" || !c.done() {
			t.Errorf("%s: %q %+v", c.tool, refused, wet)
		}
		if c.tool == "book" && (len(dry.Failures) != 1 || len(wet.Failures) != 1) {
			t.Errorf("Great Hall is taken: %+v %+v", dry, wet)
		}
		valuetest.Has(t, a.calls(t, c.tool, c.arguments, &wet), "not from a dry run", "%s a second time", c.tool)
	}
	// A plan was good for an event that was moved since: to 18:00 of another day, and of another length.
	var w written
	later := object{"event": drama, "when": "17:30"}
	valuetest.MustSame(t, a.calls(t, "move", later, &w), "", "a dry run")
	o.does(t, "move", drama, "2026-12-08")
	later["plan"] = w.Plan
	valuetest.Has(t, a.calls(t, "move", later, &w), "the event has been moved since", "of an event that was moved")
	many := object{"title": "Quiz", "elements": slices.Repeat([]string{"Gym"}, maxNames+1), "category": "Club",
		"from": "2026-12-09"}
	valuetest.Has(t, a.calls(t, "book", many, &w), "elements: 101 are too many")
	valuetest.Same(t, a.calls(t, "move", object{"event": drama, "when": "16:00"}, &w), "", "a free gym")
	valuetest.Has(t, a.calls(t, "move", object{"event": chess, "when": "soon"}, &w), "is neither a day")
}

// TestInterface_MCP_KeepsAThousandPlans at most.
func TestInterface_MCP_KeepsAThousandPlans(t *testing.T) {
	p, j := &plans{made: map[string]string{}}, job{ctx: t.Context()}
	for i := range maxPlans + 1 {
		if _, err := p.run(j, "", i, func(job) error { return nil }); err != nil || len(p.made) > maxPlans {
			t.Fatalf("%d: %v, %d plans", i, err, len(p.made))
		}
	}
}
