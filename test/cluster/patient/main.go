// Command patient is a client that tries once more: it sends the requests of a file at a fixed rate, and repeats once,
// after a pause, those that failed. It prints how many failed at first, and how many in the end.
//
// A request fails that is not answered within the patience, or with 5xx. The file has the form of vegeta's targets.
// One that changes something carries an Idempotency-Key, so that repeating it does it once.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/process"
)

func main() { process.Main("patient", run) }

// load is the requests and their outcomes. Of a failure it keeps the second in which the request was first sent.
type load struct {
	client   *http.Client
	cookie   string
	patience time.Duration
	pause    time.Duration

	mu      sync.Mutex
	sent    int
	slowest time.Duration // answer, of those that did not fail in the end
	first   map[int]int   // failed at first, by second
	last    map[int]int   // failed in the end, by second
	reasons map[string]int
}

func run(ctx context.Context, args []string, _ io.Writer) error {
	flags := flag.NewFlagSet("patient", flag.ContinueOnError)
	targets := flags.String("targets", "", "file of the requests")
	authority := flags.String("ca", "", "file of the certificate authority")
	rate := flags.Int("rate", 50, "requests a second")
	l := load{first: map[int]int{}, last: map[int]int{}, reasons: map[string]int{}}
	flags.StringVar(&l.cookie, "cookie", "", "session")
	flags.DurationVar(&l.patience, "patience", 5*time.Second, "longest time for one try")
	flags.DurationVar(&l.pause, "pause", time.Second, "time before the second try")
	if err := flags.Parse(args); err != nil {
		return err
	}
	requests, err := read(*targets)
	if err != nil {
		return err
	}
	pem, err := os.ReadFile(*authority)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	l.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 100,
	}}

	l.send(ctx, requests, *rate)
	l.tell()
	return nil
}

// request is what the file has of one.
type request struct {
	method, url string
	header      http.Header
	body        []byte
}

func read(name string) ([]request, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []request
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		lines := strings.Split(block, "\n")
		r := request{header: http.Header{}}
		r.method, r.url, _ = strings.Cut(lines[0], " ")
		for _, line := range lines[1:] {
			if file, found := strings.CutPrefix(line, "@"); found {
				if r.body, err = os.ReadFile(file); err != nil {
					return nil, err
				}
				continue
			}
			name, value, _ := strings.Cut(line, ": ")
			r.header.Set(name, value)
		}
		all = append(all, r)
	}
	return all, nil
}

// send sends until the context ends, and returns when all are answered or given up.
func (l *load) send(ctx context.Context, requests []request, rate int) {
	began, tick := time.Now(), time.NewTicker(time.Second/time.Duration(rate))
	defer tick.Stop()
	var running sync.WaitGroup
	for ; ctx.Err() == nil; l.sent++ {
		r := requests[l.sent%len(requests)]
		running.Go(func() { l.ask(r, began) })
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	running.Wait()
}

func (l *load) ask(r request, began time.Time) {
	sent, key := time.Now(), rand.Text()
	second := int(sent.Sub(began).Seconds())
	reason := l.try(r, key)
	if reason != "" {
		l.note(l.first, second, reason)
		time.Sleep(l.pause)
		if reason = l.try(r, key); reason != "" {
			l.note(l.last, second, "again "+reason)
			return
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slowest = max(l.slowest, time.Since(sent))
}

func (l *load) note(count map[int]int, second int, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	count[second]++
	l.reasons[reason]++
}

// try returns why the request failed, or nothing.
func (l *load) try(r request, key string) string {
	ctx, cancel := context.WithTimeout(context.Background(), l.patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return err.Error()
	}
	req.Header = r.header.Clone()
	req.Header.Set("Cookie", l.cookie)
	if r.method != http.MethodGet {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return "no answer"
		}
		return "no connection"
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err = io.Copy(io.Discard, resp.Body); err != nil {
		return "half an answer"
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Sprint(resp.StatusCode)
	}
	return ""
}

// tell prints the figures on one line, and for failures of second tries when the request was first sent.
func (l *load) tell() {
	sum := func(count map[int]int) (n int) {
		for c := range maps.Values(count) {
			n += c
		}
		return n
	}
	spread := func(count map[int]int) string {
		if len(count) == 0 {
			return ""
		}
		seconds := slices.Sorted(maps.Keys(count))
		return fmt.Sprintf(" (between second %d and %d)", seconds[0], seconds[len(seconds)-1])
	}
	fmt.Printf("%d requests; failed at first: %d%s; after one retry: %d%s; slowest answer %.1f s; why: %v\n",
		l.sent, sum(l.first), spread(l.first), sum(l.last), spread(l.last), l.slowest.Seconds(), l.reasons)
}
