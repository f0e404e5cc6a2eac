package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
)

// erasedList is a file of the persons who were erased, for people erase --again. A deployment that was restored from a
// backup may lack some of their erasures: they stay in the file.
type erasedList struct{ path string }

// put adds erasures to the list, or replaces them there. The file is whole at any time. A nil list stays nil.
func (l *erasedList) put(erasures ...client.Record) error {
	if l == nil {
		return nil
	}
	all, err := readErased(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range erasures {
		at := slices.IndexFunc(all, func(other client.Record) bool {
			a, b := client.As[api.Erasure](e), client.As[api.Erasure](other)
			return a.ElementID == b.ElementID && a.Fingerprint == b.Fingerprint
		})
		if at < 0 {
			all = append(all, e)
		} else {
			all[at] = e
		}
	}
	err = wholefile.Create(l.path, func(out io.Writer) error { // as people erased -o json prints it
		return printJSON(out, map[string]any{"erasures": append([]client.Record{}, all...)})
	})
	if err != nil {
		return fmt.Errorf("%s is not written: %w", l.path, err)
	}
	return nil
}

// readErased reads such a list.
func readErased(path string) ([]client.Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list struct{ Erasures []client.Record }
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&list); err != nil || list.Erasures == nil {
		return nil, &usageError{fmt.Errorf("%s is not a list that belfryctl people erased -o json wrote", path)}
	}
	return list.Erasures, nil
}
