package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// console prints lines with the time since the start. It is safe for concurrent use.
type console struct {
	mu    sync.Mutex
	out   io.Writer
	began time.Time
}

func newConsole(out io.Writer) *console { return &console{out: out, began: time.Now()} }

func (t *console) line(format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// a closed terminal is no reason to stop
	fmt.Fprintf(t.out, "%6.1f  %s\n", time.Since(t.began).Seconds(), fmt.Sprintf(format, values...))
}

// complaints are what did not hold. They are safe for concurrent use.
type complaints struct {
	mu    sync.Mutex
	texts []string
}

func (c *complaints) add(format string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = append(c.texts, fmt.Sprintf(format, values...))
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.texts)
}
