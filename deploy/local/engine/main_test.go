package main

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestRefusesWhatItCannotServe(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // the test is over
	withoutServer := "postgres://belfry:hunter2@/postgres?host=" + t.TempDir() + "&pool_max_conns=7"
	flags := func(listen, postgres string) []string {
		return []string{"-listen", listen, "-postgres", postgres, "-state", t.TempDir()}
	}

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"address of another machine's reach": {flags("0.0.0.0:0", withoutServer), "not a loopback address"},
		"address without a port":             {flags("127.0.0.1", withoutServer), "-listen"},
		"taken port":                         {flags(taken.Addr().String(), withoutServer), "address already in use"},
		"no PostgreSQL": {append(flags("127.0.0.1:0", withoutServer), "-patience", "1ms"),
			"PostgreSQL does not answer within 1ms"},
		"not a PostgreSQL URL":         {flags("127.0.0.1:0", "postgres://belfry:hunter2@["), "not a PostgreSQL URL"},
		"nothing to keep the state in": {flags("127.0.0.1:0", withoutServer)[:4], "-state is missing"},
		"a word too many":              {[]string{"now"}, `"now"`},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			err := run(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), c.args, func(string) string { return "" })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("the error is %v, want one that says %q", err, c.want)
			}
			if strings.Contains(err.Error()+log.String(), "hunter2") {
				t.Errorf("the password stands in the error or the log: %v\n%s", err, &log)
			}
		})
	}
}
