package wholefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

func TestAFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, content := range []string{"first, which is longer", "second"} {
		errortest.None(t, wholefile.Write(path, []byte(content)))
	}
	broken := errors.New("broken")
	err := wholefile.Create(path, func(out io.Writer) error {
		_, err := io.WriteString(out, "half")
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "second" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(path + wholefile.Part); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the part is left: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
