package notice

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/principal"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

// spread makes items and deliveries of all waiting notices. The notices of one event are spread in their order: earlier
// ones were recorded first, so reading the event of a notice again finds all of them.
func (s *Service) spread(ctx context.Context) error {
	for {
		events, err := s.Store.EventsToSpread(ctx)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, id := range events {
			notices, err := s.Store.ToSpread(ctx, id)
			if err != nil {
				return err
			}
			for _, n := range notices {
				if err := s.spreadOne(ctx, n); err != nil {
					return err
				}
			}
		}
	}
}

// spreadOne adds the items and deliveries of a notice, and only then marks it as spread. Identity is asked only when
// there is mail.
func (s *Service) spreadOne(ctx context.Context, n Notice) error {
	hooks, err := s.Store.ListWebhooks(ctx)
	if err != nil {
		return err
	}
	hooks = slices.DeleteFunc(hooks, func(w Webhook) bool { return !w.Active || !slices.Contains(w.Kinds, n.Kind) })
	schools := schoolsOf(hooks)
	facts, err := s.Elements.Facts(ctx, fact.ElementsQuestion{IDs: append(n.elementIDs(), schools...)})
	if err != nil {
		return err
	}
	elements := sequence.By(facts, func(f fact.Element) int64 { return f.ID })
	redacted, err := s.redacted(ctx, n)
	if err != nil {
		return err
	}
	told, err := s.schoolsTold(ctx, redacted, schools, elements)
	if err != nil {
		return err
	}
	var deliveries []Delivery
	for _, hook := range hooks {
		of := redacted
		if hook.SchoolID != 0 {
			if of.Entries = told[hook.SchoolID]; len(of.Entries) == 0 {
				continue
			}
		}
		deliveries = append(deliveries, s.delivery(hook, of, elements))
	}
	if _, err := s.Store.AddDeliveries(ctx, deliveries); err != nil {
		return err
	}
	if s.Mail != nil {
		items, err := s.itemsOf(ctx, n, redacted.Event.Body, elements)
		if err != nil {
			return err
		}
		if err := s.Store.AddItems(ctx, items); err != nil {
			return err
		}
	}
	return s.Store.Spread(ctx, n.ID)
}

// redacted is a notice for those who may not know what a confidential event is: without its title, and without the
// reasons of decisions (decisions, part 9).
func (s *Service) redacted(ctx context.Context, n Notice) (Notice, error) {
	secret, err := s.confidential(ctx, []event.NoticeEvent{n.Event})
	if err != nil || !secret[0] {
		return n, err
	}
	n.Event.Body = event.RedactedBody
	n.Entries = slices.Clone(n.Entries)
	for i := range n.Entries {
		n.Entries[i].Reason = ""
	}
	return n, nil
}

// confidential says of each of the events of notices whether it is confidential now: by the category of the notice, or
// by the one that the event is in. One without a category is not.
func (s *Service) confidential(ctx context.Context, events []event.NoticeEvent) ([]bool, error) {
	secret := make([]bool, len(events))
	var ids []int64
	for _, e := range events {
		if e.CategoryID != 0 {
			ids = append(ids, e.ID)
		}
	}
	if len(ids) == 0 {
		return secret, nil
	}
	now, err := s.Store.CategoriesOf(ctx, distinct(ids))
	if err != nil {
		return nil, err
	}
	categories := slices.Collect(maps.Values(now))
	for _, e := range events {
		categories = append(categories, e.CategoryID)
	}
	of, err := s.Categories.Find(ctx, distinct(categories), nil)
	for i, e := range events {
		secret[i] = e.CategoryID != 0 && slices.ContainsFunc(of, func(c category.Category) bool {
			return c.Confidential && (c.ID == e.CategoryID || c.ID == now[e.ID])
		})
	}
	return secret, err
}

// elementIDs returns the elements and groups that a notice names, each once.
func (n Notice) elementIDs() []int64 {
	var ids []int64
	for _, e := range n.Entries {
		ids = append(ids, e.ElementID, e.GroupID)
	}
	return distinct(ids)
}

// decidersOf returns who decides on each element of a notice's entries; none after a decision. Of an item that was
// allocated, these are only its own administrators.
func (s *Service) decidersOf(
	ctx context.Context, n Notice, elements map[int64]fact.Element,
) (map[int64][]int64, error) {
	if !n.concernsDeciders() {
		return nil, nil
	}
	var of []fact.Element
	for _, e := range n.Entries {
		if element := elements[e.ElementID]; e.RequestID == 0 || len(element.Administrators) > 0 {
			of = append(of, element)
		}
	}
	return event.Deciders(ctx, s.Elements, s.Users, of)
}

// concernsDeciders says whether those who decide get the notice too.
func (n Notice) concernsDeciders() bool {
	return n.Kind != event.CommitmentDecided && n.Kind != event.RequestAllocated
}

// concerned returns the users whom an entry of a notice concerns: those who decide on the element if the entry is
// pending, the requester and the event's owner after an answer, and all of these for a deleted confirmed entry. No user
// gets a notice of their own action.
func concerned(n Notice, e event.Entry, deciders []int64) []int64 {
	var users []int64
	add := func(ids ...int64) {
		for _, id := range ids {
			if id != 0 && id != n.Actor && !slices.Contains(users, id) {
				users = append(users, id)
			}
		}
	}
	if n.concernsDeciders() {
		add(deciders...)
	}
	if n.Kind != event.CommitmentRequested {
		add(e.AddedBy, n.Event.OwnerID)
	}
	return users
}

