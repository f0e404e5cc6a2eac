package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

func whoamiCommand(s surroundings) *cobra.Command {
	command := &cobra.Command{
		Use: "whoami", Short: "Show as which user you are logged in, and what it may do",
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
