package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
)

// every is the time between two lines of progress when there is no terminal.
const every = 5 * time.Second

// progress shows the progress of an import: a bar with a rate on a terminal, otherwise a line every five seconds. It
// is safe for use by several goroutines.
type progress struct {
	out io.Writer
	// refused, if set, hears that no server answers at the address. True: nothing is tried again.
	refused func(error) bool

	mu          sync.Mutex
	bar         *progressbar.ProgressBar // nil where there is no terminal
	total, seen int
	began, last time.Time
}

func (p *progress) start(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.began, p.last = total, time.Now(), time.Now()
	if isTerminal(p.out) {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetWidth(30),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("records"),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
}

// add counts processed records of a kind.
func (p *progress) add(kind bundle.Kind, records int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen += records
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%-15s", kind))
		_ = p.bar.Add(records) // a bar that can't be drawn is no reason to stop
		return
	}
	if time.Since(p.last) >= every {
		p.last = time.Now()
		fmt.Fprintf(p.out, "%s: %s of %s records, %s a second\n", kind, number(p.seen), number(p.total),
			number(int(float64(p.seen)/time.Since(p.began).Seconds())))
	}
}

// retry prints why a call is tried again.
func (p *progress) retry(err error, pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if dial := (*net.OpError)(nil); p.refused != nil && errors.As(err, &dial) && dial.Op == "dial" && p.refused(dial) {
		return
	}
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.out, "%v; trying again in %s\n", err, pause.Round(time.Second/10))
}

// done removes the bar.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
