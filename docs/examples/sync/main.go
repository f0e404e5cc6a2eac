// Command sync brings staff in step with a CSV file of another system, every night: it creates and changes, and retires
// who is no longer in the file. Before anything is written, a dry run shows what would be; when that is more than
// -most, or a record is invalid, nothing is. For up to 1,000 staff it makes 5 calls.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/docs/examples/belfry"
)

// page is the most that a page lists, and a batch takes.
const page = 1000

// imported is the answer to a batch.
type imported struct {
	Created, Updated, Unchanged int
	Records                     []struct {
		Key, Result string
		Errors      map[string][]string
	}
}

func main() {
	file := flag.String("file", "staff.csv", "the `file`: its first line names key, initials, forename, surname, …")
	most := flag.Int("most", 20, "how many records may change, be made and retire in one night")
	flag.Parse()
	belfry.Main(func(ctx context.Context, c *belfry.Client) error {
		records, err := read(*file)
		if err != nil {
			return err
		}
		if records, err = retire(ctx, c, records); err != nil {
			return err
		}
		would, err := send(ctx, c, records, true)
		if err != nil {
			return err
		}
		if n := would.Created + would.Updated; n > *most {
			return fmt.Errorf("%d records would change, and at most %d may: nothing was written", n, *most)
		}
		done, err := send(ctx, c, records, false)
		fmt.Println("created", done.Created, "updated", done.Updated, "unchanged", done.Unchanged)
		return err
	})
}

// read returns the records of the file, each a field for each column.
func read(name string) ([]any, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(file).ReadAll()
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(lines) < 2 { // a file that was cut off must not retire the whole staff
		return nil, errors.New("the file has no records")
	}
	var records []any
	for _, line := range lines[1:] {
		record := map[string]any{}
		for column, name := range lines[0] {
			record[name] = line[column]
		}
		records = append(records, record)
	}
	return records, nil
}

// retire appends a record for each current member of staff that was imported and is missing in the file.
func retire(ctx context.Context, c *belfry.Client, records []any) ([]any, error) {
	query := url.Values{"type": {"Staff"}, "current": {"true"}, "limit": {fmt.Sprint(page)}}
	inFile := records
	for {
		var list struct {
			Elements []struct{ Key, Initials, Forename, Surname string }
			Next     *string
		}
		if err := c.Get(ctx, "/api/admin/elements", query, &list); err != nil {
			return nil, err
		}
		for _, e := range list.Elements {
			key := strings.TrimPrefix(e.Key, "Staff:")
			same := func(r any) bool { return r.(map[string]any)["key"] == key }
			if key != "" && !slices.ContainsFunc(inFile, same) {
				records = append(records, map[string]any{"key": key, "initials": e.Initials, "forename": e.Forename,
					"surname": e.Surname, "current": false})
			}
		}
		if list.Next == nil {
			return records, nil
		}
		query.Set("after", *list.Next)
	}
}

// send imports all records, a batch at a time. It returns an error when one is invalid; the others are imported.
func send(ctx context.Context, c *belfry.Client, records []any, dryRun bool) (imported, error) {
	var sum imported
	var faults error
	for batch := range slices.Chunk(records, page) {
		var answer imported
		path := fmt.Sprintf("/api/admin/import/staff?dry_run=%t", dryRun)
		if err := c.Call(ctx, http.MethodPost, path, belfry.Lines(batch), &answer); err != nil {
			return sum, err
		}
		sum.Created, sum.Updated = sum.Created+answer.Created, sum.Updated+answer.Updated
		sum.Unchanged += answer.Unchanged
		for _, r := range answer.Records {
			if r.Result == "failed" {
				faults = errors.Join(faults, fmt.Errorf("%s: %v", r.Key, r.Errors))
			}
		}
	}
	return sum, faults
}
