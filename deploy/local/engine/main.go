// Command engine is the document store of a developer's or CI machine: FerretDB in front of a PostgreSQL with the
// DocumentDB extension. It speaks MongoDB's wire protocol without authentication, so it listens on loopback
// addresses only. It is never part of an installation: there the store is MongoDB.
//
// It stays in the foreground, logs one line per event to standard error, and ends with status 0 on SIGTERM or
// SIGINT. It ends with status 1 and one line with the reason when the address is in use, or when PostgreSQL or
// DocumentDB is missing or not as expected.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/FerretDB/FerretDB/v2/ferretdb"
)

// settings holds the values of the flags. Each flag's default comes from an environment variable, so that a URL
// need not show in a process list.
type settings struct {
	postgres string        // PostgreSQL URL; parameters such as pool_max_conns go to the connection pool
	listen   string        // host:port of a loopback address
	state    string        // folder for FerretDB's state file
	patience time.Duration // longest wait until PostgreSQL answers, recovery after a crash included
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(ctx, log, os.Args[1:], os.Getenv); err != nil {
		log.Error("the engine ended", "reason", oneLine(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger, args []string, getenv func(string) string) error {
	s, err := parse(args, getenv)
	if err != nil {
		return err
	}
	if err := checkFree(s.listen); err != nil {
		return err
	}
	versions, err := prepare(ctx, s.postgres, s.patience)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	if err != nil {
		return err
	}
	if versions.documentdb != testedDocumentDB {
		log.Warn("this DocumentDB is not the one that the engine was tested with",
			"tested", testedDocumentDB, "found", versions.documentdb)
	}
	telemetry := false
	db, err := ferretdb.New(&ferretdb.Config{
		PostgreSQLURL: s.postgres, ListenAddr: s.listen, StateDir: s.state, LogLevel: slog.LevelError,
		LogOutput: os.Stderr, Telemetry: &telemetry,
	})
	if err != nil {
		return fmt.Errorf("FerretDB does not start (its own line above says why): %w", err)
	}
	log.Info("listening", "address", s.listen, "postgresql", versions.postgresql, "documentdb", versions.documentdb)
	db.Run(ctx)
	log.Info("stopped")
	return nil
}

func parse(args []string, getenv func(string) string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("engine", flag.ContinueOnError)
	flags.StringVar(&s.postgres, "postgres", getenv("ENGINE_POSTGRES_URL"), "PostgreSQL `URL` (ENGINE_POSTGRES_URL)")
	flags.StringVar(&s.listen, "listen", getenv("ENGINE_LISTEN"), "loopback `host:port` to listen on (ENGINE_LISTEN)")
	flags.StringVar(&s.state, "state", getenv("ENGINE_STATE"), "`folder` for the state file (ENGINE_STATE)")
	flags.DurationVar(&s.patience, "patience", time.Minute, "how long PostgreSQL may take until it answers")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	for name, value := range map[string]string{"postgres": s.postgres, "listen": s.listen, "state": s.state} {
		if value == "" {
			return s, fmt.Errorf("-%s is missing", name)
		}
	}
	return s, loopback(s.listen)
}

// loopback returns an error for an address that other machines can reach: the engine has no authentication.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("-listen: %q is not a loopback address, and the engine asks for no password", host)
	}
	return nil
}

// checkFree returns the reason when the address cannot be listened on.
func checkFree(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
