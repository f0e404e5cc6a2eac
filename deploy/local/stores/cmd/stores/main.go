// Command stores starts and stops the stores of a developer's or CI machine. See package stores for which they are.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/belfry-schools/belfry/deploy/local/stores"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

const usage = `usage: go run ./deploy/local/stores/cmd/stores COMMAND

  up      bring the stores up in the background, print their addresses as lines for a shell: eval "$(… up)"
  down    end them
  status  say whether they run

STORES_DIR is the folder of their data; .local/stores in the checkout when unset.
`

func main() { process.Main("stores", run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	o := stores.Options{Checkout: root, Dir: os.Getenv("STORES_DIR"), Out: os.Stderr}
	if len(args) == 2 && args[0] == stores.SuperviseCommand {
		o.Dir = args[1]
		return stores.Supervise(ctx, o)
	}
	if len(args) != 1 {
		return fmt.Errorf("one command is needed\n%s", strings.TrimSpace(usage))
	}
	switch args[0] {
	case "up":
		rec, err := stores.Up(ctx, o)
		if err == nil {
			_, err = fmt.Fprintf(out, "export MONGODB_URI='%s'\nexport REDIS_URL='%s'\n", rec.MongoURI, rec.RedisURL)
		}
		return err
	case "down":
		return stores.Down(ctx, o)
	case "status":
		return stores.Status(ctx, o)
	default:
		return fmt.Errorf("there is no command %q\n%s", args[0], usage)
	}
}
