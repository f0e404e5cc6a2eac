package client

import (
	"cmp"
	"context"
	"iter"
	"net/url"
)

// Audit yields the entries of these services' audits, the newest first, each with its service in the field service. The
// query filters: record, user, since. Entries are merged by their ids, which are in the order of time in all
// services.
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

// head is the reading position in one service's audit.
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
