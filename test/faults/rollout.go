package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-schools/belfry/pkg/service/background"
)

// rollOut exchanges two releases under load: the older one alone, both, the newer one alone, both again, and the older
// one alone, as after a rollback. Fields that neither release knows are planted while the newer one writes alone, and
// while both write.
func (t *trial) rollOut(ctx context.Context, whole time.Duration) {
	both, alone := newGarden(t.db), newGarden(t.db)
	start := func(r release) func() error { return func() error { return t.start(ctx, r) } }
	end := func(r release) func() error { return func() error { return t.end(r) } }
	for _, step := range []struct {
		name     string
		do       []func() error
		hundreds int // of the time
		after    func() error
	}{
		{"the older release alone", nil, 10, nil},
		{"the newer one beside it", []func() error{start(t.newer), func() error { return both.plant(ctx) }}, 45, nil},
		{"the newer one alone", []func() error{end(t.older), func() error { return alone.plant(ctx) }}, 15,
			func() error { return t.harvest(ctx, alone, "the newer release writes alone") }},
		{"back: the older one beside it", []func() error{start(t.older)}, 15, nil},
		{"back: the older one alone", []func() error{end(t.newer)}, 15,
			func() error { return t.harvest(ctx, both, "both write, and then each alone") }},
	} {
		for _, do := range step.do {
			if err := do(); err != nil {
				t.complaints.add("%s: %v", step.name, err)
				return
			}
		}
		if !t.await(ctx, step.name) {
			return
		}
		background.Pause(ctx, whole*time.Duration(step.hundreds)/100)
		if step.after == nil || ctx.Err() != nil {
			continue
		}
		if err := step.after(); err != nil {
			t.complaints.add("%s: %v", step.name, err)
			return
		}
	}
}

// compareBack lets the older release, to which the deployment went back, compare, and then leaves the newer one running
// alone.
func (t *trial) compareBack(ctx context.Context) {
	c := newCheck(t.system, t.ledger)
	if err := c.compare(ctx); err != nil {
		c.complaints.add("the comparison could not be made: %v", err)
	}
	for _, text := range c.complaints.all() {
		t.complaints.add("by the older release: %s", text)
	}
	t.notes = append(t.notes,
		fmt.Sprintf("compared by the older release: %d events stand, %d notices, settled after %s",
			len(c.standing), len(c.distinct), c.settled.Round(time.Second)))
	if err := errors.Join(t.start(ctx, t.newer), t.end(t.older)); err != nil {
		t.complaints.add("the releases could not be exchanged again: %v", err)
	}
}

// harvest counts what is left of planted fields.
func (t *trial) harvest(ctx context.Context, g *garden, when string) error {
	h, err := g.harvest(ctx)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("while %s: %d of %d unknown fields kept, in %d documents, %d of them written meanwhile", when,
		h.kept, h.kept+h.lost, h.documents, h.written)
	t.console.line("%s", line)
	t.notes = append(t.notes, line)
	switch {
	case h.lost > 0:
		t.complaints.add("while %s: %d unknown fields were lost, the first: %s", when, h.lost, h.first)
	case h.written == 0:
		t.complaints.add("while %s: nothing was written to what has unknown fields, so this proves nothing", when)
	}
	return nil
}
