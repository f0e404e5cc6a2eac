// Command frontdoor serves a developer's cluster at one address, without an ingress controller. It sends each
// public path to the service in the route table, at the address to which Tilt forwards its port.
//
//	frontdoor -listen 127.0.0.1:8080 identity=127.0.0.1:18080 elements=127.0.0.1:18081 …
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/service/process"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// stopPatience is how long requests in flight may take at the end.
const stopPatience = 5 * time.Second

func main() { process.Main("frontdoor", run) }

func run(ctx context.Context, args []string, _ io.Writer) error {
	flags := flag.NewFlagSet("frontdoor", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8080", "`address` to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	targets := map[string][]string{}
	for _, pair := range flags.Args() {
		service, address, found := strings.Cut(pair, "=")
		if !found {
			return fmt.Errorf("%q is not SERVICE=HOST:PORT", pair)
		}
		targets[service] = append(targets[service], address)
	}
	table, err := checkout.Routes()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := &http.Server{Addr: *listen, Handler: frontdoor.New(table, targets, log), ReadHeaderTimeout: stopPatience}
	served := make(chan error, 1)
	go func() { served <- server.ListenAndServe() }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	down, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	if err := server.Shutdown(down); err != nil {
		return err
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
