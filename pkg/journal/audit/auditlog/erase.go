package auditlog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/belfry-schools/belfry/pkg/erasure"
	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/mongostore"
)

// keptFields are the fields of a person's own record whose values stay: they are about rights and do not identify the
// person.
var keptFields = []string{
	"entity_type", "entity_id", "element_id", "current", "active", "kind", "permissions", "administrators", "admin_of",
	"stands_for",
}

// Erase is the part of an erasure that goes through the audit. Entries stay, with who did what and when. Those on the
// person's own records lose the old and new values, except rights; all entries lose the person's names; and those on
// the person's actions lose the network addresses and the names of tokens. Nothing else ever changes an entry.
func (l *Log) Erase(p erasure.Person) erasure.Part {
	texts, keys := erasure.NewTexts(p.Names, p.Instead), erasure.NewTexts(p.Keys, p.Instead)
	return func(ctx context.Context, after string) (next string, changed int, err error) {
		if err := l.Move(ctx); err != nil {
			return "", 0, err
		}
		page, next, err := mongostore.FindAfter[document](ctx, l.entries, after)
		if err != nil {
			return "", 0, err
		}
		for _, d := range page {
			without, differs := erased(d.Entry, p, texts, keys)
			if !differs {
				continue
			}
			set := bson.D{{Key: "changes", Value: without.Changes}}
			var gone bson.D
			if without.From == "" {
				gone = append(gone, bson.E{Key: "from", Value: ""})
			}
			if without.TokenName == "" {
				gone = append(gone, bson.E{Key: "token_name", Value: ""})
			} else {
				set = append(set, bson.E{Key: "token_name", Value: without.TokenName})
			}
			update := bson.D{{Key: "$set", Value: set}}
			if len(gone) > 0 {
				update = append(update, bson.E{Key: "$unset", Value: gone})
			}
			if _, err := l.entries.UpdateOne(ctx, bson.D{{Key: "_id", Value: d.ID}}, update); err != nil {
				return "", changed, fmt.Errorf("erase from the audit: %w", err)
			}
			changed++
		}
		return next, changed, nil
	}
}

// erased returns an entry without the person, and whether that changed it.
func erased(e audit.Entry, p erasure.Person, texts, keys *erasure.Texts) (without audit.Entry, differs bool) {
	own := p.Is(e.Record)
	without = e
	without.Changes = slices.Clone(e.Changes)
	for i := range without.Changes {
		c := &without.Changes[i]
		hidden := own && !slices.Contains(keptFields, c.Field) && !strings.HasPrefix(c.Field, "can_")
		for _, value := range []**string{&c.From, &c.To} {
			if *value == nil {
				continue
			}
			if is, found := texts.Replace(**value); found {
				*value, differs = &is, true
			}
			if hidden || strings.HasSuffix(c.Field, "key") && keys.In([]byte(**value)) {
				*value, differs = nil, true
			}
		}
	}
	if name, found := texts.Replace(e.TokenName); found {
		without.TokenName, differs = name, true
	}
	if e.From+e.TokenName != "" && (slices.Contains(p.UserIDs, e.User) || slices.Contains(p.UserIDs, e.Original)) {
		without.From, without.TokenName, differs = "", "", true
	}
	return without, differs
}
