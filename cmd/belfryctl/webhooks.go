package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
)

const webhookPath = "/api/admin/webhooks"

// testPatience is how long webhooks test waits for the result of its test, and testLook how often it asks for it.
const (
	testPatience = 30 * time.Second
	testLook     = 200 * time.Millisecond
)

func webhooksCommand(s surroundings) *cobra.Command {
	return family("webhooks", "Have programs told what became of entries",
		`A webhook is an endpoint that a deployment sends its notices to: entries that wait for a decision, `+
			`decisions, allocations,
and confirmed entries that are gone. docs/notice.md says what it is sent and how to check the signature.
The login is as for import.`,
		listWebhooks(s), addWebhook(s), changeWebhook(s), renewWebhookSecret(s), removeWebhook(s), listDeliveries(s),
		testWebhook(s))
}

// webhookID reads the id from the one argument.
func (j job) webhookID() (int64, error) { return j.id("a webhook") }

func webhookAt(id int64, more string) string { return fmt.Sprintf("%s/%d%s", webhookPath, id, more) }

func listWebhooks(s surroundings) *cobra.Command {
	command := &cobra.Command{Use: "list", Short: "List the webhooks, by id", Example: "  belfryctl webhooks list",
		Args: cobra.NoArgs}
	return administrative(s, command, func(j job) error {
		webhooks, err := collect(j.c.List(j.ctx, webhookPath, "webhooks", nil))
		if err != nil {
			return err
		}
		return j.list("webhooks", webhooks, field("id"), field("active"), field("url"), field("kinds"),
			field("school_id"))
	})
}

func addWebhook(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "add URL", Short: "Register an endpoint, and print its secret, which is never shown again",
		Example: "  belfryctl webhooks add https://hooks.school.example/belfry " +
			"--kind commitment.requested,commitment.decided",
		Args: cobra.ExactArgs(1),
	}
	kinds := kindFlag(command, "; all when not given")
	school := command.Flags().String("school", "",
		"tell it of the entries of what belongs to this school, and of no others: an id or a key such as Group:north")
	return administrative(s, command, func(j job) error {
		fields := map[string]any{"url": j.args[0]}
		if j.given("kind") {
			fields["kinds"] = *kinds
		}
		if *school != "" {
			id, err := j.elementID(*school)
			if err != nil {
				return err
			}
			fields["school_id"] = id
		}
		webhook, err := j.c.Create(j.ctx, webhookPath, "webhook", fields)
		if err != nil {
			return err
		}
		return j.show("webhook", webhook, "id", "url", "kinds", "school_id", "secret")
	})
}

// noticeKinds are the kinds of notice that a webhook may subscribe to.
var noticeKinds = []string{"commitment.requested", "commitment.decided", "commitment.deleted", "request.allocated",
	"event.deleted"}

func kindFlag(command *cobra.Command, more string) *[]string {
	kinds := command.Flags().StringSlice("kind", nil,
		"kinds of notice that it gets: "+strings.Join(noticeKinds, ", ")+more)
	complete(command, "kind", noticeKinds...)
	return kinds
}

func changeWebhook(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "change ID", Short: "Change an endpoint; what is not given stays",
		Long: "Changes an endpoint. One that is made inactive gets nothing new, and what waits for it goes on " +
			"waiting until it is active again.",
		Example: "  belfryctl webhooks change 3 --active=false\n" +
			"  belfryctl webhooks change 3 --endpoint https://hooks.school.example/new --kind commitment.decided",
		Args: cobra.ExactArgs(1),
	}
	endpoint := command.Flags().String("endpoint", "", "its new address")
	active := command.Flags().Bool("active", true, "whether it gets notices")
	kinds := kindFlag(command, "")
	return administrative(s, command, func(j job) error {
		id, err := j.webhookID()
		if err != nil {
			return err
		}
		fields := map[string]any{}
		if j.given("endpoint") {
			fields["url"] = *endpoint
		}
		if j.given("active") {
			fields["active"] = *active
		}
		if j.given("kind") {
			fields["kinds"] = *kinds
		}
		webhook, err := j.c.Change(j.ctx, webhookAt(id, ""), "webhook", fields)
		if err != nil {
			return err
		}
		return j.show("webhook", webhook, "id", "active", "url", "kinds")
	})
}

