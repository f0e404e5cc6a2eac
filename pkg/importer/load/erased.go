package load

import (
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/record/form"
)

// findErased finds rows of people who have been erased, which stop the import; a dry run lists them among those that
// are refused. Once a person has been erased, it asks in a dry run which rows are of such people, and searches the
// source for rows that name them. Otherwise a load would find out halfway, and report only that the people whom rows
// name must exist.
func (l *importing) findErased(ctx context.Context, source Source) error {
	erasures, _, err := l.Client.Page(ctx, "/api/admin/erasures", "erasures", url.Values{"limit": {"1"}}, "")
	if err != nil || len(erasures) == 0 {
		return err
	}
	var rows []Refusal // their own, and those of their users, which no import takes; the first 1,000
	keys := erasedKeys{}
	for _, kind := range []bundle.Kind{bundle.Staff, bundle.Pupils, bundle.Users} {
		asking := &run{client: l.Client, source: source, options: Options{DryRun: true, Parallel: 1}, keeps: ofErased}
		asking.report.Kinds = []Tally{{Kind: kind}}
		if err := asking.kind(ctx, kind); err != nil {
			return err
		}
		rows = append(rows, asking.report.First...)
		for _, row := range asking.report.First {
			keys[prefixOf(kind)+row.Key] = true
		}
	}
	if len(rows) == 0 {
		return nil
	}
	l.stopped = &StoppedError{Why: WhyErased}
	if !l.DryRun {
		l.out.Refused, l.out.First = len(rows), rows
	}
	naming, err := keys.warnings(source)
	l.warn(naming...)
	return err
}

// ofErased says whether a row was refused because its person has been erased.
func ofErased(refused Refusal) bool { return slices.Contains(refused.Errors["key"], erasure.Refused) }

// erasedKeys are the keys of erased people and users, as Stored has them.
type erasedKeys map[string]bool

// warnings counts the other rows that name them, file by file.
func (k erasedKeys) warnings(source Source) (all []Warning, err error) {
	for _, kind := range bundle.Kinds() {
		rows, first := 0, bundle.Row{}
		for row, err := range source.Rows(kind) {
			if err != nil {
				return nil, err
			}
			if !k[prefixOf(kind)+row.Key] && k.namedBy(row.Record) {
				if rows++; rows == 1 {
					first = row
				}
			}
		}
		if rows > 0 {
			text := fmt.Sprintf("%s:%d: names people who have been erased", first.File, first.Line)
			if rows > 1 {
				text += fmt.Sprintf(" (and %d more like it)", rows-1)
			}
			all = append(all, Warning{Text: text})
		}
	}
	return all, nil
}

// namedBy says whether a record refers to one of them.
func (k erasedKeys) namedBy(record any) bool {
	user := func(key string) bool { return k[prefixOf(bundle.Users)+key] }
	switch r := record.(type) {
	case bundle.MembershipRecord:
		return k[r.Member]
	case bundle.MembershipChanges:
		return k[r.Member]
	case bundle.UserRecord:
		return k[r.Element] || r.StandsFor != nil && slices.ContainsFunc(*r.StandsFor, func(key string) bool {
			return k[form.Pupil+":"+key]
		})
	case bundle.AdministratorRecord:
		return k[r.Element] || user(r.User)
	case bundle.EventRecord:
		return k[form.Staff+":"+r.Organiser] || user(r.Owner) ||
			slices.ContainsFunc(r.Elements, func(key string) bool { return k[key] }) ||
			slices.ContainsFunc(r.Decisions, func(d bundle.Decision) bool {
				return k[d.Element] || user(d.DecidedBy) || user(d.AskedBy)
			})
	case bundle.NoteRecord:
		return user(r.Owner)
	}
	return false
}
