package notice_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/receivers"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/timetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
	"github.com/belfry-schools/belfry/services/events/internal/category"
	"github.com/belfry-schools/belfry/services/events/internal/event"
	"github.com/belfry-schools/belfry/services/events/internal/notice"
	"github.com/belfry-schools/belfry/services/events/internal/sender"
	"github.com/belfry-schools/belfry/services/events/internal/store"
)

// mailServer is one with STARTTLS that takes nothing without.
func mailServer(t *testing.T) *receivers.MailServer {
	t.Helper()
	m, err := receivers.StartMailServer(receivers.MailOptions{Certificate: &certificate, Login: true})
	errortest.None(t, err)
	t.Cleanup(m.Stop)
	return m
}

func TestMail_TellsThoseConcernedInTextAndEscapedHTMLOverTLS(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	o := running(t, mailBy(server))
	asked := pending(7, 1)
	asked.Event.Body = "Concert <b>& more</b>"
	o.tell(t, asked, confirmed(7, 2))
	timetest.Eventually(t, "a mail for each", soon, func() bool {
		return len(server.To(keeperMail)) == 1 && len(server.To(deputyMail)) == 1 && len(server.To(ownerMail)) == 1 &&
			len(server.To("ann@school.example")) == 1
	})
	if got := server.To("rita@school.example"); len(got) > 0 {
		t.Error("an administrator who is not active got one")
	}
	toKeeper, toOwner := server.To(keeperMail)[0], server.To(ownerMail)[0]
	valuetest.Holds(t, toKeeper.TLS, "it did not come over TLS")
	valuetest.Same(t, toKeeper.Subject, "To decide: Concert <b>& more</b>", "subject")
	text, html := toKeeper.Text, toKeeper.HTML
	const wantText = "To decide: Concert <b>& more</b>\nMon 7 Sep 2026, 19:00 to 21:00\n- Public <calendar> was " +
		"requested by Otto Owner and awaits a decision.\n" +
		"https://belfry.school.example/inbox\n\n-- \nSent by Belfry because you administer an element, or " +
		"asked for one.\n"
	valuetest.Same(t, text, wantText, "the text")
	for _, want := range []string{"Public &lt;calendar&gt; was requested",
		`<a href="https://belfry.school.example/inbox">Concert &lt;b&gt;&amp; more&lt;/b&gt;</a>`} {
		valuetest.Has(t, html, want, "the HTML")
	}
	if text, html := toOwner.Text, toOwner.HTML; !strings.Contains(text,
		"- Public <calendar> was confirmed by Kim Keeper.\n  Reason: Fine & <good>\n") ||
		!strings.Contains(text, "https://belfry.school.example/events/7\n") ||
		!strings.Contains(html, "Reason: Fine &amp; &lt;good&gt;") {
		t.Errorf("the decision reads\n%s\n%s", text, html)
	}
	for header, want := range map[string]string{"From": `"Belfry" <belfry@school.example>`,
		"To": `"Kim Keeper" <kim@school.example>`, "Auto-Submitted": "auto-generated"} {
		valuetest.Same(t, toKeeper.Header.Get(header), want, header)
	}
	valuetest.Lacks(t, o.log.String(), receivers.Password, "the log shows the password")
}

// A pupil who owns an event was told of pupils and groups that it may not see, and who had decided.
func TestDecisionsPart9_AMailNamesOnlyWhatItsReaderSees(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	o := running(t, mailBy(server))
	decided, allocated := confirmed(7, 1), confirmed(7, 2)
	decided.Event.OwnerID = pupil
	hidden := decided.Entries[0]
	hidden.CommitmentID, hidden.ElementID, hidden.Reason = 72, mate, "Mia is ill"
	decided.Entries = append(decided.Entries, hidden)
	allocated.Kind, allocated.Event.OwnerID = event.RequestAllocated, pupil
	allocated.Entries = []event.Entry{{CommitmentID: 73, ElementID: minibus, Status: event.Uncontrolled,
		RequestID: 5, GroupID: minibuses, Quantity: 2, Allocated: 1}}
	o.tell(t, decided, allocated)
	text := func(to string) (text string) {
		for _, m := range server.To(to) {
			text += m.Text
		}
		return text
	}
	timetest.Eventually(t, "the mails", soon, func() bool {
		return strings.Contains(text(pupilMail), "Minibus 1") && text("ann@school.example") != ""
	})
	got := text(pupilMail)
	for _, want := range []string{"- Public <calendar> was confirmed.\n", "- Minibus 1 was allocated.\n"} {
		valuetest.Has(t, got, want, "the pupil is not told %q", want)
	}
	for _, hidden := range []string{"Mia", "Kim", "Minibuses"} {
		valuetest.Lacks(t, got, hidden, "the pupil is told of %q", hidden)
	}
	valuetest.Has(t, text("ann@school.example"), "Mia Mate was confirmed by Kim Keeper.", "staff are told")
}

