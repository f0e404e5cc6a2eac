package notice

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	netmail "net/mail"
	"time"

	"github.com/belfry-schools/belfry/pkg/neighbour/fact"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/services/events/internal/event"
)

const (
	// mailItems bounds the items of one mail; the rest go into the next.
	mailItems = 100
	// mailReaders bounds how many mails one round sends.
	mailReaders = 100
	// mailPatience is how long a mail is retried that the server refuses (RFC 5321, 4.5.4.1: four to five days).
	mailPatience = 5 * 24 * time.Hour
	// mailPause and longestMailPause bound the pause before a mail is tried again.
	mailPause        = 10 * time.Second
	longestMailPause = 30 * time.Minute
)

// sendMail sends a round of mails, one to each user with a due item, each over its own connection. If the server can't
// be reached, the round ends and all mail waits.
func (s *Service) sendMail(ctx context.Context) error {
	readers, err := s.Store.Readers(ctx, time.Now(), mailReaders)
	if err != nil || len(readers) == 0 {
		return err
	}
	users, err := s.usersOf(ctx, readers)
	if err != nil {
		return err
	}
	for _, id := range readers {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		user := users[id]
		to := netmail.Address{Name: fact.OneLine(user.Name, MaxSubject), Address: user.Email}
		if err := s.sendTo(ctx, id, to, user.Active); err != nil {
			return err
		}
	}
	return nil
}

// sendTo sends a user's next mail. Its error is the store's, or says that the server can't be reached.
func (s *Service) sendTo(ctx context.Context, userID int64, to netmail.Address, active bool) error {
	items, err := s.Store.NextMail(ctx, userID, mailItems)
	if err != nil || len(items) == 0 {
		return err
	}
	// Items are in the order of their times. What a digest gathers is not tried before it is due.
	mail, due := items[0].Mail, items[0].At.Add(s.MailDigest)
	// When the mail was put off, something new has come for its reader.
	if later := items[0].DueAt; later.After(time.Now()) {
		return s.Store.Postpone(ctx, userID, later)
	}
	if _, err := netmail.ParseAddress(to.Address); err != nil || !active {
		s.Log.WarnContext(
			ctx, "mail can't be sent: the user is not active or has no address", "user", userID, "mail", mail,
		)
		s.Metrics.Tried(ctx, "mail", "failed")
		return s.Store.EndMail(ctx, userID, mail, "the user is not active or has no address")
	}
	if err := s.redact(ctx, items); err != nil {
		return err
	}
	for i := range items {
		items[i].Heading, items[i].Link = heading(items[i].Kind), s.link(items[i])
	}
	answer := RefusedError{}
	err = s.Mail.Send(ctx, to, items)
	answered := errors.As(err, &answer)
	switch {
	case err == nil:
		s.Metrics.Tried(ctx, "mail", "sent")
		ctx, cancel := lastWord(ctx)
		defer cancel()
		return s.Store.EndMail(ctx, userID, mail, "")
	case ctx.Err() != nil:
		return ctx.Err()
	case answer.Final || answered && time.Since(due) > mailPatience:
		s.Log.WarnContext(ctx, "a mail was refused and is given up", "user", userID, "mail", mail, "error", err)
		s.Metrics.Tried(ctx, "mail", "failed")
		return s.Store.EndMail(ctx, userID, mail, err.Error())
	}
	s.Metrics.Tried(ctx, "mail", "again")
	if stored := s.Store.Postpone(ctx, userID, time.Now().Add(mailWait(time.Since(due)))); stored != nil {
		return stored
	}
	if answered {
		s.Log.WarnContext(ctx, "a mail is sent later", "user", userID, "mail", mail, "error", err)
		return nil
	}
	return fmt.Errorf("the mail server: %w", err)
}

// redact hides the titles of events that have become confidential since the items were made.
func (s *Service) redact(ctx context.Context, items []Item) error {
	secret, err := s.confidential(ctx, sequence.Map(items, func(i Item) event.NoticeEvent {
		return event.NoticeEvent{ID: i.EventID, CategoryID: i.CategoryID}
	}))
	for i := range secret {
		if secret[i] {
			items[i].Title = event.RedactedBody
		}
	}
	return err
}

// link is the address of the console's page for an item; "" for a deleted event, and without a public address.
func (s *Service) link(i Item) string {
	switch {
	case s.PublicURL == "" || i.Kind == event.EventDeleted:
		return ""
	case i.Kind == event.CommitmentRequested:
		return s.PublicURL + "/inbox"
	}
	return fmt.Sprintf("%s/events/%d", s.PublicURL, i.EventID)
}

// mailWait is the pause before a mail is tried again: half of the time that it has been due, within bounds, varied by
// up to a quarter.
func mailWait(late time.Duration) time.Duration {
	wait := min(max(late/2, mailPause), longestMailPause)
	return wait*3/4 + rand.N(wait/2)
}

// describe describes in a sentence what happened to an entry.
func describe(n Notice, e event.Entry, elements map[int64]fact.Element, users map[int64]fact.User) string {
	element := elements[e.ElementID].Name
	by := func(id int64) string {
		if name := users[id].Name; name != "" {
			return " by " + name
		}
		return ""
	}
	switch n.Kind {
	case event.CommitmentRequested:
		asker := e.AddedBy
		if asker == 0 {
			asker = n.Event.OwnerID
		}
		return fmt.Sprintf("%s was requested%s and awaits a decision.", element, by(asker))
	case event.CommitmentDecided:
		return fmt.Sprintf("%s was %s%s.", element, decided(e.Status), by(e.DecidedBy))
	case event.RequestAllocated:
		if e.GroupID == 0 { // the reader does not see it
			return fmt.Sprintf("%s was allocated%s.", element, by(n.Actor))
		}
		return fmt.Sprintf(
			"%s was allocated%s; of %s, %d of %d wanted are allocated.", element, by(n.Actor), elements[e.GroupID].Name,
			e.Allocated, e.Quantity,
		)
	case event.CommitmentDeleted:
		return fmt.Sprintf("%s, which was confirmed, was removed from the event%s.", element, by(n.Actor))
	case event.EventDeleted:
		return fmt.Sprintf("%s, which was confirmed, is free again: the event was deleted%s.", element, by(n.Actor))
	}
	return ""
}

func decided(s event.Status) string {
	switch s {
	case event.Noted:
		return "noted (seen, but not confirmed yet)"
	case event.Requested:
		return "returned to requested"
	}
	return string(s)
}

// heading is what a mail of one item is about.
func heading(k event.NoticeKind) string {
	return map[event.NoticeKind]string{
		event.CommitmentRequested: "To decide",
		event.CommitmentDecided:   "Decided",
		event.RequestAllocated:    "Allocated",
		event.CommitmentDeleted:   "Taken off",
		event.EventDeleted:        "Deleted",
	}[k]
}

// MaxSubject bounds what a subject has of an event's title, in characters.
const MaxSubject = 80
