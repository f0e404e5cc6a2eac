package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/principal"
)

// permissionNames are those of a user, in the order of the API.
var permissionNames = principal.PermissionNames()

const userPath = "/api/admin/users"

var users = resource{userPath, "user", job.userID, []string{"id", "key", "name", "email", "kind", "element_id",
	"active", "permissions", "admin_of", "stands_for", "duplicate_email"}}

// granted are the permissions of a user.
type granted map[string]bool

// String lists those that the user has.
func (g granted) String() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(permissionNames), func(n string) bool { return !g[n] }), ",")
}

func usersCommand(s surroundings) *cobra.Command {
	return family("users", "List and change those who may use Belfry",
		"USER is an id, or an e-mail address that only one user has. The login is as for import.", listUsers(s),
		showUser(s), addUser(s), changeUser(s), deactivateUser(s), newUUID(s),
		endSessions(s, "end-sessions USER", "belfryctl users end-sessions"))
}

func listUsers(s surroundings) *cobra.Command {
	var active bool
	command := &cobra.Command{
		Use: "list", Short: "List the users, by id",
		Example: "  belfryctl users list --active\n" +
			"  belfryctl users list -o csv > users.csv",
	}
	command.Flags().BoolVar(&active, "active", false, "only those who are active")
	return administrative(s, command, func(j job) error {
		all, err := collect(j.c.List(j.ctx, userPath, "users", nil))
		if err != nil {
			return err
		}
		shown := slices.DeleteFunc(all, func(r client.Record) bool {
			return active && !client.As[api.Account](r).Active
		})
		const heads = "id,name,email,kind,active,permissions;key,element_id,admin_of,stands_for"
		return list(j, "users", shown, heads, func(r client.Record) []any {
			u := client.As[api.Account](r)
			return []any{u.ID, u.Name, u.Email, u.Kind, u.Active, client.As[granted](r.Inner("permissions")),
				u.Key, orNone(u.ElementID), r.Text("admin_of"), r.Text("stands_for")}
		})
	})
}

func showUser(s surroundings) *cobra.Command {
	return administrative(s, &cobra.Command{
		Use: "show USER", Short: "Show a user",
		Example: "  belfryctl users show 12\n  belfryctl users show anna.bell@school.example -o json",
	}, users.show)
}

// userFlags are the fields of a user.
type userFlags struct {
	name, email, kind, element string
	active, duplicateEmail     bool
	grant, revoke              []string
	adminOf, standsFor         []string
}

func (f *userFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.name, "name", "", "the user's name")
	flags.StringVar(&f.email, "email", "", "e-mail address")
	flags.BoolVar(&f.duplicateEmail, "duplicate-email", false,
		"the address is meant to be another active user's as well")
	flags.StringVar(&f.kind, "kind", "staff", "staff, pupil or guest")
	flags.StringVar(&f.element, "element", "",
		"the element that the user is, an id or a key such as Staff:17; empty: none")
	flags.BoolVar(&f.active, "active", true, "whether the user may log in")
	flags.StringSliceVar(&f.grant, "grant", nil, "permissions to give, of "+strings.Join(permissionNames, ", "))
	flags.StringSliceVar(&f.adminOf, "admin-of", nil,
		"all schools that the user administers, ids or keys such as Group:north; empty: none")
	flags.StringSliceVar(&f.standsFor, "stands-for", nil,
		"all pupils that the user stands for, ids or keys such as Pupil:12; empty: none")
	complete(command, "kind", "staff", "pupil", "guest")
	complete(command, "grant", permissionNames...)
}

