package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// job is one run of a command.
type job struct {
	ctx    context.Context
	c      *client.Client // of a command that calls a deployment
	s      surroundings
	args   []string
	as     format
	flags  *pflag.FlagSet
	url    string // of the deployment
	dryRun bool   // no call writes
}

// given says whether a flag was given.
func (j job) given(flag string) bool { return j.flags.Changed(flag) }

// dry is the job as a dry run.
func (j job) dry() job {
	j.ctx, j.dryRun = client.DryRun(j.ctx), true
	return j
}

// family makes a command that only holds others.
func family(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Long: short + ".\n\n" + long,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(commands...)
	return command
}

// dryRun is the flag of the commands that may be dry runs.
const dryRun = "dry-run"

func dryRunFlag(command *cobra.Command) {
	command.Flags().Bool(dryRun, false, "show what would be done, and write nothing")
}

// administrative is local for a command that works on a deployment: it adds the flags of the connection.
func administrative(s surroundings, command *cobra.Command, work func(job) error, formats ...format) *cobra.Command {
	return administrativeAt(&connection{}, s, command, work, formats...)
}

// administrativeAt is administrative for a command whose connection has flags of its own.
func administrativeAt(
	at *connection, s surroundings, command *cobra.Command, work func(job) error, formats ...format,
) *cobra.Command {
	at.flags(command.Flags(), s)
	return local(s, command, func(j job) (err error) {
		if j.c, err = at.login(j.ctx, s); err != nil {
			return err
		}
		j.url = at.url
		if dry, _ := j.flags.GetBool(dryRun); dry { // no command without the flag is one
			j = j.dry()
		}
		return work(j)
	}, formats...)
}

// resource is a kind of record that commands show, add, change and remove.
type resource struct {
	path, part string                           // of the API
	id         func(job, string) (int64, error) // of the record that an argument names
	shown      []string                         // the fields that are printed of one
	flags      func(*cobra.Command)             // adds the flags of its fields
	fields     func(job) (map[string]any, error)
	argument   string // the field that is the first argument of add; "": none
}

// at returns the id of the record that the first argument names, and its path.
func (r resource) at(j job) (int64, string, error) {
	id, err := r.id(j, j.args[0])
	return id, onePath(r.path, id), err
}

func (r resource) show(j job) error {
	_, path, err := r.at(j)
	if err != nil {
		return err
	}
	record, err := j.c.Get(j.ctx, path, r.part)
	return j.show(err, r.part, record, r.shown...)
}

// adds completes a command that creates a record of the given fields, and shows it with fields that are shown only
// once.
func (r resource) adds(s surroundings, command *cobra.Command, once ...string) *cobra.Command {
	r.flags(command)
	return administrative(s, command, func(j job) error {
		given, err := r.fields(j)
		if err != nil {
			return err
		}
		if r.argument != "" {
			given[r.argument] = j.args[0]
		}
		record, err := j.c.Create(j.ctx, r.path, r.part, given)
		return j.show(err, r.part, record, slices.Concat(r.shown, once)...)
	})
}

// changes completes a command that changes the given fields of a record.
func (r resource) changes(s surroundings, command *cobra.Command) *cobra.Command {
	r.flags(command)
	return administrative(s, command, func(j job) error {
		_, path, err := r.at(j)
		if err != nil {
			return err
		}
		given, err := r.fields(j)
		if err != nil {
			return err
		}
		record, err := j.c.Change(j.ctx, path, r.part, given)
		return j.show(err, r.part, record, r.shown...)
	})
}

// remove deletes the record, or what belongs to it below its path, and prints a sentence with its id.
func (r resource) remove(j job, below, sentence string) error {
	id, path, err := r.at(j)
	if err != nil {
		return err
	}
	if err := j.c.Delete(j.ctx, path+below, nil); err != nil {
		return err
	}
	return j.done(r.part, id, sentence, id)
}

func onePath(base string, id int64) string { return fmt.Sprintf("%s/%d", base, id) }

// userID returns the user that an argument names: by id, or by an address that only one user has.
func (j job) userID(text string) (int64, error) {
	if id, ok := idOf(text); ok {
		return id, nil
	}
	if !strings.Contains(text, "@") {
		return 0, &usageError{fmt.Errorf("%q is neither an id nor an e-mail address of a user", text)}
	}
	users, err := j.search("/api/users", "users", url.Values{"email": {text}})
	if err == nil && len(users) == 0 {
		err = fmt.Errorf("no user has the address %s", text)
	}
	return only(users, err, "users have the address "+text)
}

