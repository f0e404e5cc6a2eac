package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// keepList begins a list with the persons who were erased before.
func (j job) keepList(path string) (*erasedList, error) {
	known, err := collect(j.c.List(j.ctx, erasuresPath, "erasures", nil))
	if err != nil {
		return nil, err
	}
	l := &erasedList{path}
	return l, l.put(known...)
}

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
	if err := wholefile.Write(l.path, erasedText(all)); err != nil {
		return fmt.Errorf("%s is not written: %w", l.path, err)
	}
	return nil
}

// erasedText returns a list as people erased -o json prints it.
func erasedText(all []client.Record) []byte {
	var text bytes.Buffer
	_ = printJSON(&text, map[string]any{"erasures": append([]client.Record{}, all...)}) // of JSON, into memory
	return text.Bytes()
}

// readErased reads a list that erasedText made.
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