// A pupil who administers an element was told that it waits for a decision, but not who asked.
func TestDecisionsPart9_AMailTellsWhoDecidesWhoAsked(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	o := running(t, mailBy(server))
	asked := pending(7, 1)
	asked.Entries[0].ElementID = court
	o.tell(t, asked)
	timetest.Eventually(t, "the mail", soon, func() bool { return len(server.To(pupilMail)) == 1 })
	valuetest.Has(t, server.To(pupilMail)[0].Text, "- Court was requested by Otto Owner and awaits a decision.\n",
		"the pupil is told")
}

func TestMail_NoTextMakesAHeader(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	o := running(t, mailBy(server))
	n := confirmed(7, 1)
	n.Entries[0].AddedBy = 0
	n.Event.Body = "Trip\r\nBcc: evil@school.example\r\n\r\n<script>" + strings.Repeat("ä", 200)
	o.tell(t, n)
	timetest.Eventually(t, "the mail", soon, func() bool { return len(server.To(ownerMail)) == 1 })
	got := server.To(ownerMail)[0]
	if got.Header.Get("Bcc") != "" || len(got.To) != 1 || len(server.To("evil@school.example")) > 0 {
		t.Errorf("the title made a header:\n%s", got.Raw)
	}
	if s := got.Subject; !strings.HasPrefix(s, "Decided: Trip Bcc: evil@school.example <script>ä") ||
		len([]rune(s)) != 89 {
		t.Errorf("subject %q", s)
	}
	valuetest.Lacks(t, got.HTML, "<script>", "the title is not escaped")
}

func TestMail_ADigestGathersWhatComesWithinTheInterval(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	o := running(t, mailBy(server), func(s *sender.Settings) { s.MailDigest = 3 * time.Second })
	began := time.Now()
	for id := range int64(5) {
		o.tell(t, pending(id+1, 1))
	}
	timetest.Eventually(t, "a mail", soon, func() bool { return len(server.To(keeperMail)) > 0 })
	if took := time.Since(began); took < 3*time.Second {
		t.Errorf("it came after %v", took)
	}
	time.Sleep(time.Second)
	mails := server.To(keeperMail)
	if len(mails) != 1 || mails[0].Subject != "5 notices" {
		t.Fatalf("%d mails, the first %q", len(mails), mails[0].Subject)
	}
	text := mails[0].Text
	for _, title := range []string{"Concert 1", "Concert 2", "Concert 3", "Concert 4", "Concert 5"} {
		valuetest.Same(t, strings.Count(text, title+"\n"), 1, "%s is not in it once:\n%s", title, text)
	}
	o.tell(t, pending(6, 1))
	timetest.Eventually(t, "the next digest", soon, func() bool { return len(server.To(keeperMail)) == 2 })
}

// greylisted is a refusal for now.
var greylisted = &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 0}, Message: "greylisted"}

// The days of a digest counted as days of trying, so the first temporary refusal of a week's digest was its last.
func TestMail_AWeeksDigestIsRetriedForFiveDaysToo(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	server.Refuse(func(string) error { return greylisted })
	const week = 7 * 24 * time.Hour
	o := open(t, storetest.Mongo(t), mailBy(server), func(s *sender.Settings) { s.MailDigest = week })
	old := notice.Notice{ID: "old", At: time.Now().UTC().Add(-week), Notice: pending(1, 1)}
	errortest.None(t, o.Store.AddNotice(t.Context(), old))
	o.start(t)
	timetest.Eventually(t, "the refusals", soon,
		func() bool { return strings.Count(o.log.String(), "is sent later") >= 2 })
	server.Refuse(nil)
	timetest.Eventually(t, "the mails", 60*time.Second,
		func() bool { return len(server.To(keeperMail)) == 1 && len(server.To(deputyMail)) == 1 })
	valuetest.Lacks(t, o.log.String(), "is given up", "the log")
}

// soonSecret becomes confidential after it was asked for the first time, which is when a notice is spread.
type soonSecret struct{ asked atomic.Int64 }

func (s *soonSecret) Find(_ context.Context, ids []int64, _ []string) ([]category.Category, error) {
	secret := category.Flags{Confidential: s.asked.Add(1) > 1}
	return []category.Category{{ID: ids[0], Flags: secret}}, nil
}

