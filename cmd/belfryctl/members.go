package main

import (
	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

func membersCommand(s surroundings) *cobra.Command {
	return family("members", "List and change who is in a group, and when",
		`GROUP and ELEMENT are ids, or the keys that they were imported with, such as Group:9A. Days are
YYYY-MM-DD, and belong to the membership. The login is as for import.`,
		listMembers(s), addMembers(s), endMembership(s))
}

func listMembers(s surroundings) *cobra.Command {
	var on string
	var nested bool
	command := &cobra.Command{
		Use: "list GROUP", Short: "List the members of a group",
		Example: "  belfryctl members list Group:9A\n  belfryctl members list Group:school --nested --on 2026-09-07",
	}
	command.Flags().StringVar(&on, "on", "", "only those of this day")
	command.Flags().BoolVar(&nested, "nested", false,
		"the people and things in the group and the groups in it, on the day of --on or today")
	return administrative(s, command, func(j job) error {
		_, path, err := elements.at(j)
		if err != nil {
			return err
		}
		query, heads := queryOf(map[string]string{"on": on}), "element_id,type,name"
		if nested {
			query.Set("nested", "true")
		} else {
			heads += ",first_day,last_day"
		}
		members := j.c.List(j.ctx, path+"/members", "members", query)
		return listed(j, "members", members, heads, func(m api.Membership) []any {
			return []any{m.ElementID, m.Element.EntityType, m.Element.Name, m.FirstDay, m.LastDay}
		})
	})
}

func addMembers(s surroundings) *cobra.Command {
	var first, last string
	command := &cobra.Command{
		Use: "add GROUP ELEMENT…", Short: "Add members to a group",
		Example: "  belfryctl members add Group:9A Pupil:17 Pupil:18 --first 2026-09-01 --last 2027-07-16",
	}
	command.Flags().StringVar(&first, "first", "", "the first day; open when not given")
	command.Flags().StringVar(&last, "last", "", "the last day; open when not given")
	return administrative(s, command, func(j job) error {
		group, err := j.elementID(j.args[0])
		if err != nil {
			return err
		}
		elements, err := idsOf(j.args[1:], j.elementID)
		if err != nil {
			return err
		}
		added, err := j.c.AddMembers(j.ctx, group, sequence.Map(elements, func(element int64) map[string]any {
			return map[string]any{"element_id": element, "first_day": first, "last_day": last}
		}))
		if err != nil {
			return err
		}
		return list(j, "members", added, "element_id,name,first_day,last_day", func(m api.Membership) []any {
			return []any{m.ElementID, m.Element.Name, m.FirstDay, m.LastDay}
		})
	})
}

func endMembership(s surroundings) *cobra.Command {
	var from string
	command := &cobra.Command{
		Use: "end GROUP ELEMENT", Short: "End a membership the day before; one that never began goes",
		Example: "  belfryctl members end Group:9A Pupil:17 --from 2027-01-04",
	}
	command.Flags().StringVar(&from, "from", "", "the first day on which it is no longer; today when not given")
	return administrative(s, command, func(j job) error {
		group, path, err := elements.at(j)
		if err != nil {
			return err
		}
		element, err := j.elementID(j.args[1])
		if err != nil {
			return err
		}
		query := queryOf(map[string]string{"from": from})
		if err := j.c.Delete(j.ctx, onePath(path+"/members", element), query); err != nil {
			return err
		}
		return j.done("member", element, "element %d is no longer in group %d", element, group)
	}, dataFormats...)
}