func renewWebhookSecret(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use:     "new-secret ID",
		Short:   "Give an endpoint a new secret and print it, once; the one before signs along for 24 hours",
		Example: "  belfryctl webhooks new-secret 3 > secret-of-3",
		Args:    cobra.ExactArgs(1),
	}
	return administrative(s, command, func(j job) error {
		id, err := j.webhookID()
		if err != nil {
			return err
		}
		webhook, err := j.c.Create(j.ctx, webhookAt(id, "/secret"), "webhook", nil)
		if err != nil {
			return err
		}
		if j.json {
			return printJSON(j.s.out, map[string]any{"webhook": id, "secret": webhook.Text("secret")})
		}
		_, err = fmt.Fprintln(j.s.out, webhook.Text("secret"))
		return err
	})
}

func removeWebhook(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "remove ID", Short: "Remove an endpoint, with what waits for it",
		Example: "  belfryctl webhooks remove 3",
		Args:    cobra.ExactArgs(1),
	}
	return administrative(s, command, func(j job) error {
		id, err := j.webhookID()
		if err != nil {
			return err
		}
		if err := j.c.Delete(j.ctx, webhookAt(id, ""), nil); err != nil {
			return err
		}
		return j.done("webhook", id, "removed webhook %d", id)
	})
}

func listDeliveries(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "deliveries ID", Short: "Show what was sent to an endpoint in the last 30 days, newest first",
		Example: "  belfryctl webhooks deliveries 3 --limit 20",
		Args:    cobra.ExactArgs(1),
	}
	limit := command.Flags().Int("limit", 100, "how many at most")
	return administrative(s, command, func(j job) error {
		id, err := j.webhookID()
		if err != nil {
			return err
		}
		if *limit < 1 {
			return &usageError{errors.New("--limit takes 1 or more")}
		}
		var deliveries []client.Record
		for delivery, err := range j.c.List(j.ctx, webhookAt(id, "/deliveries"), "deliveries", nil) {
			if err != nil {
				return err
			}
			if deliveries = append(deliveries, delivery); len(deliveries) == *limit {
				break
			}
		}
		return j.deliveries(deliveries)
	})
}

func (j job) deliveries(deliveries []client.Record) error {
	return j.list("deliveries", deliveries, field("id"), field("created_at"), field("kind"), field("event_id"),
		field("state"), field("attempts"), field("next_attempt_at"), field("error"))
}

func testWebhook(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "test ID", Short: "Send a test to an endpoint and show what became of it",
		Long: `Sends a test to an endpoint, active or not, waits until it was tried, and shows what became of it. ` +
			`Exit code 1 when it was not
delivered.`,
		Example: "  belfryctl webhooks test 3",
		Args:    cobra.ExactArgs(1),
	}
	return administrative(s, command, func(j job) error {
		id, err := j.webhookID()
		if err != nil {
			return err
		}
		test, err := j.c.Create(j.ctx, webhookAt(id, "/test"), "delivery", nil)
		if err != nil {
			return err
		}
		if test, err = j.tried(id, test); err != nil {
			return err
		}
		err = j.deliveries([]client.Record{test})
		if err == nil && test.Text("state") != "delivered" {
			err = fmt.Errorf("the test was not delivered: %s", test.Text("error"))
		}
		return err
	})
}

// tried waits until a delivery is no longer waiting, and returns it as it is then.
func (j job) tried(webhook int64, delivery client.Record) (client.Record, error) {
	for deadline := time.Now().Add(testPatience); time.Now().Before(deadline); {
		for d, err := range j.c.List(j.ctx, webhookAt(webhook, "/deliveries"), "deliveries", nil) {
			if err != nil {
				return nil, err
			}
			if d.ID("id") == delivery.ID("id") && d.Text("state") != "waiting" {
				return d, nil
			}
			if d.ID("id") <= delivery.ID("id") { // the newest come first
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
