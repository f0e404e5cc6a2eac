// Package importer is the import protocol's side of a service (administration: POST /api/admin/import/KIND): reading a batch of
// newline-delimited JSON, recognising unchanged records by their hash, and shaping the answer. A record that fails fails alone; a line
// that cannot be read refuses the batch before anything is written.
package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/belfry-schools/belfry/pkg/audit"
	"github.com/belfry-schools/belfry/pkg/audit/auditlog"
	"github.com/belfry-schools/belfry/pkg/problem"
	"github.com/belfry-schools/belfry/pkg/record"
	"github.com/belfry-schools/belfry/pkg/web"
)

const (
	// MaxRecords bounds a batch.
	MaxRecords = 1000
	// MaxBody bounds a batch's bytes.
	MaxBody = 4 << 20
)

// Results of a record.
const (
	Created   = "created"
	Updated   = "updated"
	Unchanged = "unchanged"
	Failed    = "failed"
)

// Record is one line of a batch: the source's row with its key.
type Record struct {
	Key    string     // the source's own id of the row, never empty
	Hash   string     // SHA-256 of the row, equal for equal content whatever the order of its fields
	Fields web.Object // the row
}

// Batch is what a client sends at once.
type Batch struct {
	Records []Record
	DryRun  bool // answer as if, and write nothing
}

// Result says what became of the record at the same index of the batch.
type Result struct {
	Index  int            `json:"index"`
	Key    string         `json:"key"`
	Result string         `json:"result"`
	ID     int64          `json:"id,omitempty"` // 0: failed, or would be created
	Errors problem.Fields `json:"errors,omitempty"`
}

// Fail makes a result of the faults of the record at that index.
func Fail(index int, r Record, faults problem.Fields) Result {
	return Result{Index: index, Key: r.Key, Result: Failed, Errors: faults}
}

// Results shapes the outcomes of the batch's records, which are in its order.
func (b Batch) Results(outcomes []record.Outcome) []Result {
	results := make([]Result, len(outcomes))
	for i, o := range outcomes {
		results[i] = Result{Index: i, Key: b.Records[i].Key, Result: string(o.Result), ID: o.ID, Errors: o.Faults}
	}
	return results
}

// Read reads the request's batch. Malformed, with the line's number, when a line is no JSON object with a key, when a key comes twice,
// or when there are more than MaxRecords.
func Read(c *fiber.Ctx) (Batch, error) {
	batch := Batch{DryRun: c.Query("dry_run") == "true"}
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
			return Batch{}, problem.New(problem.Malformed, "line %d: the key has come before", number)
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
	return Record{Key: *key, Hash: hash, Fields: fields}, nil
}

// hashOf is the same for the same content: encoding/json writes the keys of maps in order. Numbers keep their text.
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
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// Handler brings a batch into the service and returns what became of each record, in the order of the batch.
type Handler func(c *fiber.Ctx, b Batch) ([]Result, error)

// Route is the route of one kind of record. A batch that writes is in the audit as a whole, see auditlog.Batch, at the cost of two round trips.
func Route(kind string, log *auditlog.Log, handle Handler) web.Route {
	return web.Route{
		Method: fiber.MethodPost, Path: "/api/admin/import/" + kind, Access: web.Admin, Body: web.NDJSON, MaxBody: MaxBody,
		Handler: func(c *fiber.Ctx) error { return serve(c, kind, log, handle) },
	}
}

func serve(c *fiber.Ctx, kind string, log *auditlog.Log, handle Handler) error {
	batch, err := Read(c)
	if err != nil {
		return err
	}
	if len(batch.Records) == 0 {
		return answer(c, nil)
	}
	keys := make([]string, len(batch.Records))
	for i, r := range batch.Records {
		keys[i] = r.Key
	}
	audited := log.NewBatch(kind, keys)
	c.SetUserContext(audit.WithBatch(c.UserContext(), audited))
	results, err := handle(c, batch)
	if err != nil {
		return err
	}
	counts := count(results)
	if err := audited.End(c.UserContext(), counts[Created], counts[Updated], counts[Unchanged], counts[Failed]); err != nil {
		return err
	}
	return answer(c, results)
}

func count(results []Result) map[string]int {
	counts := map[string]int{}
	for _, r := range results {
		counts[r.Result]++
	}
	return counts
}

// answer writes the results with their counts.
func answer(c *fiber.Ctx, results []Result) error {
	counts := count(results)
	if results == nil {
		results = []Result{}
	}
	return web.OK(c, web.Field{Name: Created, Value: counts[Created]}, web.Field{Name: Updated, Value: counts[Updated]},
		web.Field{Name: Unchanged, Value: counts[Unchanged]}, web.Field{Name: Failed, Value: counts[Failed]},
		web.Field{Name: "records", Value: results})
}
