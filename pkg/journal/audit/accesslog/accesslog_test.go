package accesslog

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/metrictest"
	"github.com/belfry-schools/belfry/pkg/testing/storetest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

func newLog(t *testing.T, db *mongo.Database, days int) *Log {
	t.Helper()
	return newCounted(t, db, days, metricnoop.NewMeterProvider())
}

func newCounted(t *testing.T, db *mongo.Database, days int, meter metric.MeterProvider) *Log {
	t.Helper()
	errortest.None(t, Prepare(t.Context(), db, "things"))
	l, err := New(Options{DB: db, Service: "things", Days: days, Meter: meter})
	errortest.None(t, err)
	return l
}

// as is the context of a request of the user.
func as(t *testing.T, user, original int64) context.Context {
	t.Helper()
	return audit.WithActor(t.Context(), audit.Actor{User: user, Original: original, From: "192.0.2.7"})
}

type choice = auditlog.Choice

func found(t *testing.T, l *Log, q Query) []Entry {
	t.Helper()
	q.Limit = 100
	entries, next, err := l.Find(t.Context(), q)
	errortest.None(t, err)
	valuetest.MustSame(t, next, "")
	return entries
}

func TestAccess_EqualLooksOfAnHourAreOneEntry(t *testing.T) {
	l := newLog(t, storetest.Mongo(t), 90)
	// The hour may end between two reads, once: then there is one entry more, and the test reads again.
	for {
		hour := time.Now().UTC().Truncate(once)
		before := len(found(t, l, Query{Element: 1}))
		for range 3 {
			l.Record(as(t, 5, 0), audit.ReadDetail, 1)
		}
		l.Record(as(t, 5, 0), audit.ReadCalendar, 1)
		l.Record(as(t, 5, 3), audit.ReadDetail, 1, 2)
		if !time.Now().UTC().Truncate(once).Equal(hour) {
			continue
		}
		if n := len(found(t, l, Query{Element: 1})) - before; before == 0 && n != 3 {
			t.Errorf("%d entries, want 3", n)
		}
		break
	}
	e := found(t, l, Query{Element: 2})[0]
	if e.User != 5 || e.Original != 3 || e.What != audit.ReadDetail || e.From != "192.0.2.7" ||
		!e.At.Equal(e.At.Truncate(time.Second)) {
		t.Errorf("%+v", e)
	}
	for q, want := range map[Query]bool{
		{Choice: choice{User: 3}}: true, {Choice: choice{User: 4}}: false,
		{Choice: choice{Since: time.Now().Add(-time.Hour)}}: true,
		{Choice: choice{Since: time.Now().Add(time.Hour)}}:  false,
	} {
		valuetest.Same(t, len(found(t, l, q)) > 0, want, "%+v finds something", q)
	}
}

// counted is the value of belfry_access_entries_total for an outcome.
func counted(t *testing.T, reader *sdkmetric.ManualReader, outcome string) (n int64) {
	t.Helper()
	for _, m := range metrictest.Collect(t, reader) {
		sum, ok := m.Data.(metricdata.Sum[int64])
		valuetest.MustHold(t, ok && m.Name == "belfry.access.entries" && sum.IsMonotonic, "%+v", m)
		n += metrictest.Sum(m, outcome)
	}
	return n
}

func TestAccess_NobodyWaitsWhenThereIsNoRoom(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	l := newCounted(t, storetest.Mongo(t), 90, sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	for id := range int64(mostQueued) {
		l.Record(as(t, 5, 0), audit.ReadTimetable, id+1)
	}
	valuetest.Same(t, counted(t, reader, "dropped"), 0, "dropped while there is room")
	for id := range int64(5) {
		l.Record(as(t, 5, 0), audit.ReadTimetable, mostQueued+id+1)
	}
	valuetest.Same(t, len(l.queue), mostQueued, "wait")
	if dropped, written := counted(t, reader, "dropped"), counted(t, reader, "written"); dropped != 5 || written != 0 {
		t.Errorf("%d dropped and %d written, want 5 and 0", dropped, written)
	}
	errortest.None(t, l.write(t.Context()))
	if dropped, written := counted(t, reader, "dropped"), counted(t, reader, "written"); dropped != 5 ||
		written != mostQueued {
		t.Errorf("%d dropped and %d written, want 5 and %d", dropped, written, mostQueued)
	}
	// A dropped entry does not count as recorded.
	l.Record(as(t, 5, 0), audit.ReadTimetable, mostQueued+1)
	valuetest.Same(t, len(found(t, l, Query{Element: mostQueued + 1})), 1, "entries of what was dropped before")
}

func TestAccess_WhatWaitsIsWrittenWhenTheProcessStops(t *testing.T) {
	db := storetest.Mongo(t)
	l := newLog(t, db, 90)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	l.Record(as(t, 5, 0), audit.ReadDetail, 1)
	errortest.None(t, l.Run(slog.New(slog.DiscardHandler))(ctx))
	valuetest.Same(t, len(found(t, newLog(t, db, 90), Query{})), 1, "entries")
}

func TestAccess_OldEntriesGoAndWithoutDaysThereAreNone(t *testing.T) {
	db := storetest.Mongo(t)
	l := newLog(t, db, 90)
	l.Record(as(t, 5, 0), audit.ReadDetail, 1)
	errortest.None(t, l.write(t.Context()))
	for _, c := range []struct{ days, want int }{{89, 1}, {91, 0}} {
		errortest.None(t, l.forget(t.Context(), time.Now().Add(time.Duration(c.days)*day)))
		valuetest.Same(t, len(found(t, l, Query{})), c.want, "after %d days: entries", c.days)
	}
	l.Record(as(t, 6, 0), audit.ReadDetail, 1)
	found(t, l, Query{})
	off := newLog(t, db, 0)
	off.Record(as(t, 7, 0), audit.ReadDetail, 1)
	errortest.None(t, off.forget(t.Context(), time.Now().Add(time.Second)))
	valuetest.Same(t, len(found(t, off, Query{})), 0, "entries though it is off")
}

func TestAccess_NoReadScansTheCollection(t *testing.T) {
	db := storetest.Mongo(t)
	newLog(t, db, 90)
	for name, q := range map[string]Query{
		"all": {}, "element": {Element: 1}, "user": {Choice: choice{User: 5}},
		"since": {Choice: choice{Since: time.Now()}}, "page": {Choice: choice{After: "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.NoScan(t, db, bson.D{{Key: "find", Value: "things_accesses"}, {Key: "filter", Value: q.filter()},
				{Key: "sort", Value: bson.D{{Key: "_id", Value: -1}}}, {Key: "limit", Value: 101}})
		})
	}
}