// Item is what one user gets of a notice by e-mail. The tags name its fields as they are stored.
type Item struct {
	ID      string           `bson:"_id"` // the notice's and the user's
	UserID  int64            `bson:"user_id"`
	EventID int64            `bson:"event_id"`
	At      time.Time        `bson:"at"`             // of the notice
	DueAt   time.Time        `bson:"due_at"`         // when it may be sent
	Mail    string           `bson:"mail,omitempty"` // id of the mail that it is in; "": none yet
	Kind    event.NoticeKind `bson:"kind"`
	Title   string           `bson:"title"` // of the event
	// CategoryID is the event's; 0: the reader sees the title whether or not the category is confidential.
	CategoryID int64  `bson:"category_id,omitempty"`
	When       string `bson:"when"`  // of the event
	Heading    string `bson:"-"`     // what the item is about; set where a mail is sent
	Link       string `bson:"-"`     // of its page; "" where there is none; set where a mail is sent
	Lines      []Line `bson:"lines"` // one for each entry
}

// Line is what an item says of one entry.
type Line struct {
	Text   string `bson:"text"`
	Reason string `bson:"reason,omitempty"`
}

// itemsOf makes the items of a notice, for those concerned who are active. Title is that of the event for all but its
// owner and admins. A reader who does not see everything is told only of visible entries, without names of other users.
func (s *Service) itemsOf(
	ctx context.Context, n Notice, title string, elements map[int64]fact.Element,
) ([]Item, error) {
	deciders, err := s.decidersOf(ctx, n, elements)
	if err != nil {
		return nil, err
	}
	readers := map[int64][]event.Entry{}
	named := []int64{}
	for _, e := range n.Entries {
		for _, id := range concerned(n, e, deciders[e.ElementID]) {
			readers[id] = append(readers[id], e)
			named = append(named, id)
		}
		named = append(named, e.AddedBy, e.DecidedBy)
	}
	if len(readers) == 0 {
		return nil, nil
	}
	users, err := s.usersOf(ctx, append(named, n.Actor, n.Event.OwnerID))
	if err != nil {
		return nil, err
	}
	var items []Item
	for id, entries := range readers {
		if !users[id].Active {
			continue
		}
		item := Item{
			ID:         fmt.Sprintf("%s.%d", n.ID, id),
			UserID:     id,
			EventID:    n.Event.ID,
			At:         n.At,
			DueAt:      n.At.Add(s.MailDigest),
			Kind:       n.Kind,
			Title:      title,
			CategoryID: n.Event.CategoryID,
			When: event.When(s.Zone, wiretime.Span{Starts: n.Event.Starts, Ends: n.Event.Ends,
				AllDay: n.Event.AllDay}),
		}
		if id == n.Event.OwnerID || users[id].Admin {
			item.Title, item.CategoryID = n.Event.Body, 0
		}
		of := decidedBy(id, elements, deciders)
		if item.Lines, err = s.linesFor(ctx, n, users[id], entries, of, users); err != nil {
			return nil, err
		}
		if len(item.Lines) > 0 {
			items = append(items, item)
		}
	}
	return items, nil
}

// decidedBy returns the elements, each with whether the reader decides on it.
func decidedBy(
	reader int64, elements map[int64]fact.Element, deciders map[int64][]int64,
) map[int64]fact.Element {
	own := maps.Clone(elements)
	for id, of := range own {
		of.Control.Decides = slices.Contains(deciders[id], reader)
		own[id] = of
	}
	return own
}

// linesFor describes the entries that the reader sees.
func (s *Service) linesFor(
	ctx context.Context, n Notice, reader fact.User, entries []event.Entry, elements map[int64]fact.Element,
	users map[int64]fact.User,
) (lines []Line, err error) {
	v, err := event.Surround(ctx, s.Elements, s.Zone, fact.SightOf(s.Sights, principal.Principal{
		UserID: reader.ID, Kind: reader.Kind, ElementID: reader.ElementID, StandsFor: reader.StandsFor,
		Permissions: principal.Permissions{Admin: reader.Admin},
	}))
	if err != nil {
		return nil, err
	}
	if !v.All() && n.Kind != event.CommitmentRequested { // who is to decide is told who asked
		users = map[int64]fact.User{reader.ID: reader}
	}
	for _, e := range entries {
		element, group := v.Names(n.Notice, e, elements)
		if !group {
			e.GroupID = 0
		}
		if element {
			lines = append(lines, Line{Text: describe(n, e, elements, users), Reason: e.Reason})
		}
	}
	return lines, nil
}

func (s *Service) usersOf(ctx context.Context, ids []int64) (map[int64]fact.User, error) {
	facts, err := s.Users.Users(ctx, fact.UsersQuestion{IDs: distinct(ids)})
	return sequence.By(facts, func(u fact.User) int64 { return u.ID }), err
}

// distinct returns each of the ids once, without 0.
func distinct(ids []int64) []int64 {
	return slices.DeleteFunc(sequence.Distinct(ids), func(id int64) bool { return id == 0 })
}
