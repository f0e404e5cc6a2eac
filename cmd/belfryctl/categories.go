package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

const categoryPath = "/api/admin/eventcategories"

// categoryFlags are the flags of a category, in the order of the API.
var categoryFlags = []string{"schoolwide", "publish", "visible", "unimportant", "can_merge", "can_borrow",
	"compactable", "privileged", "clash_check", "busy", "timetable", "confidential"}

var categories = resource{path: categoryPath, part: "eventcategory", id: job.categoryID, flags: addCategoryFlags,
	fields: func(j job) (map[string]any, error) { return j.fieldsGiven("school") },
	shown:  append([]string{"id", "name", "pecking_order", "school_id"}, categoryFlags...)}

func categoriesCommand(s surroundings) *cobra.Command {
	return family("categories", "List and change the categories of events",
		"CATEGORY is an id or a name.",
		administrative(s, &cobra.Command{
			Use: "list", Short: "List the categories, by id",
			Example: "  belfryctl categories list -o wide",
		}, listCategories),
		categories.adds(s, &cobra.Command{
			Use: "add", Short: "Add a category",
			Example: "  belfryctl categories add --name Exam --pecking-order 30 --busy --clash-check",
		}),
		categories.changes(s, &cobra.Command{
			Use: "change CATEGORY", Short: "Change the given fields of a category",
			Example: "  belfryctl categories change Fixture --privileged=false",
		}))
}

func listCategories(j job) error {
	all, err := collect(j.c.List(j.ctx, categoryPath, "eventcategories", nil))
	if err != nil {
		return err
	}
	heads := "id,name,pecking_order,is"
	ofSchools := slices.ContainsFunc(all, func(r client.Record) bool { return r.ID("school_id") != 0 })
	if ofSchools {
		heads += ",school_id"
	}
	return list(j, "eventcategories", all, heads, func(r client.Record) []any {
		c := client.As[api.CategoryRecord](r)
		is := slices.DeleteFunc(slices.Clone(categoryFlags), func(flag string) bool { return r[flag] != true })
		cells := []any{c.ID, c.Name, c.PeckingOrder, strings.Join(is, ",")}
		if ofSchools {
			cells = append(cells, orNone(c.SchoolID))
		}
		return cells
	})
}

// addCategoryFlags adds the flags of a category's fields.
func addCategoryFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.String("name", "", "name, unique within its school, or among categories of no school")
	flags.Int("pecking-order", 0, "position among the categories")
	flags.String("school", "", "group of the school that it belongs to; empty: none, which needs admin")
	for _, flag := range categoryFlags {
		flags.Bool(strings.ReplaceAll(flag, "_", "-"), false, "whether it is "+flag)
	}
}

// categoryID returns the category that an argument names: by id or name.
func (j job) categoryID(text string) (int64, error) {
	same := func(a, b string) bool { return a == b }
	return j.categoryCalled(text, categoryPath, same, "no category has the name %q")
}

// categoryCalled returns the category that a text names by its id, or the first of a list whose name is meant; missing
// is the error when there is none. Of schools' categories several may have that name: then an id has to be given.
func (j job) categoryCalled(text, path string, meant func(a, b string) bool, missing string) (int64, error) {
	if id, ok := idOf(text); ok {
		return id, nil
	}
	var found []client.Record
	var name string
	for category, err := range j.c.List(j.ctx, path, "eventcategories", nil) {
		if err != nil {
			return 0, err
		}
		c := client.As[api.ListedCategory](category)
		if found == nil && meant(c.Name, text) {
			name = c.Name
		}
		if name != "" && c.Name == name {
			found = append(found, category)
		}
	}
	if len(found) == 0 {
		return 0, fmt.Errorf(missing, text)
	}
	return only(found, nil, fmt.Sprintf("categories have the name %q", name))
}
