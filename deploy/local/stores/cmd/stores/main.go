// Command stores runs the stores of a developer's or CI machine: while a command runs, which gets their addresses in
// MONGODB_URI and REDIS_URL, or until it is interrupted. Stores that another process runs for the same folder serve
// too, and stay. See package stores for which they are.
//
//	go run ./deploy/local/stores/cmd/stores [COMMAND [ARGUMENT…]]
//
// STORES_DIR is the folder of their data; .local/stores in the checkout when unset.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/belfry-schools/belfry/deploy/local/stores"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

func main() { process.Main("stores", run) }

func run(ctx context.Context, command []string, out io.Writer) (err error) {
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	r, err := stores.Start(ctx, stores.Options{Checkout: root, Dir: os.Getenv("STORES_DIR"), Out: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop()) }()
	if len(command) > 0 {
		return runWith(ctx, r, command)
	}
	_, err = fmt.Fprintf(out, "export MONGODB_URI='%s'\nexport REDIS_URL='%s'\n", r.MongoURI, r.RedisURL)
	if err == nil && !r.Attached {
		<-ctx.Done()
	}
	return err
}

// runWith runs the command. An interrupt at the terminal reaches it too, and the stores stop after it.
func runWith(ctx context.Context, r *stores.Running, command []string) error {
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), "MONGODB_URI="+r.MongoURI, "REDIS_URL="+r.RedisURL)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	return c.Run()
}
