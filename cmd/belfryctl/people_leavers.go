package main

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// leaverFlags are the flags of leavers.
type leaverFlags struct {
	eraseFlags
	before, entityType, school string
}

func listLeavers(s surroundings) *cobra.Command {
	var f leaverFlags
	command := &cobra.Command{
		Use:   "leavers --before DATE",
		Short: "List or erase the people who left before a day",
		Long: `Lists the staff and pupils who are no longer current and whose last membership of any group ended
before the day. With --school, only those who belonged to that school on their last day, directly
or through other groups. --really erases them one after another, like people erase; an
interrupted command can be repeated.

People without a last day, because a membership has no end or they were never in a group, are not
erased. 20 of their ids are listed below the table (all with -o json, as no_last_day): end their
memberships (belfryctl members end), or erase them one by one.`,
		Example: "  belfryctl people leavers --before 2020-09-01 --type pupil\n" +
			"  belfryctl people leavers --before 2020-09-01 --school Group:north --really --list erased.json",
	}
	flags := command.Flags()
	flags.StringVar(&f.before, "before", "", "the day (YYYY-MM-DD); required")
	flags.StringVar(&f.entityType, "type", "", "only this type: staff or pupil")
	flags.StringVar(&f.school, "school", "", "only people who left this school, an id or a key (Group:north)")
	f.add(flags, "erase them; without it, only list them", "as for people erase")
	return administrative(s, command, func(j job) error { return j.leavers(f) })
}

func (j job) leavers(f leaverFlags) error {
	if _, err := dayOfFlag("--before: ", f.before); err != nil {
		return err
	}
	types := map[string][]string{"": {"Staff", "Pupil"}, "staff": {"Staff"}, "pupil": {"Pupil"}}
	if types[strings.ToLower(f.entityType)] == nil {
		return &usageError{fmt.Errorf("--type: %q is neither staff nor pupil", f.entityType)}
	}
	school, err := j.schoolOf(f.school)
	if err != nil {
		return err
	}
	all, unknown, err := j.whoLeft(types[strings.ToLower(f.entityType)], f.before, school)
	if err != nil {
		return err
	}
	kept, err := f.kept(j)
	if err != nil {
		return err
	}
	fine := true
	for _, e := range all {
		e["outcome"] = "would be erased"
		if f.really {
			erased, err := j.eraseOne(e, client.As[api.ElementRecord](e).ID, "", f.eraseFlags, kept)
			if err != nil {
				return err
			}
			fine = fine && erased
		}
	}
	if err := j.printLeavers(all, unknown); err != nil || fine {
		return err
	}
	return errNotErased
}

// schoolOf returns the school that --school names, current or not; 0 when it names none.
func (j job) schoolOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	id, err := j.elementID(text)
	if err != nil {
		return 0, err
	}
	e, err := j.c.Get(j.ctx, onePath(elementPath, id), "element")
	if err == nil && client.As[api.ElementRecord](e).School != true {
		err = fmt.Errorf("%s is not a school", text)
	}
	return id, err
}

// printLeavers prints who left, and the ids of the people without a known day.
func (j job) printLeavers(all []client.Record, unknown []int64) error {
	if j.as.data() {
		return j.object(map[string]any{
			"leavers": append([]client.Record{}, all...), "no_last_day": append([]int64{}, unknown...),
		})
	}
	err := list(j, "leavers", all, "id,entity_type,name,left,outcome", func(r client.Record) []any {
		e := client.As[api.ElementRecord](r)
		return []any{e.ID, e.EntityType, e.Name, r["left"], r["outcome"]}
	})
	if err != nil || len(unknown) == 0 || !j.as.table() {
		return err
	}
	const shown = 20
	ids := unknown[:min(len(unknown), shown)]
	who, more := "former people have", ""
	if len(unknown) == 1 {
		who = "former person has"
	}
	if rest := len(unknown) - len(ids); rest > 0 {
		more = fmt.Sprintf(" and %s more; -o json has all", number(rest))
	}
	_, err = fmt.Fprintf(j.s.out, "%s %s no last day: %s%s\n", number(len(unknown)), who,
		strings.ReplaceAll(spaced(ids), " ", ", "), more)
	return err
}

// whoLeft returns the persons of the types who are no longer current, are not erased, and left before the day; and the
// ids, in order, of the people without a known day. With a school only those who left that school.
func (j job) whoLeft(types []string, before string, school int64) (all []client.Record, unknown []int64, _ error) {
	erasures := map[int64]any{} // their states
	for e, err := range client.All[api.Erasure](j.c.List(j.ctx, erasuresPath, "erasures", nil)) {
		if err != nil {
			return nil, nil, err
		}
		erasures[e.ElementID] = e.State
	}
	stays, err := j.stays()
	if err != nil {
		return nil, nil, err
	}
	for _, entityType := range types {
		query := url.Values{"entity_type": {entityType}, "current": {"false"}}
		for e, err := range j.c.List(j.ctx, elementPath, "elements", query) {
			if err != nil {
				return nil, nil, err
			}
			id := client.As[api.ElementRecord](e).ID
			last := stays.lastDay(id)
			switch {
			case erasures[id] == "done", school != 0 && !stays.within(id, school, last):
			case last != "" && last < before:
				e["left"] = last
				all = append(all, e)
			case last == "" && erasures[id] == nil:
				unknown = append(unknown, id)
			}
		}
	}
	slices.Sort(unknown)
	return all, unknown, nil
}

// stay is a span in which a member was in a group; without a first or last day it has no beginning or end.
type stay struct {
	group       int64
	first, last string
}

// stays are those of each member.
type stays map[int64][]stay

// stays returns all that there are.
func (j job) stays() (stays, error) {
	all := stays{}
	records := j.c.List(j.ctx, "/api/admin/export/memberships", "memberships", nil)
	for m, err := range client.All[api.ExportedMembership](records) {
		if err != nil {
			return nil, err
		}
		for _, span := range m.Spans {
			all[m.MemberID] = append(all[m.MemberID], stay{m.GroupID, span.FirstDay, span.LastDay})
		}
	}
	return all, nil
}

// lastDay returns the last day on which a member was in a group; "" when it was in none, or is in one without an end.
func (s stays) lastDay(member int64) (last string) {
	for _, in := range s[member] {
		if in.last == "" {
			return ""
		}
		last = max(last, in.last)
	}
	return last
}

// within says whether a member was in a group on a day, directly or through other groups; "" is any day.
func (s stays) within(member, group int64, day string) bool {
	seen := map[int64]bool{member: true}
	for waiting := []int64{member}; len(waiting) > 0; waiting = waiting[1:] {
		for _, in := range s[waiting[0]] {
			if day != "" && (day < in.first || in.last != "" && in.last < day) || seen[in.group] {
				continue
			}
			if in.group == group {
				return true
			}
			seen[in.group] = true
			waiting = append(waiting, in.group)
		}
	}
	return false
}
