package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

const (
	// checkName is the body of the event that a check creates, and the name of the category that it adds when there
	// is none.
	checkName = "belfryctl check"
	// checkDay is the day of the event. It is far from any real event, in case a check is killed before it deletes
	// it.
	checkDay = "2000-01-01"
	// cleanupTimeout bounds the deletion of an interrupted check's event.
	cleanupTimeout = 10 * time.Second
)

func checkCommand(s surroundings) *cobra.Command {
	var at connection
	command := &cobra.Command{
		Use:   "check",
		Short: "Check that a deployment works",
		Long: `Logs in, creates an event with a note, reads both, deletes them and logs out. This uses both
stores and every service but the console. It prints the result of each step and stops at the
first one that fails (exit code 1). It also prints the number of elements that no one can decide
on, which is not an error.

The event is on ` + checkDay + ` and has no elements. It is deleted even if a step fails; its
entries in the audit stay. A deployment without any category of events gets one,
"` + checkName + `", which stays because categories can't be deleted.

--route calls the services directly, as is needed in a cluster without a front door: each path
goes to the address with the longest matching prefix.`,
		Example: `  belfryctl check --url https://belfry.school.example
  belfryctl check --route /api=http://localhost:8080`,
	}
	at.flags(command.Flags(), s)
	at.routeFlag(command.Flags())
	return local(s, command, func(j job) error {
		c, uuid, err := at.client(s, &progress{out: s.err})
		if err != nil {
			return err
		}
		k := &check{c: c, s: s, quiet: j.as.data(), Steps: []step{}, Unattended: []int64{}}
		k.OK = k.run(j.ctx, uuid)
		if k.quiet {
			err = j.object(k)
		}
		if err == nil && !k.OK {
			err = errors.New("the deployment does not work") // the fault was printed with its step
		}
		return err
	}, dataFormats...)
}

// check is one run, and what -o json prints of it.
type check struct {
	OK    bool   `json:"ok"`
	Steps []step `json:"steps"`
	// Unattended are the ids of the current elements that no one can decide on, which is not a fault of the deployment.
	Unattended []int64 `json:"unattended"`

	c     *client.Client
	s     surroundings
	quiet bool
	event string // path of the event that was made; "" when there is none, or none any more
}

// step is one of a check.
type step struct {
	Name         string `json:"name"`
	Milliseconds int64  `json:"milliseconds"`
	Error        string `json:"error,omitempty"` // empty: it went well
}

// run runs the steps in order up to the first that fails, and says whether all succeeded.
func (k *check) run(ctx context.Context, uuid string) bool {
	defer k.cleanUp(ctx)
	var category int64
	var note string
	for _, next := range []struct {
		name string
		do   func() error
	}{
		{"log in", func() error { return signIn(ctx, k.c, uuid) }},
		{"read the session", func() error { return k.whoAmI(ctx) }},
		{"list elements", func() error { _, err := k.c.Empty(ctx); return err }},
		{"count elements without a decider", func() error { return k.findUnattended(ctx) }},
		{"choose a category", func() (err error) { category, err = k.category(ctx); return err }},
		{"create an event", func() error { return k.createEvent(ctx, category) }},
		{"read the event", func() error { return k.reads(ctx, k.event, "event", "body") }},
		{"add a note", func() (err error) { note, err = k.addNote(ctx); return err }},
		{"read the note", func() error { return k.reads(ctx, note, "note", "contents") }},
		{"delete the event", func() error { return k.deleteEvent(ctx) }},
		{"check that the note is gone", func() error { return k.misses(ctx, note, "note") }},
		{"log out", func() error { return k.c.Logout(ctx) }},
	} {
		if !k.step(next.name, next.do) {
			return false
		}
	}
	if len(k.Unattended) > 0 && !k.quiet {
		fmt.Fprintf(k.s.out, "NOTE    no one can decide on %d elements: they are controlled, and none of their "+
			"administrators can log in. See belfryctl elements list --unattended --current\n", len(k.Unattended))
	}
	return true
}

// findUnattended lists the current elements that are controlled, while none of their administrators can log in.
func (k *check) findUnattended(ctx context.Context) error {
	query := url.Values{"unattended": {"true"}, "current": {"true"}}
	for e, err := range client.All[api.ElementRecord](k.c.List(ctx, elementPath, "elements", query)) {
		if err != nil {
			return err
		}
		k.Unattended = append(k.Unattended, e.ID)
	}
	return nil
}

// step runs one step and prints its result.
func (k *check) step(name string, do func() error) bool {
	begun := time.Now()
	err := do()
	taken := step{Name: name, Milliseconds: time.Since(begun).Milliseconds()}
	if err != nil {
		taken.Error = err.Error()
	}
	k.Steps = append(k.Steps, taken)
	switch {
	case k.quiet:
	case err != nil:
		fmt.Fprintf(k.s.out, "FAILED  %s: %v\n", name, err)
	default:
		fmt.Fprintf(k.s.out, "ok      %s (%d ms)\n", name, taken.Milliseconds)
	}
	return err == nil
}

// cleanUp deletes the event of a check that failed before it deleted it.
func (k *check) cleanUp(ctx context.Context) {
	if k.event == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	event := k.event
	if err := k.deleteEvent(ctx); err != nil {
		fmt.Fprintf(k.s.err, "%s stays: %v\n", event, err)
	}
}

func (k *check) whoAmI(ctx context.Context) error {
	user, err := k.c.WhoAmI(ctx)
	if err == nil && user == 0 {
		err = errors.New("the session has no user")
	}
	return err
}

// category returns a category that every user may use; it adds one when there is none.
func (k *check) category(ctx context.Context) (int64, error) {
	for c, err := range client.All[api.CategoryRecord](k.c.List(ctx, categoryPath, "eventcategories", nil)) {
		if err != nil {
			return 0, err
		}
		if !c.Privileged {
			return c.ID, nil
		}
	}
	added, err := k.c.Create(ctx, categoryPath, "eventcategory", map[string]any{"name": checkName})
	return client.As[api.CategoryRecord](added).ID, err
}

func (k *check) createEvent(ctx context.Context, category int64) error {
	made, err := k.c.Create(ctx, "/api/events", "event", map[string]any{
		"body": checkName, "event_category_id": category, "starts_at_text": checkDay, "ends_at_text": checkDay,
		"all_day_field": true,
	})
	if err != nil {
		return err
	}
	k.event = onePath("/api/events", client.As[api.Event](made).ID)
	return nil
}

func (k *check) addNote(ctx context.Context) (string, error) {
	made, err := k.c.Create(ctx, k.event+"/notes", "note", map[string]any{"contents": checkName})
	return onePath("/api/notes", client.As[api.Note](made).ID), err
}

// reads reads a record back and checks that it is what was written.
func (k *check) reads(ctx context.Context, path, part, field string) error {
	record, err := k.c.Get(ctx, path, part)
	if err == nil && record.Text(field) != checkName {
		err = fmt.Errorf("GET %s: %s is %q, not %q", path, field, record.Text(field), checkName)
	}
	return err
}

func (k *check) deleteEvent(ctx context.Context) error {
	err := k.c.Delete(ctx, k.event, nil)
	if err == nil || client.Missing(err) {
		k.event = ""
		return nil
	}
	return err
}

func (k *check) misses(ctx context.Context, path, part string) error {
	_, err := k.c.Get(ctx, path, part)
	switch {
	case client.Missing(err):
		return nil
	case err == nil:
		return fmt.Errorf("GET %s: it is still there", path)
	}
	return err
}
