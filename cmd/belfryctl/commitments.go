package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/needle"
)

func commitmentsCommand(s surroundings) *cobra.Command {
	return family("commitments", "Decide on requested commitments",
		"The user has to be an administrator of the elements.", decideCommand(s))
}

func decideCommand(s surroundings) *cobra.Command {
	var filters []string
	var reason string
	var really bool
	command := &cobra.Command{
		Use: "decide STATUS", Short: "Decide on many commitments",
		Long: `Lists the commitments that you may decide on and that match every --filter; at least one is
required. With --really it sets their status to STATUS: confirmed, rejected, noted or requested.
Each is decided separately, oldest event first. Refused decisions, for instance because someone
else has decided meanwhile, are listed with the reason (exit code 4). If the deployment goes
down, the rest are listed as not tried (exit code 1): run the same command again.

A filter is NAME=VALUE:
  status=requested     this status (default requested); separate several by commas
  element='Great Hall' this element: its id, or a name as for find
  type=Location        elements of this type
  category=Trip        events of this category: its name or id
  title=cricket        events with this text in their title; case and accents are ignored
  from=2026-11-28      events that start on this day or later, in the deployment's time zone
  to=2026-11-30        events that start on this day or earlier
  asked-by=a@b.example requested by the user with this address or id`,
		Example: "  belfryctl commitments decide confirmed --filter element='Great Hall' --filter category=Lesson\n" +
			"  belfryctl commitments decide rejected --filter title=disco --reason 'The hall is painted' --really",
		ValidArgs: []string{"confirmed", "rejected", "noted", "requested"},
	}
	flags := command.Flags()
	flags.StringArrayVar(&filters, "filter", nil, "NAME=VALUE that the commitments match; repeatable")
	flags.StringVar(&reason, "reason", "", "reason, shown to the user who asked")
	flags.BoolVar(&really, "really", false, "decide; without it, only list them")
	return administrative(s, command, func(j job) error {
		if !slices.Contains(command.ValidArgs, j.args[0]) {
			return &usageError{fmt.Errorf("%q is not a decision: %s", j.args[0], strings.Join(command.ValidArgs, ", "))}
		}
		query, meets, err := j.readFilters(filters)
		if err != nil {
			return err
		}
		return j.decide(query, meets, map[string]any{"status": j.args[0], "reason": reason}, really)
	})
}

// filter says whether a commitment of the list is chosen.
type filter func(api.DecidedCommitment) bool

// readFilters reads --filter: a query of the list, and what has to hold of each of its commitments.
func (j job) readFilters(texts []string) (query url.Values, all []filter, err error) {
	if len(texts) == 0 {
		return nil, nil, &usageError{errors.New("--filter is missing; status=requested lists all that await you")}
	}
	query = url.Values{"limit": {"1000"}, "include": {"category,decisions"}}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found || value == "" {
			return nil, nil, &usageError{fmt.Errorf("--filter %q is not NAME=VALUE", text)}
		}
		if name == "status" {
			query.Set("status", value)
		}
		f, err := j.filter(name, value)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, f)
	}
	return query, all, nil
}

func (j job) filter(name, value string) (f filter, err error) {
	var id int64
	switch name {
	case "status":
		statuses := strings.Split(strings.ReplaceAll(value, " ", ""), ",")
		f = func(c api.DecidedCommitment) bool { return slices.Contains(statuses, string(c.Status)) }
	case "type":
		f = func(c api.DecidedCommitment) bool { return strings.EqualFold(string(c.Element.EntityType), value) }
	case "asked-by":
		f = func(c api.DecidedCommitment) bool {
			asked := c.Decision.AskedBy
			return strings.EqualFold(asked.Email, value) || fmt.Sprint(asked.ID) == value
		}
	case "title":
		title := needle.New(value)
		f = func(c api.DecidedCommitment) bool { return title.In(c.Event.Body) }
	case "from", "to":
		_, err = dayOfFlag("--filter "+name+": ", value)
		f = func(c api.DecidedCommitment) bool {
			day, _, _ := strings.Cut(c.Event.StartsAt, "T")
			return day == value || (day > value) == (name == "from")
		}
	case "category":
		id, err = j.category(value)
		f = func(c api.DecidedCommitment) bool { return c.Event.Category.ID == id }
	case "element":
		id, err = j.namedID(value)
		f = func(c api.DecidedCommitment) bool { return c.Element.ID == id }
	default:
		err = &usageError{fmt.Errorf("--filter: unknown name %q; see --help", name)}
	}
	return f, err
}

