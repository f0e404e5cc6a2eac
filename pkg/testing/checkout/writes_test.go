package checkout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// unaudited are what the services' stores write without the journal, and why it needs no entry. Everything
// else is a journal.Collection, which enters each change in the audit (docs/style.md).
var unaudited = map[string]string{
	"elements s.erasures": "how far each is; what an erasure changes is audited",
	"events settings":     "the zone that the periods are made for, and the night that was checked last",
	"events s.collection": "reservations, which end with the booking; series, each of whose events is audited",
	"events s.notices":    "copies of what the outbox has",
	"events s.mails":      "copies of what the outbox has",
	"events s.deliveries": "copies of what the outbox has",
	"events collection":   "notices, mails and deliveries, by one function",
	"events t.collection": "texts of titles, which the events have too",
	"identity s.ended":    "ids of sessions that have ended",
	"identity s.uses":     "when tokens were used last",
	"notes s.totals":      "counted from the notes",
	"elements s.feeds":    "a journal.Collection",
	"events s.webhooks":   "a journal.Collection",
	"notes s.notes":       "a journal.Collection",
}

// write is a call that writes to what its first or second group names.
var write = regexp.MustCompile(`([\w.]+)\.(?:InsertOne|InsertMany|UpdateOne|UpdateMany|UpdateByID|ReplaceOne|DeleteOne|` +
	`DeleteMany|FindOneAndUpdate|FindOneAndReplace|FindOneAndDelete|BulkWrite)\(\s*ctx` +
	`|mongostore\.(?:Insert|InsertAll|Update)\(\s*ctx, ([\w.]+),`)

func TestStoresWriteWithoutTheJournalOnlyWhatNeedsNoEntry(t *testing.T) {
	root := checkout.Folder(t)
	files, err := filepath.Glob(filepath.Join(root, "services", "*", "internal", "store", "*.go"))
	errortest.None(t, err)
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	found := map[string]bool{}
	for _, file := range files {
		path, err := filepath.Rel(filepath.Join(root, "services"), file)
		errortest.None(t, err)
		service, _, _ := strings.Cut(path, string(filepath.Separator))
		text, err := os.ReadFile(file)
		errortest.None(t, err)
		for _, call := range write.FindAllStringSubmatch(string(text), -1) {
			target := service + " " + call[1] + call[2]
			found[target] = true
			if unaudited[target] == "" {
				t.Errorf("%s: %s is written without the journal: say why in this test, or use journal.Collection",
					path, target)
			}
		}
	}
	for target := range unaudited {
		if !found[target] {
			t.Errorf("nothing writes %s any more", target)
		}
	}
}
