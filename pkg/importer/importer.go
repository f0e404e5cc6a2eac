// Package importer serves imports (administration: POST /api/admin/import/KIND). It reads a batch of
// newline-delimited JSON, hashes each record to detect unchanged ones, enters the batch in the audit, and shapes
// the answer. A record that fails does not stop the others. When a line cannot be read, the whole batch is refused
// before anything is written.
package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/journal/audit"
	"github.com/belfry-schools/belfry/pkg/journal/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/web"
)

const (
	// MaxRecords is the most records in a batch.
	MaxRecords = 1000
	// MaxBody is the largest body of a batch in bytes.
	MaxBody = 4 << 20
)

// Record is one line of a batch: a row of the source with its key.
type Record struct {
	record.Row            // its hash is independent of the order of the fields
	Fields     web.Object // the row
}

// Batch is the records of one request.
type Batch struct {
	Records []Record
	DryRun  bool // write nothing, and answer what would happen
}

// Read reads the request's batch. It returns Malformed, with the line's number, when a line is not a JSON object
// with a key or repeats a key, and when there are more than MaxRecords.
func Read(c *fiber.Ctx) (Batch, error) {
	batch := Batch{DryRun: web.DryRun(c)}
	seen := map[string]bool{}
	number := 0
	for line := range bytes.Lines(c.Request().Body()) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		r, err := parse(line)
		if err != nil {
			return Batch{}, problem.New(problem.Malformed, "line %d: %v", number, err)
		}
		if seen[r.Key] {
			return Batch{}, problem.New(problem.Malformed, "line %d: the key is a duplicate", number)
		}
		seen[r.Key] = true
		if batch.Records = append(batch.Records, r); len(batch.Records) > MaxRecords {
			return Batch{}, problem.New(problem.Malformed, "more than %d records", MaxRecords)
		}
	}
	return batch, nil
}

func parse(line []byte) (Record, error) {
	fields, err := web.ParseObject(line)
	if err != nil {
		return Record{}, err
	}
	faults := problem.Fields{}
	key := fields.Text("key", faults)
	if key == nil || *key == "" {
		return Record{}, errors.New("key is missing")
	}
	hash, err := hashOf(line)
	if err != nil {
		return Record{}, err
	}
	return Record{record.Row{Key: *key, Hash: hash}, fields}, nil
}

// hashOf returns the same hash for the same content, since encoding/json writes the keys of maps in order. Numbers
// are hashed as their text.
func hashOf(line []byte) (string, error) {
	var content any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&content); err != nil {
		return "", err
	}
	canonical, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(canonical)), nil
}

// Rows reads the records of a batch.
func Rows[R any](b Batch, read func(Record) R) []R {
	return sequence.Map(b.Records, read)
}

// Handler imports a batch and returns the outcomes of the records in their order.
type Handler func(c *fiber.Ctx, b Batch) ([]record.Outcome, error)

// Route returns the route of one kind of record. Access says who may import; for an administrator of a school, the use
// case checks each record. A batch that is not a dry run has one entry in the audit, see auditlog.Batch.
func Route(kind string, access web.Access, log *auditlog.Log, handle Handler) web.Route {
	handler := func(c *fiber.Ctx) error { return serve(c, kind, log, handle) }
	return web.At("POST /api/admin/import/"+kind, access, handler, web.Route{Body: web.NDJSON, MaxBody: MaxBody})
}

func serve(c *fiber.Ctx, kind string, log *auditlog.Log, handle Handler) error {
	batch, err := Read(c)
	if err != nil {
		return err
	}
	if len(batch.Records) == 0 {
		return answer(c, batch, nil, nil)
	}
	keys := sequence.Map(batch.Records, func(r Record) string { return r.Key })
	audited := log.NewBatch(kind, keys)
	c.SetUserContext(audit.WithBatch(c.UserContext(), audited))
	outcomes, err := handle(c, batch)
	if err != nil {
		return err
	}
	counts := map[record.Result]int{}
	for _, o := range outcomes {
		counts[o.Result]++
	}
	err = audited.End(c.UserContext(),
		counts[record.Created], counts[record.Updated], counts[record.Unchanged], counts[record.Failed])
	if err != nil {
		return err
	}
	return answer(c, batch, outcomes, counts)
}

// result is the outcome of a record as clients see it.
type result struct {
	Index int    `json:"index"` // of the record in the batch
	Key   string `json:"key"`
	record.Outcome
}

// answer answers with the outcomes of the batch's records and their counts.
func answer(c *fiber.Ctx, batch Batch, outcomes []record.Outcome, counts map[record.Result]int) error {
	results := make([]result, len(outcomes))
	for i, o := range outcomes {
		results[i] = result{i, batch.Records[i].Key, o}
	}
	var fields []web.Field
	for _, r := range []record.Result{record.Created, record.Updated, record.Unchanged, record.Failed} {
		fields = append(fields, web.Field{Name: string(r), Value: counts[r]})
	}
	return web.OK(c, append(fields, web.Field{Name: "records", Value: results})...)
}
