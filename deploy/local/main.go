// Command local runs Belfry on one machine without a cluster: the stores, the real binaries of the services,
// and a front door at one address that routes as the chart does. It loads a demo school into an empty database. On
// Ctrl-C it stops everything in order.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/deploy/local/stores"
	"github.com/belfry-schools/belfry/pkg/frontdoor"
	"github.com/belfry-schools/belfry/pkg/service/settings"
	"github.com/belfry-schools/belfry/pkg/testing/checkout"
)

// stopTimeout is how long requests in flight may take when the front door stops.
const stopTimeout = 15 * time.Second

func main() {
	ctx, stop := untilStopped()
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && ctx.Err() == nil {
		fmt.Fprintf(os.Stderr, "local: %v\n", err)
		os.Exit(1)
	}
}

// untilStopped returns a context that ends at Ctrl-C, SIGTERM or the end of the terminal. A second Ctrl-C ends the
// process at once. A second one of the others does not: make passes SIGTERM on, which its group may have got too.
func untilStopped() (context.Context, context.CancelFunc) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	// Ctrl-C also ends a tee that reads the output. Then the next line fails, instead of ending the process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return ctx, stop
}

// run starts everything, waits, and stops what it started in reverse order, also after an error. The argument
// "settings" prints the table of its variables instead.
func run(ctx context.Context, args []string, out *os.File) (err error) {
	var cfg config
	if slices.Equal(args, []string{"settings"}) {
		return settings.WriteTable(out, settings.Variables(&cfg))
	}
	if len(args) > 0 {
		return fmt.Errorf("unknown argument %q: everything is set by the environment, see docs/settings.md", args[0])
	}
	if err := settings.Load(&cfg); err != nil {
		return err
	}
	root, err := checkout.Root()
	if err != nil {
		return err
	}
	local := cmp.Or(cfg.Dir, filepath.Join(root, ".local"))
	if err := os.MkdirAll(local, 0o755); err != nil {
		return fmt.Errorf("make the folder for data: %w", err)
	}
	table, err := checkout.Routes()
	if err != nil {
		return err
	}
	log := slog.New(tint.NewTextHandler(out,
		&tint.Options{Level: slog.LevelInfo, TimeFormat: time.TimeOnly, NoColor: !term.IsTerminal(int(out.Fd()))}))

	// Listen first: when the port is in use, nothing has been started yet.
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(int(cfg.Port)))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("PORT: %w (is another run still there?)", err)
	}
	defer func() { _ = listener.Close() }() // for errors before it is served; serving closes it itself

	lock, err := lockFolder(local)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // nothing was written
	admin, err := adminUUID(local, cfg.AdminUUID)
	if err != nil {
		return err
	}
	if err := os.Unsetenv("BOOTSTRAP_ADMIN_UUID"); err != nil { // identity alone gets it
		return err
	}
	running, err := stores.Start(ctx,
		stores.Options{Checkout: root, Dir: filepath.Join(local, "stores"), Out: &lines{log: log, name: "stores"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()

	url := "http://" + listener.Addr().String()
	var signIn *signIn
	if cfg.OIDC {
		if signIn, err = listenForLogins(ctx, url); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, signIn.Close()) }()
	}
	services, err := newReplicas(ctx, cfg, root, local, table, running, admin, signIn, log)
	if err != nil {
		return err
	}
	stop := sync.OnceFunc(services.stop)
	defer stop()
	if err := services.start(ctx); err != nil {
		return err
	}

	door := &http.Server{Handler: frontdoor.New(table, services.plan.Public(), log), ReadHeaderTimeout: stopTimeout}
	door.RegisterOnShutdown(stop) // at the same time: streams through the door end with their service
	served := make(chan error, 1)
	go func() { served <- door.Serve(listener) }()
	defer func() {
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if err := door.Shutdown(down); err != nil {
			log.Warn("requests were cut off", "error", err.Error())
		}
	}()

	var logins []demo.Login
	if cfg.Demo {
		if logins, err = loadDemo(ctx, cfg, local, url, admin, log); err != nil {
			return fmt.Errorf("load the demo school: %w", err)
		}
	} else if err := abandonDemo(filepath.Join(local, demoFile)); err != nil {
		return err
	}
	if err := greet(out, url, admin, logins); err != nil {
		return err
	}
	if signIn != nil {
		if err := signIn.serve(out, logins); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		log.Info("stopping")
		return nil
	case err := <-served:
		return err
	}
}

// lockFolder keeps other runs out of the folder: they would take away the files of the demo school that this run loads,
// and lose their stores when it ends. The kernel unlocks it when this process ends.
func lockFolder(dir string) (*os.File, error) {
	f, err := stores.Lock(filepath.Join(dir, "lock"))
	if errors.Is(err, stores.ErrLocked) {
		err = fmt.Errorf("another run uses %s: stop it, or set LOCAL_DIR to another folder", dir)
	}
	return f, err
}

// greet prints the address of Belfry and how to log in. Nothing else prints uuids.
func greet(out io.Writer, url string, admin settings.Secret, logins []demo.Login) error {
	_, err := fmt.Fprintf(out, `
Belfry is at %[1]s

  %-24[2]s  %[3]s
%[4]s
Open it in a browser and sign in with one of these. Programs log in so:
  curl -c cookies -H 'Content-Type: application/json' -d '{"uuid": "%[3]s"}' %[1]s/api/login
Ctrl-C stops everything and keeps the data.

`, url, "First administrator", admin.Reveal(), describe(logins))
	return err
}
