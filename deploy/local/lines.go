package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"sync"
)

// levelWithin is the length, in bytes, of the beginning of a service's line that has its time and its level.
const levelWithin = 64

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
		if _, err := l.file.Write(p); err != nil { // the disk is full: the program goes on without its file
			l.log.Warn("the log is not written any more", "service", l.name, "error", err.Error())
			_ = l.file.Close() // it is of no use
			l.file = nil
		}
	}
	written := len(p)
	if len(l.rest) > 0 {
		p = append(l.rest, p...)
	}
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		if !whole {
			l.rest = append(l.rest[:0], rest...)
			return written, nil
		}
		l.pass(line)
		p = rest
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
	if head := line[:min(len(line), levelWithin)]; bytes.Contains(head, []byte(`"level":"INFO"`)) {
		return // most lines: those of requests
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
