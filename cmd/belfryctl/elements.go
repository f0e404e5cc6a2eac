package main

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

const elementPath = "/api/admin/elements"

var elements = resource{path: elementPath, part: "element", id: job.elementID, flags: detailFlags,
	fields: detailFields, argument: "entity_type", shown: []string{"id", "key", "name", "entity_type", "entity_id",
		"current", "uuid", "initials", "title", "forename", "surname", "known_as", "year_group", "house_name",
		"tutor_group", "email", "short_name", "description", "resource", "school", "make_public", "open_to",
		"controlled"}}

var entityTypes = []string{"Staff", "Pupil", "Location", "Group", "Property", "Service", "Subject"}

func elementsCommand(s surroundings) *cobra.Command {
	return family("elements", "List and change people, rooms, groups and things",
		`ELEMENT is an id or an import key such as Staff:17.`,
		listElements(s),
		administrative(s, &cobra.Command{
			Use: "show ELEMENT", Short: "Show an element",
			Example: "  belfryctl elements show Staff:17",
		}, elements.show),
		elements.adds(s, &cobra.Command{
			Use: "add TYPE", Short: "Add an element",
			Long: `Adds an element of a TYPE: ` + strings.Join(entityTypes, ", ") + `.`,
			Example: `  belfryctl elements add Staff --initials AB --forename Anna --surname Bell
  belfryctl elements add Group --name Minibuses --resource`,
			ValidArgs: entityTypes,
		}),
		elements.changes(s, &cobra.Command{
			Use: "change ELEMENT", Short: "Change the given fields of an element; an empty value clears a field",
			Example: "  belfryctl elements change Location:G71 --name 'Room 71' --short-name ''",
		}),
		administrative(s, &cobra.Command{
			Use: "retire ELEMENT", Short: "Make an element no longer current; its events stay",
			Example: "  belfryctl elements retire Staff:17",
		}, func(j job) error { return elements.remove(j, "", "element %d is no longer current") }, dataFormats...))
}

func listElements(s surroundings) *cobra.Command {
	var entityType string
	var current, unattended bool
	var school string
	command := &cobra.Command{
		Use: "list", Short: "List the elements, by id",
		Example: "  belfryctl elements list --type Location --current\n" +
			"  belfryctl elements list --type Property -o json\n" +
			"  belfryctl elements list --unattended --current\n" +
			"  belfryctl elements list --school Group:north --type Pupil",
	}
	command.Flags().StringVar(&entityType, "type", "", "only elements of this type: "+strings.Join(entityTypes, ", "))
	command.Flags().BoolVar(&current, "current", false, "only current elements; with =false, only those that are not")
	command.Flags().BoolVar(&unattended, "unattended", false,
		"only controlled elements none of whose administrators can log in")
	command.Flags().StringVar(&school, "school", "", "only elements that belong to this school today, an id or a key")
	complete(command, "type", entityTypes...)
	return administrative(s, command, func(j job) error {
		query := url.Values{}
		if j.given("school") {
			id, err := j.elementID(school)
			if err != nil {
				return err
			}
			query.Set("school", strconv.FormatInt(id, 10))
		}
		if j.given("type") {
			query.Set("entity_type", entityType)
		}
		if j.given("current") {
			query.Set("current", strconv.FormatBool(current))
		}
		if unattended {
			query.Set("unattended", "true")
		}
		all := j.c.List(j.ctx, elementPath, "elements", query)
		const heads = "id,entity_type,name,key,current,controlled;email,year_group,short_name"
		return listed(j, "elements", all, heads, func(e api.ElementRecord) []any {
			return []any{e.ID, e.EntityType, e.Name, e.Key, e.Current, e.Controlled, e.Email, e.YearGroup, e.ShortName}
		})
	})
}

// detailFlags are the flags of an element's fields.
func detailFlags(command *cobra.Command) {
	flags := command.Flags()
	for name, usage := range map[string]string{
		"name": "not of Staff and Pupil, whose names are composed of other fields", "initials": "Staff",
		"title": "Staff", "forename": "Staff and Pupil", "surname": "Staff and Pupil", "known-as": "Pupil",
		"year-group": "Pupil", "house-name": "Pupil", "tutor-group": "Pupil", "email": "Staff and Pupil",
		"short-name": "Location", "description": "Group", "uuid": "36 characters; generated if not given",
		"open-to": "all: users of other schools may book it without approval; not of Staff and Pupil",
	} {
		flags.String(name, "", usage)
	}
	flags.Bool("resource", false, "Group: a resource group, whose items are requested by number")
	flags.Bool("school", false, "Group: the group of a school")
	flags.Bool("make-public", false, "Property")
	flags.Bool("current", true, "whether searches find it")
}

