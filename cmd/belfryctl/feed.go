package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

func feedCommand(s surroundings) *cobra.Command {
	return family("feed", "Manage feeds of the calendar of a person, room or group",
		`A feed is a secret address for calendar programs, which shows what you see.

`+aboutNames,
		addFeed(s),
		administrative(s, &cobra.Command{
			Use: "list NAME", Short: "List your feeds of an element, without addresses",
			Example: "  belfryctl feed list gordon", ValidArgsFunction: completeNames(s),
		}, listFeeds),
		endFeed(s))
}

func addFeed(s surroundings) *cobra.Command {
	var called string
	command := &cobra.Command{
		Use: "add NAME", Short: "Create a feed and print its address, which is shown only once",
		Example:           "  belfryctl feed add gordon\n  belfryctl feed add 'Great Hall' --called Phone",
		ValidArgsFunction: completeNames(s),
	}
	command.Flags().StringVar(&called, "called", "", "name of the feed, such as the device that reads it")
	dryRunFlag(command)
	return administrative(s, command, func(j job) error {
		element, err := j.named(j.args[0])
		if err != nil {
			return err
		}
		fields := map[string]any{}
		if called != "" {
			fields["name"] = called
		}
		feed, err := j.c.Create(j.ctx, feedPath(element), "feed", fields)
		if j.dryRun && err == nil {
			return j.trial(j.done("element", element.ID("id"), "a feed of %s would be created", element.Text("name")))
		}
		address := strings.TrimSuffix(j.url, "/") + client.As[api.Feed](feed).Path
		return j.secret(err, "feed", feed.ID("id"), "url", address)
	}, dataFormats...)
}

func feedPath(element client.Record) string {
	return onePath("/api/elements", element.ID("id")) + "/feeds"
}

// feeds returns the element that the first argument names, and the user's feeds of it.
func (j job) feeds() (element client.Record, feeds []client.Record, err error) {
	if element, err = j.named(j.args[0]); err != nil {
		return nil, nil, err
	}
	feeds, err = collect(j.c.List(j.ctx, feedPath(element), "feeds", nil))
	return element, feeds, err
}

func listFeeds(j job) error {
	_, feeds, err := j.feeds()
	if err != nil {
		return err
	}
	return list(j, "feeds", feeds, "id,name,created_at,element", func(f api.Feed) []any {
		return []any{f.ID, f.Name, f.CreatedAt, f.Element.Name}
	})
}

func endFeed(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "end NAME [ID]", Short: "End a feed; its address stops working", Example: "  belfryctl feed end gordon",
		ValidArgsFunction: completeNames(s),
	}
	dryRunFlag(command)
	return administrative(s, command, func(j job) error {
		element, feeds, err := j.feeds()
		if err != nil {
			return err
		}
		name := element.Text("name")
		id, err := only(feeds, nil, "feeds of "+name)
		if len(j.args) > 1 {
			id, err = plainID("a feed")(j, j.args[1])
		}
		switch {
		case err != nil:
			return err
		case id == 0:
			return fmt.Errorf("you have no feed of %s", name)
		}
		if err := j.c.Delete(j.ctx, onePath(feedPath(element), id), nil); err != nil {
			return err
		}
		if j.dryRun {
			return j.trial(j.done("feed", id, "feed %d of %s would end", id, name))
		}
		return j.done("feed", id, "feed %d of %s has ended", id, name)
	}, dataFormats...)
}