// decide lists the commitments of which all filters hold and, with really, decides on them one after the other.
func (j job) decide(query url.Values, filters []filter, decision map[string]any, really bool) error {
	all, err := collect(j.c.List(j.ctx, "/api/commitments", "commitments", query))
	if err != nil {
		return err
	}
	var chosen []client.Record
	for _, c := range all {
		typed := client.As[api.DecidedCommitment](c)
		if !slices.ContainsFunc(filters, func(f filter) bool { return !f(typed) }) {
			c["outcome"] = "would be " + decision["status"].(string)
			chosen = append(chosen, c)
		}
	}
	refused := 0
	if really {
		refused, err = j.decideEach(chosen, decision)
	}
	if err = cmp.Or(err, j.decisions(chosen)); err != nil {
		return err
	}
	if j.as.table() {
		fmt.Fprint(j.s.out, summary(len(chosen), refused, really))
	}
	if refused > 0 {
		return partly("some commitments were not decided")
	}
	return nil
}

// decideEach decides on all, notes the outcome in each, and counts the refused. An error ends the run, as when the
// deployment can't be reached.
func (j job) decideEach(chosen []client.Record, decision map[string]any) (refused int, err error) {
	for i, c := range chosen {
		_, err := j.c.Change(j.ctx, "/api/commitments/"+c.Text("id"), "commitment", decision)
		var answer *client.Error
		refusal := errors.As(err, &answer)
		switch {
		case err == nil, refusal && answer.Code == http.StatusConflict && j.hasDecided(c, decision):
			c["outcome"], c["status"] = "decided", decision["status"]
		case refusal && answer.Code >= 400 && answer.Code < 500 && j.ctx.Err() == nil:
			c["outcome"] = "refused: " + cmp.Or(answer.Message, answer.Error())
			refused++
		default:
			for _, left := range chosen[i:] {
				left["outcome"] = "not tried"
			}
			return refused, err
		}
	}
	return refused, nil
}

// hasDecided says whether a commitment has become what this user decided: a call whose answer was lost is made again,
// and then refused. When it can't be read, it has not.
func (j job) hasDecided(c client.Record, decision map[string]any) bool {
	if c["status"] == decision["status"] {
		return false
	}
	event, err := j.c.Get(j.ctx, onePath(eventPath, c.Inner("event").ID("id"))+"?include=decisions", "event")
	if err != nil {
		return false
	}
	me, err := j.c.WhoAmI(j.ctx)
	return err == nil && slices.ContainsFunc(event.Records("commitments"), func(now client.Record) bool {
		of := client.As[api.DecidedCommitment](now).Decision
		return now.ID("id") == c.ID("id") && now["status"] == decision["status"] &&
			(now["status"] == "requested" || of.DecidedBy.ID == me && of.Reason == decision["reason"])
	})
}

// decisions prints commitments with their outcomes.
func (j job) decisions(chosen []client.Record) error {
	const heads = "id,element,starts,body,asked by,outcome;event_id,category,reason"
	return list(j, "commitments", chosen, heads, func(r client.Record) []any {
		c := client.As[api.DecidedCommitment](r)
		return []any{c.ID, c.Element.Name, timesOf(c.Event).start(), c.Event.Body, c.Decision.AskedBy.Name,
			r.Text("outcome"), c.Event.ID, c.Event.Category.Name, c.Decision.Reason}
	})
}

func summary(chosen, refused int, really bool) string {
	if !really {
		return fmt.Sprintf("\n%s listed, none decided; --really decides\n", number(chosen))
	}
	return fmt.Sprintf("\n%s decided, %s refused\n", number(chosen-refused), number(refused))
}
