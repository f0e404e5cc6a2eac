package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belfry-schools/belfry/client"
)

const categoryPath = "/api/admin/eventcategories"

// categoryFlags are the flags of a category, in the order of the API.
var categoryFlags = []string{"schoolwide", "publish", "visible", "unimportant", "can_merge", "can_borrow",
	"compactable", "privileged", "clash_check", "busy", "timetable", "confidential"}

func categoriesCommand(s surroundings) *cobra.Command {
	return family("categories", "List and change the categories of events",
		"CATEGORY is an id or a name. The login is as for import.", listCategories(s), addCategory(s),
		changeCategory(s))
}

// categoryIs lists the flags of a category that are set.
func categoryIs(r client.Record) string {
	var set []string
	for _, flag := range categoryFlags {
		if r[flag] == true {
			set = append(set, flag)
		}
	}
	return strings.Join(set, ",")
}

func listCategories(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "list", Short: "List the categories, by id",
		Example: "  belfryctl categories list",
		Args:    cobra.NoArgs,
	}
	return administrative(s, command, func(j job) error {
		categories, err := collect(j.c.List(j.ctx, categoryPath, "eventcategories", nil))
		if err != nil {
			return err
		}
		columns := []column{field("id"), field("name"), field("pecking_order"), {"is", categoryIs}}
		if slices.ContainsFunc(categories, func(r client.Record) bool { return r.ID("school_id") != 0 }) {
			columns = append(columns, field("school_id"))
		}
		return j.list("eventcategories", categories, columns...)
	})
}

// categoryFields adds the flags of a category, and returns a function that reads those that were given.
func categoryFields(flags *pflag.FlagSet) func(j job) (map[string]any, error) {
	name := flags.String("name", "", "the name, which no other category of its school has, or of none")
	order := flags.Int("pecking-order", 0, "where it stands among categories")
	school := flags.String("school", "", "the group of the school whose own it is; empty: of none, which takes admin")
	is := map[string]*bool{}
	for _, flag := range categoryFlags {
		is[flag] = flags.Bool(strings.ReplaceAll(flag, "_", "-"), false, "whether it is "+flag)
	}
	return func(j job) (map[string]any, error) {
		fields := map[string]any{}
		if j.given("name") {
			fields["name"] = *name
		}
		if j.given("pecking-order") {
			fields["pecking_order"] = *order
		}
		if j.given("school") {
			fields["school_id"] = nil
			if *school != "" {
				id, err := j.elementID(*school)
				if err != nil {
					return nil, err
				}
				fields["school_id"] = id
			}
		}
		for flag, value := range is {
			if j.given(strings.ReplaceAll(flag, "_", "-")) {
				fields[flag] = *value
			}
		}
		return fields, nil
	}
}

// shownCategory are the lines of a printed category.
var shownCategory = append([]string{"id", "name", "pecking_order", "school_id"}, categoryFlags...)

func addCategory(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "add", Short: "Add a category",
		Example: "  belfryctl categories add --name Fixture --pecking-order 30 --busy --clash-check",
		Args:    cobra.NoArgs,
	}
	fields := categoryFields(command.Flags())
	return administrative(s, command, func(j job) error {
		given, err := fields(j)
		if err != nil {
			return err
		}
		category, err := j.c.Create(j.ctx, categoryPath, "eventcategory", given)
		if err != nil {
			return err
		}
		return j.show("eventcategory", category, shownCategory...)
	})
}

func changeCategory(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "change CATEGORY", Short: "Change a category; what is not given stays",
		Example: "  belfryctl categories change Fixture --privileged=false",
		Args:    cobra.ExactArgs(1),
	}
	fields := categoryFields(command.Flags())
	return administrative(s, command, func(j job) error {
		id, err := j.categoryID(j.args[0])
		if err != nil {
			return err
		}
		given, err := fields(j)
		if err != nil {
			return err
		}
		category, err := j.c.Change(j.ctx, onePath(categoryPath, id), "eventcategory", given)
		if err != nil {
			return err
		}
		return j.show("eventcategory", category, shownCategory...)
	})
}

// categoryID returns the category that an argument names: by id or name.
func (j job) categoryID(text string) (int64, error) {
	if id, ok := idOf(text); ok {
		return id, nil
	}
	found, err := j.categoryCalled(categoryPath, func(name string) bool { return name == text })
	if err == nil && found == 0 {
		err = fmt.Errorf("no category has the name %q", text)
	}
	return found, err
}

// categoryCalled returns the first category of a list whose name is meant, 0 when there is none. Of schools' categories
// several may have that name: then an id has to be given.
func (j job) categoryCalled(path string, meant func(name string) bool) (int64, error) {
	var first client.Record
	var ids []string
	for category, err := range j.c.List(j.ctx, path, "eventcategories", nil) {
		if err != nil {
			return 0, err
		}
		if first == nil && meant(category.Text("name")) {
			first = category
		}
		if first != nil && category.Text("name") == first.Text("name") {
			ids = append(ids, category.Text("id"))
		}
	}
	if len(ids) > 1 {
		return 0, fmt.Errorf("several categories have the name %q: give one of the ids %s", first.Text("name"),
			strings.Join(ids, ", "))
	}
	return first.ID("id"), nil
}
