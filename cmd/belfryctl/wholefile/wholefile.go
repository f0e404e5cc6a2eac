// Package wholefile writes files that are there completely or not at all, on every system that belfryctl runs on.
package wholefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Part is the suffix of a file that is not yet complete.
const Part = ".part"

// Write replaces a file, which only its owner may read.
func Write(path string, content []byte) error {
	return Create(path, func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	})
}

// WriteJSON is Write for a value, as indented JSON.
func WriteJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return Write(path, append(text, '\n'))
}

// ReadJSON reads a file of JSON into a value.
func ReadJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Create is Write for a content that write produces. It goes into a file beside path, which is synced and then renamed.
func Create(path string, write func(io.Writer) error) error {
	out, err := os.OpenFile(path+Part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = write(out); err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return nil
}
