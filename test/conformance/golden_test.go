package conformance_test

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/servicetest"
)

// goldens are answers as in the contract, with sample ids of five digits, indented for readability.
//
//go:embed testdata/golden/*.json
var goldens embed.FS

// grants matches the short form in which a golden file has a user's permissions: a list of those that are true.
var grants = regexp.MustCompile(`"permissions":\["?([^\]]*?)"?\]`)

// Golden fails the test unless the answer has the code and, byte for byte, the text of the golden file without its
// indentation. Samples are pairs: a sample in the file, an id or a name, and its value in this run. Times in the
// file are in Europe/London; they are expected with the offset of the deployment's zone.
func (s *School) Golden(t *testing.T, a servicetest.Answer, code int, file string, samples ...any) {
	t.Helper()
	a.Want(t, code, s.golden(t, file, samples...))
}

func (s *School) golden(t *testing.T, file string, samples ...any) string {
	t.Helper()
	text, err := goldens.ReadFile("testdata/golden/" + file)
	errortest.None(t, err)
	var compact bytes.Buffer
	errortest.None(t, json.Compact(&compact, text), file)
	whole := grants.ReplaceAllStringFunc(compact.String(), func(list string) string {
		names := grants.FindStringSubmatch(list)[1]
		return `"permissions":` + given(strings.Split(names, `","`)...)
	})
	replaced := make([]string, len(samples))
	for i, s := range samples {
		replaced[i] = fmt.Sprint(s)
		if s, ok := s.(string); ok {
			inner := quoted(s)
			replaced[i] = inner[1 : len(inner)-1]
		}
		if i%2 == 0 && !strings.Contains(whole, replaced[i]) {
			t.Fatalf("%s has no %s", file, replaced[i])
		}
	}
	return s.inZone(t, strings.NewReplacer(replaced...).Replace(whole))
}

// wireTime matches a time of the API.
var wireTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d`)

// inZone replaces the offset of every time in a text by the one that its clock time has in the deployment's zone.
func (s *School) inZone(t *testing.T, text string) string {
	t.Helper()
	return wireTime.ReplaceAllStringFunc(text, func(at string) string {
		local, err := time.ParseInLocation("2006-01-02T15:04:05.000", at[:len(at)-len("+01:00")], s.Zone)
		errortest.None(t, err)
		return local.Format("2006-01-02T15:04:05.000-07:00")
	})
}
