package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

const webhookPath = "/api/admin/webhooks"

// testPatience is how long webhooks test waits for the result of its test, and testLook the pause between two requests.
const (
	testPatience = 30 * time.Second
	testLook     = 200 * time.Millisecond
)

func webhooksCommand(s surroundings) *cobra.Command {
	return family("webhooks", "Manage the endpoints that are sent notices",
		`A webhook is an endpoint that is notified of entries that wait for a decision, decisions,
allocations, and confirmed entries that were removed. docs/notice.md describes what is sent and
how to check the signature.`,
		administrative(s, &cobra.Command{
			Use: "list", Short: "List the webhooks, by id",
			Example: "  belfryctl webhooks list",
		}, listWebhooks),
		addWebhook(s), changeWebhook(s),
		administrative(s, &cobra.Command{
			Use:     "new-secret ID",
			Short:   "Replace an endpoint's secret and print it once; the old one also signs for 24 hours",
			Example: "  belfryctl webhooks new-secret 3 > secret-of-3",
		}, renewWebhookSecret, dataFormats...),
		administrative(s, &cobra.Command{
			Use: "remove ID", Short: "Remove an endpoint and what waits for it",
			Example: "  belfryctl webhooks remove 3",
		}, func(j job) error { return webhooks.remove(j, "", "removed webhook %d") }, dataFormats...),
		listDeliveries(s),
		administrative(s, &cobra.Command{
			Use: "test ID", Short: "Send a test to an endpoint and show the result",
			Long: `Sends a test to an endpoint, active or not, and waits for the first attempt. The exit code is 1 if
it was not delivered.`,
			Example: "  belfryctl webhooks test 3",
		}, testWebhook))
}

var webhooks = resource{path: webhookPath, part: "webhook", id: plainID("a webhook"), argument: "url",
	flags: func(*cobra.Command) {}, fields: webhookFields, shown: []string{"id", "active", "url", "kinds", "school_id"}}

func listWebhooks(j job) error {
	all := j.c.List(j.ctx, webhookPath, "webhooks", nil)
	const heads = "id,active,url,kinds,school_id;created_at"
	return listed(j, "webhooks", all, heads, func(r client.Record) []any {
		w := client.As[api.Webhook](r)
		return []any{w.ID, w.Active, w.URL, r.Text("kinds"), orNone(w.SchoolID), w.CreatedAt}
	})
}

func addWebhook(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "add URL", Short: "Register an endpoint and print its secret once",
		Example: "  belfryctl webhooks add https://hooks.school.example/belfry " +
			"--kind commitment.requested,commitment.decided",
	}
	kindFlag(command, "; all if not given")
	command.Flags().String("school", "",
		"only entries of what belongs to this school, an id or a key such as Group:north")
	return webhooks.adds(s, command, "secret")
}

// webhookFields returns the fields that were given.
func webhookFields(j job) (map[string]any, error) {
	fields, err := j.fieldsGiven("school")
	for flag, field := range map[string]string{"endpoint": "url", "kind": "kinds"} {
		if value, given := fields[flag]; given {
			delete(fields, flag)
			fields[field] = value
		}
	}
	return fields, err
}

// noticeKinds are the kinds of notice that a webhook may subscribe to.
var noticeKinds = []string{"commitment.requested", "commitment.decided", "commitment.deleted", "request.allocated",
	"event.deleted"}

func kindFlag(command *cobra.Command, more string) {
	command.Flags().StringSlice("kind", nil, "kinds of notice to send: "+strings.Join(noticeKinds, ", ")+more)
	complete(command, "kind", noticeKinds...)
}

func changeWebhook(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "change ID", Short: "Change the given fields of an endpoint",
		Long: `An inactive endpoint gets no new deliveries. Waiting ones are sent when it is active again.`,
		Example: "  belfryctl webhooks change 3 --active=false\n" +
			"  belfryctl webhooks change 3 --endpoint https://hooks.school.example/new --kind commitment.decided",
	}
	command.Flags().String("endpoint", "", "new address")
	command.Flags().Bool("active", true, "whether it is sent notices")
	kindFlag(command, "")
	return webhooks.changes(s, command)
}

func renewWebhookSecret(j job) error {
	id, path, err := webhooks.at(j)
	if err != nil {
		return err
	}
	webhook, err := j.c.Create(j.ctx, path+"/secret", "webhook", nil)
	return j.secret(err, "webhook", id, "secret", client.As[api.NewWebhook](webhook).Secret)
}

func listDeliveries(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "deliveries ID", Short: "Show the deliveries of the last 30 days, newest first",
		Example: "  belfryctl webhooks deliveries 3 --limit 20",
	}
	limit := command.Flags().Int("limit", 100, "maximum number of deliveries")
	return administrative(s, command, func(j job) error {
		_, path, err := webhooks.at(j)
		if err != nil {
			return err
		}
		if *limit < 1 {
			return &usageError{errors.New("--limit takes 1 or more")}
		}
		sent, err := first(j.c.List(j.ctx, path+"/deliveries", "deliveries", nil), *limit)
		if err != nil {
			return err
		}
		return j.deliveries(sent)
	})
}

func (j job) deliveries(sent []client.Record) error {
	return list(j, "deliveries", sent, "id,created_at,kind,event_id,state,attempts,next_attempt_at,error",
		func(d api.Delivery) []any {
			return []any{d.ID, d.CreatedAt, d.Kind, orNone(d.EventID), d.State, d.Attempts, d.NextAttemptAt, d.Error}
		})
}

func testWebhook(j job) error {
	_, path, err := webhooks.at(j)
	if err != nil {
		return err
	}
	test, err := j.c.Create(j.ctx, path+"/test", "delivery", nil)
	if err != nil {
		return err
	}
	if test, err = j.tried(path, client.As[api.Delivery](test).ID); err != nil {
		return err
	}
	err = j.deliveries([]client.Record{test})
	if d := client.As[api.Delivery](test); err == nil && d.State != api.DeliveryStateDelivered {
		err = fmt.Errorf("the test was not delivered: %s", d.Error)
	}
	return err
}

// tried waits until a delivery to a webhook is no longer waiting, and returns it as it is then.
func (j job) tried(webhook string, id int64) (client.Record, error) {
	for deadline := time.Now().Add(testPatience); time.Now().Before(deadline); {
		for r, err := range j.c.List(j.ctx, webhook+"/deliveries", "deliveries", nil) {
			if err != nil {
				return nil, err
			}
			d := client.As[api.Delivery](r)
			if d.ID == id && d.State != api.DeliveryStateWaiting {
				return r, nil
			}
			if d.ID <= id { // the newest come first
				break
			}
		}
		select {
		case <-j.ctx.Done():
			return nil, j.ctx.Err()
		case <-time.After(testLook):
		}
	}
	return nil, fmt.Errorf("the test was not tried within %v", testPatience)
}