// complete offers the values of a flag to the shell.
func complete(command *cobra.Command, flag string, values ...string) {
	// It fails only for a flag that the command does not have.
	_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// fields returns the fields that were given.
func (f *userFlags) fields(j job) (map[string]any, error) {
	fields := j.fieldsGiven(map[string]any{"name": f.name, "email": f.email, "kind": f.kind, "active": f.active,
		"duplicate_email": f.duplicateEmail})
	if j.given("element") {
		id, err := j.elementOrNone(f.element)
		if err != nil {
			return nil, err
		}
		fields["element_id"] = id
	}
	for field, named := range map[string][]string{"admin_of": f.adminOf, "stands_for": f.standsFor} {
		if !j.given(strings.ReplaceAll(field, "_", "-")) {
			continue
		}
		ids := []int64{}
		for _, name := range named {
			id, err := j.elementID(name)
			if err != nil {
				return nil, err
			}
			ids = append(ids, id)
		}
		fields[field] = ids
	}
	permissions := map[string]bool{}
	for granted, names := range map[bool][]string{true: f.grant, false: f.revoke} {
		for _, name := range names {
			if !slices.Contains(permissionNames, name) {
				all := strings.Join(permissionNames, ", ")
				return nil, &usageError{fmt.Errorf("%q is no permission; there are %s", name, all)}
			}
			permissions[name] = granted
		}
	}
	if len(permissions) > 0 {
		fields["permissions"] = permissions
	}
	return fields, nil
}

func addUser(s surroundings) *cobra.Command {
	var f userFlags
	command := &cobra.Command{
		Use: "add", Short: "Add a user and print the new uuid, once",
		Long: `Adds a user and prints it with its uuid, which is the user's password. It is never shown again: ` +
			`hand it over, or keep it as you
keep passwords. To a token, such as login keeps, no uuid is shown: it would outlive the token.`,
		Example: "  belfryctl users add --name 'Ben Hall' --email ben.hall@school.example --element Staff:17 " +
			"--grant can_api,can_add_events",
	}
	f.add(command)
	return administrative(s, command, func(j job) error { return users.add(j, f.fields, "uuid") })
}

func changeUser(s surroundings) *cobra.Command {
	var f userFlags
	command := &cobra.Command{
		Use: "change USER", Short: "Change a user; what is not given stays",
		Example: "  belfryctl users change 12 --name 'Anna Quill' --revoke admin\n" +
			"  belfryctl users change 12 --admin-of Group:north,Group:south\n" +
			"  belfryctl users change anna.bell@school.example --active",
	}
	f.add(command)
	command.Flags().StringSliceVar(&f.revoke, "revoke", nil, "permissions to take")
	complete(command, "revoke", permissionNames...)
	return administrative(s, command, func(j job) error { return users.change(j, f.fields) })
}

func deactivateUser(s surroundings) *cobra.Command {
	return administrative(s, &cobra.Command{
		Use: "deactivate USER", Short: "Lock a user out and end its sessions; its events stay",
		Example: "  belfryctl users deactivate anna.bell@school.example",
	}, func(j job) error {
		return users.remove(j, "", "user %d can't log in any more; its sessions have ended")
	}, dataFormats...)
}

func newUUID(s surroundings) *cobra.Command {
	return administrative(s, &cobra.Command{
		Use: "new-uuid USER", Short: "Give a user a new uuid and print it, once; the old one and all sessions end",
		Example: "  belfryctl users new-uuid 12 > uuid-of-12",
	}, func(j job) error {
		id, _, err := users.at(j)
		if err != nil {
			return err
		}
		uuid, err := j.c.NewUUID(j.ctx, id)
		return j.secret(err, "user", id, "uuid", uuid)
	}, dataFormats...)
}

// endSessions is a command of both users and sessions.
func endSessions(s surroundings, use, example string) *cobra.Command {
	return administrative(s, &cobra.Command{
		Use: use,
		Short: "End all sessions of a user, those in which it has switched and those of others switched to it " +
			"included",
		Example: "  " + example + " anna.bell@school.example",
	}, func(j job) error { return users.remove(j, "/sessions", "the sessions of user %d have ended") }, dataFormats...)
}

func sessionsCommand(s surroundings) *cobra.Command {
	return family("sessions", "End sessions",
		"USER is an id, or an e-mail address that only one user has. The login is as for import.",
		endSessions(s, "end USER", "belfryctl sessions end"))
}
