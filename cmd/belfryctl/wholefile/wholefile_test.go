package wholefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
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
	errortest.Is(t, err, broken)
	text, err := os.ReadFile(path)
	errortest.None(t, err)
	valuetest.Same(t, string(text), "second")
	errortest.Is(t, errortest.Of(os.Lstat(path+wholefile.Part)), os.ErrNotExist, "the part is left")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
