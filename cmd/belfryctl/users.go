package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// permissionNames are those of a user, in the order of the API.
var permissionNames = principal.PermissionNames()

const userPath = "/api/admin/users"

var users = resource{path: userPath, part: "user", id: job.userID, flags: userFlags, fields: userFields,
	shown: []string{"id", "key", "name", "email", "kind", "element_id", "active", "permissions", "admin_of",
		"stands_for", "duplicate_email"}}

// granted are the permissions of a user.
type granted map[string]bool

// String lists those that the user has.
func (g granted) String() string {
	return strings.Join(slices.DeleteFunc(slices.Clone(permissionNames), func(n string) bool { return !g[n] }), ",")
}

func usersCommand(s surroundings) *cobra.Command {
	return family("users", "List and change users",
		"USER is an id, or an e-mail address that only one user has.", listUsers(s),
		administrative(s, &cobra.Command{
			Use: "show USER", Short: "Show a user",
			Example: "  belfryctl users show 12\n  belfryctl users show anna.bell@school.example -o json",
		}, users.show),
		users.adds(s, &cobra.Command{
			Use: "add", Short: "Add a user and print its uuid once",
			Long: `Adds a user and prints its uuid, which is the user's password, once: hand it over, or store it as
you store passwords. No uuid is shown to a token, such as the one kept by login, because it would
outlive the token.`,
			Example: "  belfryctl users add --name 'Ben Hall' --email ben.hall@school.example --element Staff:17 " +
				"--grant can_api,can_add_events",
		}, "uuid"),
		changeUser(s),
		administrative(s, &cobra.Command{
			Use: "deactivate USER", Short: "Deactivate a user and end its sessions, tokens and feeds; its events stay",
			Example: "  belfryctl users deactivate anna.bell@school.example",
		}, func(j job) error {
			return users.remove(j, "", "user %d is deactivated; its sessions, tokens and feeds have ended")
		}, dataFormats...),
		administrative(s, &cobra.Command{
			Use:     "new-uuid USER",
			Short:   "Replace a user's uuid and print it once; all sessions, tokens and feeds end",
			Example: "  belfryctl users new-uuid 12 > uuid-of-12",
		}, newUUID, dataFormats...),
		endSessions(s, "end-sessions USER", "belfryctl users end-sessions"))
}

func listUsers(s surroundings) *cobra.Command {
	var active bool
	command := &cobra.Command{
		Use: "list", Short: "List the users, by id",
		Example: "  belfryctl users list --active\n" +
			"  belfryctl users list -o csv > users.csv",
	}
	command.Flags().BoolVar(&active, "active", false, "only active users")
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

// userFlags adds the flags of a user's fields.
func userFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.String("name", "", "name of the user")
	flags.String("email", "", "e-mail address")
	flags.Bool("duplicate-email", false, "allow an address that another active user has")
	flags.String("kind", "staff", "staff, pupil or guest")
	flags.String("element", "", "element of the person, an id or a key such as Staff:17; empty: none")
	flags.Bool("active", true, "whether the user may log in")
	flags.StringSlice("grant", nil, "permissions to grant: "+strings.Join(permissionNames, ", "))
	flags.StringSlice("admin-of", nil,
		"schools that the user administers, ids or keys such as Group:north; empty: none")
	flags.StringSlice("stands-for", nil,
		"pupils that the user stands for, ids or keys such as Pupil:12; empty: none")
	complete(command, "kind", "staff", "pupil", "guest")
	complete(command, "grant", permissionNames...)
}

// complete offers the values of a flag to the shell.
func complete(command *cobra.Command, flag string, values ...string) {
	// It fails only for a flag that the command does not have.
	_ = command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// userFields returns the fields that were given.
func userFields(j job) (map[string]any, error) {
	fields, err := j.fieldsGiven("element", "admin-of", "stands-for")
	if err != nil {
		return nil, err
	}
	permissions := map[string]bool{}
	for flag, granted := range map[string]bool{"grant": true, "revoke": false} {
		names, _ := fields[flag].([]string)
		delete(fields, flag)
		for _, name := range names {
			if !slices.Contains(permissionNames, name) {
				all := strings.Join(permissionNames, ", ")
				return nil, &usageError{fmt.Errorf("%q is not a permission; there are %s", name, all)}
			}
			permissions[name] = granted
		}
	}
	if len(permissions) > 0 {
		fields["permissions"] = permissions
	}
	return fields, nil
}

func changeUser(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "change USER", Short: "Change the given fields of a user",
		Example: "  belfryctl users change 12 --name 'Anna Quill' --revoke admin\n" +
			"  belfryctl users change 12 --admin-of Group:north,Group:south\n" +
			"  belfryctl users change anna.bell@school.example --active",
	}
	command.Flags().StringSlice("revoke", nil, "permissions to revoke")
	complete(command, "revoke", permissionNames...)
	return users.changes(s, command)
}

func newUUID(j job) error {
	id, _, err := users.at(j)
	if err != nil {
		return err
	}
	uuid, err := j.c.NewUUID(j.ctx, id)
	return j.secret(err, "user", id, "uuid", uuid)
}

// endSessions is a command of both users and sessions.
func endSessions(s surroundings, use, example string) *cobra.Command {
	return administrative(s, &cobra.Command{
		Use: use, Short: "End all sessions of a user",
		Long: `Ends all sessions of the user, also those in which it has switched to another user, and those of
others who have switched to it.`,
		Example: "  " + example + " anna.bell@school.example",
	}, func(j job) error { return users.remove(j, "/sessions", "the sessions of user %d have ended") }, dataFormats...)
}

func sessionsCommand(s surroundings) *cobra.Command {
	return family("sessions", "End sessions",
		"USER is an id, or an e-mail address that only one user has.",
		endSessions(s, "end USER", "belfryctl sessions end"))
}

func whoamiCommand(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "whoami", Short: "Show the user that you are logged in as, and its permissions",
		Example: "  belfryctl whoami\n  belfryctl whoami -o yaml",
	}
	return administrative(s, command, func(j job) error {
		me, err := j.c.Get(j.ctx, "/api/me", "")
		if err != nil {
			return err
		}
		delete(me, "status")
		if j.as.data() {
			return j.object(me)
		}
		user := me.Inner("user")
		user["kind"], user["element"] = me.Text("kind"), me.Inner("element").Text("name")
		user["may"] = fmt.Sprint(client.As[granted](me.Inner("permissions")))
		for _, list := range []string{"schools", "pupils"} {
			names := sequence.Map(me.Records(list), func(e client.Record) string { return e.Text("name") })
			user[list] = strings.Join(names, ", ")
		}
		user["admin_of"] = me.Text("admin_of")
		return j.show(nil, "user", user, "id", "name", "email", "kind", "element", "may", "schools", "admin_of",
			"pupils")
	})
}