// detailFields returns the fields of an element that were given; an empty text empties its field.
func detailFields(j job) (map[string]any, error) {
	fields, err := j.fieldsGiven()
	for name, value := range fields {
		if value == "" {
			fields[name] = nil
		}
	}
	return fields, err
}

func administratorsCommand(s surroundings) *cobra.Command {
	return family("administrators", "List and change who decides on an element",
		`An element with an administrator is controlled: bookings need approval. ELEMENT is an id or an
import key such as Property:1; USER is an id, or an e-mail address that only one user has.`,
		administrative(s, &cobra.Command{
			Use: "list ELEMENT", Short: "List the administrators of an element",
			Example: "  belfryctl administrators list Property:1",
		}, listAdministrators),
		administrative(s, &cobra.Command{
			Use: "add ELEMENT USER", Short: "Make a user an administrator of an element, which then needs approval",
			Example: "  belfryctl administrators add Property:1 anna.bell@school.example",
		}, addAdministrator),
		administrative(s, &cobra.Command{
			Use:     "remove ELEMENT USER",
			Short:   "Remove an administrator; without any, the element needs no approval",
			Example: "  belfryctl administrators remove Property:1 anna.bell@school.example",
		}, removeAdministrator, dataFormats...))
}

func listAdministrators(j job) error {
	_, path, err := elements.at(j)
	if err != nil {
		return err
	}
	all := j.c.List(j.ctx, path+"/administrators", "administrators", nil)
	return listed(j, "administrators", all, "id,name,email", func(u api.User) []any {
		return []any{u.ID, u.Name, u.Email}
	})
}

func addAdministrator(j job) error {
	path, _, _, err := j.administrator()
	if err != nil {
		return err
	}
	user, err := j.c.Put(j.ctx, path, "administrator")
	return j.show(err, "administrator", user, "id", "name", "email")
}

func removeAdministrator(j job) error {
	path, element, user, err := j.administrator()
	if err != nil {
		return err
	}
	if err := j.c.Delete(j.ctx, path, nil); err != nil {
		return err
	}
	return j.done("administrator", user, "user %d is no longer an administrator of element %d", user, element)
}

// administrator is the path of the administrator that the arguments mean.
func (j job) administrator() (path string, element, user int64, err error) {
	if element, err = j.elementID(j.args[0]); err != nil {
		return "", 0, 0, err
	}
	if user, err = j.userID(j.args[1]); err != nil {
		return "", 0, 0, err
	}
	return onePath(onePath(elementPath, element)+"/administrators", user), element, user, nil
}

func membersCommand(s surroundings) *cobra.Command {
	return family("members", "List and change the members of a group",
		`GROUP and ELEMENT are ids or import keys such as Group:9A. Days are YYYY-MM-DD.`,
		listMembers(s), addMembers(s), endMembership(s))
}

func listMembers(s surroundings) *cobra.Command {
	var on string
	var nested bool
	command := &cobra.Command{
		Use: "list GROUP", Short: "List the members of a group",
		Example: "  belfryctl members list Group:9A\n  belfryctl members list Group:school --nested --on 2026-09-07",
	}
	command.Flags().StringVar(&on, "on", "", "only members on this day")
	command.Flags().BoolVar(&nested, "nested", false,
		"also members of groups in the group, on the day of --on or today")
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
	command.Flags().StringVar(&first, "first", "", "first day; without it, the membership has no start")
	command.Flags().StringVar(&last, "last", "", "last day; without it, the membership has no end")
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
		Use: "end GROUP ELEMENT", Short: "End a membership; one that has not begun is deleted",
		Example: "  belfryctl members end Group:9A Pupil:17 --from 2027-01-04",
	}
	command.Flags().StringVar(&from, "from", "", "first day without the membership (default today)")
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
