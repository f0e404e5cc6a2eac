package main

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// full is a file on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }
func (full) Close() error              { return nil }

// An error of Write would end the program that writes, again and again.
func TestLines_AFullDiskEndsNoService(t *testing.T) {
	var out bytes.Buffer
	l := &lines{log: slog.New(slog.NewTextHandler(&out, nil)), name: "events", file: full{}, parse: true}
	for range 2 {
		errortest.None(t, errortest.Of(l.Write([]byte(`{"level":"WARN","msg":"hello"}`+"\n"))))
	}
	errortest.None(t, l.Close())
	if strings.Count(out.String(), "no space left") != 1 || strings.Count(out.String(), "hello") != 2 {
		t.Error(out.String())
	}
}