// A mail that waited showed the title of an event whose category had become confidential meanwhile.
func TestDecisionsPart9_AMailThatWaitedHidesWhatHasBecomeConfidential(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	o := open(t, storetest.Mongo(t), mailBy(server))
	o.Categories = &soonSecret{}
	n := confirmed(1, 1)
	n.Event.CategoryID = 9
	o.tell(t, n)
	o.start(t)
	for to, want := range map[string]string{"ann@school.example": "Decided: Busy", ownerMail: "Decided: Concert 1"} {
		timetest.Eventually(t, "the mail to "+to, soon, func() bool { return len(server.To(to)) == 1 })
		valuetest.Same(t, server.To(to)[0].Subject, want, to)
	}
}

// care are categories, of which only the one with that id is confidential.
type care int64

func (c care) Find(_ context.Context, ids []int64, _ []string) (found []category.Category, err error) {
	for _, id := range ids {
		found = append(found, category.Category{ID: id, Flags: category.Flags{Confidential: id == int64(c)}})
	}
	return found, nil
}

// What waited showed the title of an event that had been moved into a confidential category meanwhile.
func TestDecisionsPart9_WhatWaitedHidesAnEventThatHasBecomeConfidential(t *testing.T) {
	t.Parallel()
	server, r := mailServer(t), receivers.NewEndpoint(t)
	r.Answer(http.StatusServiceUnavailable)
	server.Refuse(func(string) error { return greylisted })
	o := open(t, storetest.Mongo(t), allowLocal, mailBy(server))
	o.Categories = care(8)
	o.webhook(t, r.URL)
	n := confirmed(1, 1)
	n.Event.CategoryID = 9
	o.tell(t, n)
	o.start(t)
	timetest.Eventually(t, "the refusals", soon, func() bool {
		return len(r.Got()) > 0 && strings.Count(o.log.String(), "a mail is sent later") >= 2
	})
	events := store.NewEvents(o.db, mongostore.NewIDs(o.db), timetest.London(t), nil)
	errortest.None(t, errortest.Of(events.Insert(t.Context(), []event.Event{{ID: 1, CategoryID: 8}})))
	server.Refuse(nil)
	r.Answer(http.StatusNoContent)
	for to, want := range map[string]string{"ann@school.example": "Decided: Busy", ownerMail: "Decided: Concert 1"} {
		timetest.Eventually(t, "the mail to "+to, time.Minute, func() bool { return len(server.To(to)) == 1 })
		valuetest.Same(t, server.To(to)[0].Subject, want, to)
	}
	timetest.Eventually(t, "the delivery", time.Minute, func() bool { return len(r.Taken()) == 1 })
	valuetest.Has(t, r.Taken()[0].Body, `"body":"Busy"`)
}

func TestMail_ARefusedReaderDelaysNobodyElse(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	server.Refuse(func(to string) error {
		if to == keeperMail {
			return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user " + to}
		}
		return nil
	})
	o := running(t, mailBy(server))
	o.tell(t, pending(1, 1))
	timetest.Eventually(t, "the other administrator's", soon, func() bool { return len(server.To(deputyMail)) == 1 })
	timetest.Eventually(t, "to be given up", soon, func() bool {
		waiting, err := o.Store.Readers(t.Context(), time.Now().Add(24*time.Hour), 10)
		return err == nil && len(waiting) == 0
	})
	if log := o.log.String(); !strings.Contains(log, "is given up") || strings.Contains(log, keeperMail) {
		t.Errorf("the log:\n%s", log)
	}
}

// After ten seconds without an answer a mail was sent again, and came once more with each attempt.
func TestMail_AServerThatTakesItsTimeGetsAMailOnce(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	server.OnTaken(func(to string) {
		if to == keeperMail {
			time.Sleep(12 * time.Second)
		}
	})
	o := running(t, mailBy(server))
	o.tell(t, pending(1, 1))
	timetest.Eventually(t, "both mails to be sent", time.Minute, func() bool {
		waiting, err := o.Store.Readers(t.Context(), time.Now().Add(time.Hour), 10)
		errortest.None(t, err)
		return len(server.To(keeperMail)) > 0 && len(waiting) == 0
	})
	valuetest.Same(t, len(server.To(keeperMail)), 1, "mails to the keeper")
}

func TestMail_AServerThatIsDownLosesNothing(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	server.Stop()
	o := running(t, mailBy(server))
	o.tell(t, pending(1, 1))
	timetest.Eventually(t, "it to be noticed", soon,
		func() bool { return strings.Contains(o.log.String(), "sending mail failed") })
	errortest.None(t, server.Restart())
	timetest.Eventually(t, "the mails", 60*time.Second,
		func() bool { return len(server.To(keeperMail)) == 1 && len(server.To(deputyMail)) == 1 })
}

