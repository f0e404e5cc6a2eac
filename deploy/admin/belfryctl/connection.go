package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/belfry-schools/belfry/deploy/admin/client"
)

// connection says which deployment a command calls, and as whom.
type connection struct{ url, uuidFile string }

// flags adds the flags of every command that calls a deployment.
func (c *connection) flags(flags *pflag.FlagSet, s surroundings) {
	flags.StringVar(&c.url, "url", orDefault(s.env("BELFRY_URL"), defaultURL),
		"address of the deployment (environment: BELFRY_URL)")
	flags.StringVar(&c.uuidFile, "uuid-file", "", "file that holds the uuid to log in with (instead of BELFRY_UUID)")
}

// client returns a client that is not logged in yet, and the uuid to log in with.
func (c *connection) client(s surroundings, o client.Options) (*client.Client, string, error) {
	uuid, err := readUUID(c.uuidFile, s.env)
	if err != nil {
		return nil, "", err
	}
	o.Wait, o.UserAgent = s.wait, "belfryctl"
	made, err := client.New(c.url, o)
	if err != nil {
		return nil, "", &usageError{fmt.Errorf("--url: %w", err)}
	}
	return made, uuid, nil
}

// login returns a client that is logged in.
func (c *connection) login(ctx context.Context, s surroundings) (*client.Client, error) {
	made, uuid, err := c.client(s, client.Options{OnRetry: (&progress{out: s.err}).retry})
	if err != nil {
		return nil, err
	}
	if err := made.Login(ctx, uuid); err != nil {
		return nil, fmt.Errorf("logging in: %w", err)
	}
	return made, nil
}
