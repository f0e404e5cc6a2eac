package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
)

// job is one run of a command that talks to a deployment as its administrator.
type job struct {
	ctx   context.Context
	c     *client.Client
	s     surroundings
	args  []string
	json  bool
	given func(flag string) bool // whether the flag was given
}

// family makes a command that only holds others.
func family(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Long: short + ".\n\n" + long, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(commands...)
	return command
}

// administrative completes a command that works on a deployment: it adds the flags of the connection, and --json.
func administrative(s surroundings, command *cobra.Command, work func(job) error) *cobra.Command {
	return administrativeAt(&connection{}, s, command, work)
}

// administrativeAt is administrative for a command whose connection has flags of its own.
func administrativeAt(
	at *connection, s surroundings, command *cobra.Command, work func(job) error,
) *cobra.Command {
	var asJSON bool
	at.flags(command.Flags(), s)
	command.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	command.RunE = does(func(command *cobra.Command, args []string) error {
		c, err := at.login(command.Context(), s)
		if err != nil {
			return err
		}
		return work(job{ctx: command.Context(), c: c, s: s, args: args, json: asJSON, given: command.Flags().Changed})
	})
	return command
}

// userID returns the user that an argument names: by id, or by an address that only one user has.
func (j job) userID(text string) (int64, error) {
	if id, ok := idOf(text); ok {
		return id, nil
	}
	if !strings.Contains(text, "@") {
		return 0, &usageError{fmt.Errorf("%q is no id and no e-mail address of a user", text)}
	}
	var ids []string
	var found int64
	for user, err := range j.c.List(j.ctx, "/api/users", "users", url.Values{"email": {text}}) {
		if failed := (*client.Error)(nil); errors.As(err, &failed) && failed.Code == 404 && !failed.Foreign {
			break // nobody has it
		}
		if err != nil {
			return 0, err
		}
		found = user.ID("id")
		ids = append(ids, user.Text("id"))
	}
	switch len(ids) {
	case 0:
		return 0, fmt.Errorf("no user has the address %s", text)
	case 1:
		return found, nil
	}
	return 0, fmt.Errorf("several users have the address %s: give one of the ids %s", text, strings.Join(ids, ", "))
}

// elementID returns the element that an argument names: by id, or by its import key (Staff:17).
func (j job) elementID(text string) (int64, error) { return elementID(j.ctx, j.c, text) }

// isAdmin says whether the user has the permission admin; others may administer schools.
func isAdmin(ctx context.Context, c *client.Client) (bool, error) {
	permissions, err := c.Get(ctx, "/api/me", "permissions")
	return permissions["admin"] == true, err
}

func elementID(ctx context.Context, c *client.Client, text string) (int64, error) {
	if id, ok := idOf(text); ok {
		return id, nil
	}
	if !strings.Contains(text, ":") {
		return 0, &usageError{fmt.Errorf("%q is no id and no key of an element, such as Staff:17", text)}
	}
	for element, err := range c.List(ctx, "/api/admin/elements", "elements", url.Values{"key": {text}}) {
		return element.ID("id"), err
	}
	return 0, fmt.Errorf("no element has the key %s", text)
}

func idOf(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}

// id reads the id of a record of that kind from the one argument.
func (j job) id(of string) (int64, error) {
	id, ok := idOf(j.args[0])
	if !ok {
		return 0, &usageError{fmt.Errorf("%q is no id of %s", j.args[0], of)}
	}
	return id, nil
}

// column is a column of a printed table.
type column struct {
	head string
	text func(client.Record) string
}

// field is a column that shows a field by its own name.
func field(name string) column {
	return column{name, func(r client.Record) string { return r.Text(name) }}
}

// list prints records: a table, or with --json one object that holds them under the name.
func (j job) list(name string, records []client.Record, columns ...column) error {
	if j.json {
		return printJSON(j.s.out, map[string]any{name: append([]client.Record{}, records...)})
	}
	_, err := io.WriteString(j.s.out, j.s.paintTable(table(records, columns)))
	return err
}

// table makes the table of records, and says at which rune of its lines the statuses begin; -1: it has none.
func table(records []client.Record, columns []column) (text string, status int) {
	var made strings.Builder
	table := tabwriter.NewWriter(&made, 0, 0, 2, ' ', 0)
	for i, c := range columns {
		fmt.Fprint(table, separator(i), c.head)
	}
	fmt.Fprintln(table)
	for _, r := range records {
		for i, c := range columns {
			fmt.Fprint(table, separator(i), orDefault(flat(c.text(r)), "-"))
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush() // into memory
	head, _, _ := strings.Cut(made.String(), "\n")
	status = -1
	for i, c := range columns {
		if c.head == "status" && i == 0 {
			status = 0
		} else if c.head == "status" {
			status = strings.Index(head, "  status") + len("  ") // a head is in ASCII: its bytes are runes
		}
	}
	return made.String(), status
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return "\t"
}

// flat keeps a text in its cell.
func flat(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' }), " ")
}

// show prints one record: a line for each of the given fields that it has, or with --json one object that holds it
// under the name.
func (j job) show(name string, record client.Record, fields ...string) error {
	if j.json {
		return printJSON(j.s.out, map[string]any{name: record})
	}
	table := tabwriter.NewWriter(j.s.out, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		if _, has := record[f]; has {
			fmt.Fprintf(table, "%s\t%s\n", f, orDefault(fieldText(record, f), "-"))
		}
	}
	return table.Flush()
}

func fieldText(r client.Record, name string) string {
	if name == "permissions" {
		return permissionsText(r)
	}
	return flat(r.Text(name))
}

// done prints what a command did that has no record to print: a sentence, or with --json the same as one object.
func (j job) done(what string, id int64, sentence string, arguments ...any) error {
	if j.json {
		return printJSON(j.s.out, map[string]any{what: id, "done": true})
	}
	_, err := fmt.Fprintf(j.s.out, sentence+"\n", arguments...)
	return err
}

// collect reads a list to its end.
func collect(records func(func(client.Record, error) bool)) ([]client.Record, error) {
	var all []client.Record
	for record, err := range records {
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	return all, nil
}