// search reads a list that answers 404 when it is empty.
func (j job) search(path, part string, query url.Values) ([]client.Record, error) {
	found, err := collect(j.c.List(j.ctx, path, part, query))
	if failed, ok := errors.AsType[*client.Error](err); ok && failed.Code == http.StatusNotFound &&
		!failed.Foreign {
		return nil, nil
	}
	return found, err
}

// only returns the id of the one record that was found, and 0 when there is none. Several are an error, which lists
// their ids.
func only(found []client.Record, err error, several string) (int64, error) {
	if err != nil || len(found) == 0 {
		return 0, err
	}
	if len(found) > 1 {
		ids := sequence.Map(found, func(record client.Record) string { return record.Text("id") })
		return 0, fmt.Errorf("several %s: give one of the ids %s", several, strings.Join(ids, ", "))
	}
	return found[0].ID("id"), nil
}

// idsOf returns the ids of the records that the texts name.
func idsOf(texts []string, id func(string) (int64, error)) (ids []int64, err error) {
	ids = make([]int64, len(texts))
	for i, text := range texts {
		if ids[i], err = id(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// addIDs adds to a query the ids of the records that the texts name; an empty text names none.
func addIDs(query url.Values, id func(string) (int64, error), texts map[string]string) error {
	for parameter, text := range texts {
		if text == "" {
			continue
		}
		found, err := id(text)
		if err != nil {
			return err
		}
		query.Set(parameter, strconv.FormatInt(found, 10))
	}
	return nil
}

// elementID returns the element that an argument names: by id, or by its import key (Staff:17).
func (j job) elementID(text string) (int64, error) {
	if id, ok := idOf(text); ok {
		return id, nil
	}
	if !strings.Contains(text, ":") {
		return 0, &usageError{fmt.Errorf("%q is neither an id nor a key of an element, such as Staff:17", text)}
	}
	query := url.Values{"key": {text}}
	for e, err := range client.All[api.ElementRecord](j.c.List(j.ctx, elementPath, "elements", query)) {
		return e.ID, err
	}
	return 0, fmt.Errorf("no element has the key %s", text)
}

// isAdmin says whether the user has the permission admin; others may administer schools.
func (j job) isAdmin() (bool, error) {
	permissions, err := j.c.Get(j.ctx, "/api/me", "permissions")
	return client.As[api.Permissions](permissions).Admin, err
}

func idOf(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0
}

// plainID returns a function that reads an id of a record that has neither key nor name.
func plainID(of string) func(job, string) (int64, error) {
	return func(_ job, text string) (int64, error) {
		id, ok := idOf(text)
		if !ok {
			return 0, &usageError{fmt.Errorf("%q is not an id of %s", text, of)}
		}
		return id, nil
	}
}

// dayOfFlag reads a day; flag says in the error where it was given.
func dayOfFlag(flag, text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, &usageError{fmt.Errorf("%s%q is not a day (YYYY-MM-DD)", flag, text)}
	}
	return day, nil
}

// fieldsGiven returns the fields whose flags were given; a flag has the name of its field, with - for _. The values of
// some flags are elements, by ids or keys: one becomes the field that ends with _id, which is nil for an empty text.
func (j job) fieldsGiven(elements ...string) (fields map[string]any, failed error) {
	fields = map[string]any{}
	j.flags.Visit(func(f *pflag.Flag) {
		name, text := strings.ReplaceAll(f.Name, "-", "_"), f.Value.String()
		several, are := f.Value.(pflag.SliceValue)
		var err error
		switch of := slices.Contains(elements, f.Name); {
		case f.Name == "url", f.Name == "uuid-file":
		case of && are:
			fields[name], err = idsOf(several.GetSlice(), j.elementID)
		case of && text == "":
			fields[name+"_id"] = nil
		case of:
			fields[name+"_id"], err = j.elementID(text)
		case are:
			fields[name] = several.GetSlice()
		case f.Value.Type() == "bool":
			fields[name] = text == "true"
		case f.Value.Type() == "int":
			fields[name], err = strconv.Atoi(text)
		case f.Value.Type() == "string":
			fields[name] = text
		}
		failed = cmp.Or(failed, err)
	})
	return fields, failed
}

// queryOf returns a query of the values that are not empty.
func queryOf(values map[string]string) url.Values {
	query := url.Values{}
	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// collect reads a list to its end.
func collect(records iter.Seq2[client.Record, error]) ([]client.Record, error) {
	return first(records, math.MaxInt)
}

// first returns at most that many of the records of a list.
func first(records iter.Seq2[client.Record, error], most int) (found []client.Record, err error) {
	for record, err := range records {
		if err != nil {
			return nil, err
		}
		if found = append(found, record); len(found) == most {
			break
		}
	}
	return found, nil
}