// Mail that was older than five days was given up as if the server had refused it.
func TestMail_AServerThatIsDownForAWeekLosesNothing(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	server.Stop()
	o := open(t, storetest.Mongo(t), mailBy(server))
	old := notice.Notice{ID: "old", At: time.Now().UTC().Add(-7 * 24 * time.Hour), Notice: pending(1, 1)}
	errortest.None(t, o.Store.AddNotice(t.Context(), old))
	o.start(t)
	timetest.Eventually(t, "both to be tried", soon, func() bool {
		due, err := o.Store.Readers(t.Context(), time.Now(), 10)
		errortest.None(t, err)
		return strings.Contains(o.log.String(), "sending mail failed") && len(due) == 0
	})
	waiting, err := o.Store.Readers(t.Context(), time.Now().Add(time.Hour), 10)
	errortest.None(t, err)
	valuetest.Same(t, len(waiting), 2, "readers for whom a mail waits")
}

func TestMail_NothingIsSentWithoutTheTLSThatIsAskedFor(t *testing.T) {
	t.Parallel()
	open, err := receivers.StartMailServer(receivers.MailOptions{}) // offers no STARTTLS
	errortest.None(t, err)
	t.Cleanup(open.Stop)
	o := running(t, mailBy(open))
	o.tell(t, pending(1, 1))
	timetest.Eventually(t, "it to be refused", soon,
		func() bool { return strings.Contains(o.log.String(), "sending mail failed") })
	if got := open.To(keeperMail); len(got) > 0 {
		t.Error("it was sent in the clear")
	}
	plain := running(t, mailBy(open), func(s *sender.Settings) { s.SMTPTLS, s.SMTPUsername = "none", "" })
	plain.tell(t, pending(1, 1))
	timetest.Eventually(t, "it to be sent where that is configured", soon,
		func() bool { return len(open.To(keeperMail)) == 1 })
}

func TestMail_TLSFromTheStartAndWhereItIsOffered(t *testing.T) {
	t.Parallel()
	implicit, err := receivers.StartMailServer(receivers.MailOptions{Certificate: &certificate, Implicit: true,
		Login: true})
	errortest.None(t, err)
	t.Cleanup(implicit.Stop)
	open, err := receivers.StartMailServer(receivers.MailOptions{})
	errortest.None(t, err)
	t.Cleanup(open.Stop)
	for name, c := range map[string]struct {
		server   *receivers.MailServer
		protect  string
		username string
		want     bool // TLS
	}{
		"from the start":  {implicit, "implicit", receivers.Username, true},
		"where offered":   {mailServer(t), "opportunistic", receivers.Username, true},
		"where it is not": {open, "opportunistic", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := running(t, mailBy(c.server),
				func(s *sender.Settings) { s.SMTPTLS, s.SMTPUsername = c.protect, c.username })
			o.tell(t, pending(1, 1))
			timetest.Eventually(t, "the mail", soon, func() bool { return len(c.server.To(keeperMail)) == 1 })
			valuetest.Same(t, c.server.To(keeperMail)[0].TLS, c.want, "it came with TLS")
		})
	}
}

func TestMail_EachIsSentOnceByTwoReplicas(t *testing.T) {
	t.Parallel()
	server := mailServer(t)
	db := storetest.Mongo(t)
	one, two := open(t, db, mailBy(server)), open(t, db, mailBy(server))
	one.start(t)
	two.start(t)
	gone := event.Notice{Kind: event.EventDeleted, Position: 1, Event: about(1), Actor: owner,
		Entries: []event.Entry{{CommitmentID: 1, ElementID: calendar, Status: event.Confirmed, AddedBy: owner}}}
	one.tell(t, gone)
	timetest.Eventually(t, "the administrators'", soon,
		func() bool { return len(server.To(keeperMail)) == 1 && len(server.To(deputyMail)) == 1 })
	time.Sleep(2 * time.Second)
	if n := len(server.To(keeperMail)); n != 1 || len(server.To(ownerMail)) != 0 {
		t.Errorf("%d mails to the administrator, %d to the owner who deleted it", n, len(server.To(ownerMail)))
	}
	got := server.To(keeperMail)[0]
	valuetest.Has(t, got.Text,
		"Public <calendar>, which was confirmed, is free again: the event was deleted by Otto Owner.")
	valuetest.Lacks(t, got.Text+got.HTML, "https://", "it links to the page of a deleted event")
}
