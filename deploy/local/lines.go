package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
)

// lines copies a program's output to the log, line by line. Of a service the log gets only warnings, errors and
// lines that are not JSON, while its file gets all lines. Of any other program the log gets every line.
type lines struct {
	log   *slog.Logger
	name  string
	file  io.WriteCloser // nil: none
	parse bool           // the program writes JSON log lines

	mu   sync.Mutex
	rest []byte
}

// Write implements io.Writer; a line is copied once it is complete.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		if _, err := l.file.Write(p); err != nil {
			return 0, err
		}
	}
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.pass(line)
		l.rest = rest
	}
}

// Close closes the file.
func (l *lines) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

func (l *lines) pass(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	if !l.parse {
		l.log.Info(string(line), "from", l.name)
		return
	}
	var entry struct {
		Level slog.Level
		Msg   string
		Error string
		Route string
	}
	if json.Unmarshal(line, &entry) != nil {
		l.log.Warn(string(line), "service", l.name)
		return
	}
	if entry.Level < slog.LevelWarn {
		return
	}
	fields := []any{"service", l.name}
	if entry.Route != "" {
		fields = append(fields, "route", entry.Route)
	}
	if entry.Error != "" {
		fields = append(fields, "error", entry.Error)
	}
	l.log.Log(context.Background(), entry.Level, entry.Msg, fields...)
}
