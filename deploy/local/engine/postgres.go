package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// testedDocumentDB is the version of the extension that the engine and Belfry's tests are known to work with. With
// another version the engine starts too, and logs a warning.
const testedDocumentDB = "1.0-0"

// SQLSTATEs that PostgreSQL answers with while it starts, recovers or has no connection to spare.
const (
	cannotConnectNow   = "57P03"
	tooManyConnections = "53300"
)

type versions struct{ postgresql, documentdb string }

// prepare waits until PostgreSQL answers, for patience at most. It then creates the DocumentDB extension, or
// updates it to the version of the installed library, and returns the versions.
func prepare(ctx context.Context, url string, patience time.Duration) (versions, error) {
	var v versions
	conn, err := connect(ctx, url, patience)
	if err != nil {
		return v, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending on it
	if err := conn.QueryRow(ctx, `SHOW server_version`).Scan(&v.postgresql); err != nil {
		return v, fmt.Errorf("PostgreSQL answers, but not to SHOW server_version: %w", err)
	}
	if err := installExtension(ctx, conn); err != nil {
		return v, err
	}
	const query = `SELECT extversion, documentdb_api.binary_extended_version()
		FROM pg_extension WHERE extname = 'documentdb'`
	var binary string
	if err := conn.QueryRow(ctx, query).Scan(&v.documentdb, &binary); err != nil {
		return v, fmt.Errorf("the DocumentDB extension is there but does not answer as expected (tested: %s): %w",
			testedDocumentDB, err)
	}
	return v, nil
}

// installExtension creates the extension, or updates it when its library has another version than its objects in
// the database.
func installExtension(ctx context.Context, conn *pgx.Conn) error {
	var installed, available *string
	err := conn.QueryRow(ctx, `SELECT installed_version, default_version
		FROM pg_available_extensions WHERE name = 'documentdb'`).Scan(&installed, &available)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errors.New("this PostgreSQL has no DocumentDB extension: install the package postgresql-18-documentdb")
	case err != nil:
		return fmt.Errorf("looking for the DocumentDB extension: %w", err)
	case installed == nil:
		if _, err := conn.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS documentdb CASCADE`); err != nil {
			return fmt.Errorf("creating the DocumentDB extension: %w", err)
		}
	case available != nil && *installed != *available:
		for _, name := range []string{"documentdb_core", "documentdb"} {
			if _, err := conn.Exec(ctx, `ALTER EXTENSION `+name+` UPDATE`); err != nil {
				return fmt.Errorf("bringing the extension %s from %s to %s: %w", name, *installed, *available, err)
			}
		}
	}
	return nil
}

// connect tries again while PostgreSQL is not listening or is still starting. Any other error is final.
func connect(ctx context.Context, url string, patience time.Duration) (*pgx.Conn, error) {
	config, err := poolless(url)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(patience)
	for {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err == nil {
			return conn, nil
		}
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code != cannotConnectNow && refused.Code != tooManyConnections {
			return nil, fmt.Errorf("PostgreSQL refuses the connection: %w", err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("PostgreSQL does not answer within %s: %w", patience, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// poolless parses a URL and removes a pool's parameters, which a single connection would send to the server as
// settings.
func poolless(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("-postgres: not a PostgreSQL URL") // the parser's own error holds the URL
	}
	for name := range config.RuntimeParams {
		if strings.HasPrefix(name, "pool_") {
			delete(config.RuntimeParams, name)
		}
	}
	return config, nil
}
