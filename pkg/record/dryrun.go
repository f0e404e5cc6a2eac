package record

import "context"

type dryRun struct{}

// DryRun returns a context in which nothing is stored: reads, checks and answers are those of the real call. Stores
// (mongostore, journal) look at it; a use case does only where it writes past them, or makes a secret.
func DryRun(ctx context.Context) context.Context { return context.WithValue(ctx, dryRun{}, true) }

// IsDryRun says whether the context is one of DryRun.
func IsDryRun(ctx context.Context) bool { return ctx.Value(dryRun{}) != nil }
