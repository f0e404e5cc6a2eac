package client

import (
	"cmp"
	"context"
	"iter"
	"net/url"

	"github.com/belfry-schools/belfry/pkg/service/names"
)

// Services are those that keep a part of the audit.
func Services() []string { return names.All() }

// Audit yields the entries of the services' audits as one, the newest first, each with its service in the field
// service. The query filters: record, user, since. An entry's id tells its place: ids of all services are in the
// order of time.
func (c *Client) Audit(ctx context.Context, services []string, query url.Values) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var heads []*head
		defer func() {
			for _, h := range heads {
				h.stop()
			}
		}()
		for _, service := range services {
			next, stop := iter.Pull2(c.List(ctx, "/api/admin/audit/"+service, "entries", query))
			h := &head{service: service, next: next, stop: stop}
			heads = append(heads, h)
			if err := h.advance(); err != nil {
				yield(nil, err)
				return
			}
		}
		for {
			newest := newestOf(heads)
			if newest == nil || !yield(newest.entry, nil) {
				return
			}
			if err := newest.advance(); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// head is how far one service's audit is read.
type head struct {
	service string
	entry   Record // the next; nil at the end
	next    func() (Record, error, bool)
	stop    func()
}

func (h *head) advance() error {
	entry, err, more := h.next()
	if !more {
		entry = nil
	}
	if entry != nil {
		entry["service"] = h.service
	}
	h.entry = entry
	return err
}

func newestOf(heads []*head) *head {
	var newest *head
	for _, h := range heads {
		if h.entry != nil && (newest == nil || cmp.Compare(h.entry.Text("id"), newest.entry.Text("id")) > 0) {
			newest = h
		}
	}
	return newest
}
