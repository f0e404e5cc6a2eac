package store

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/belfry-schools/belfry/pkg/mongostore"
	"github.com/belfry-schools/belfry/pkg/needle"
	"github.com/belfry-schools/belfry/pkg/outbox"
	"github.com/belfry-schools/belfry/pkg/service/background"
)

const (
	// upgradeInterval is how late an element that the release before wrote is found by its new name without accents.
	upgradeInterval = 10 * time.Second
	// rewriters is how many elements are upgraded at a time.
	rewriters = 8
)

var migrations = []mongostore.Migration{{
	Name: "0001-grams-without-accents",
	Up: func(ctx context.Context, db *mongo.Database) error {
		return newElements(Options{DB: db}).upgrade(ctx)
	},
}}

// gramsOf returns the grams by which a name is found. Those with accents are what the release before looks for, which
// may run beside this one, or after it.
func gramsOf(name string) []string {
	caser := cases.Fold() // has state
	accented := norm.NFC.String(caser.String(norm.NFD.String(name)))
	grams := slices.Concat(needle.Grams(name, 1), needle.GramsOf(accented, 1))
	slices.Sort(grams)
	return slices.Compact(grams)
}

// older matches the elements of the shapes before elementSchema, and is the condition of their index, which is empty
// but for a rollout.
func older() bson.D {
	return bson.D{{Key: "schema", Value: bson.D{{Key: "$lt", Value: elementSchema}}}}
}

// upgrade gives all older elements the grams of this release. It may be repeated, and run in several processes at once.
// The versions stay, as a client that has read an element knows of no change: whoever replaces the element at the same
// time writes its own grams, of this release, or its own schema.
func (s *Elements) upgrade(ctx context.Context) error {
	fields := bson.D{{Key: "name", Value: 1}, {Key: "current", Value: 1}, {Key: "version", Value: 1}}
	found, err := mongostore.Find[elementDocument](ctx, s.elements.Reader(), older(),
		options.Find().SetProjection(fields))
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(rewriters)
	for _, d := range found {
		var grams []string
		if d.Current {
			grams = gramsOf(d.Name)
		}
		g.Go(func() error {
			return s.elements.Derive(gctx, d.ID, d.Version, bson.D{
				{Key: "grams", Value: grams}, {Key: "schema", Value: int32(elementSchema)},
			})
		})
	}
	return g.Wait()
}

// KeepUpgraded returns what upgrades, until its context ends, the elements that pods of the release before go on
// writing after the migration, until the rollout ends. It looks for them every ten seconds.
func (s *Elements) KeepUpgraded(log *slog.Logger) func(context.Context) error {
	loop := background.New(background.Options{
		Name: "the upgrade of elements that the release before wrote", Log: log, Every: upgradeInterval,
		Step: s.upgrade,
	})
	return func(ctx context.Context) error { return loop.Run(outbox.Unsampled(ctx)) }
}
