package load

import (
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// TestShareAWord_NamesOfSingleLettersAreTheirOwn has names as in data without real ones: each import of the same file
// said that they were other people.
func TestShareAWord_NamesOfSingleLettersAreTheirOwn(t *testing.T) {
	t.Parallel()
	for is, want := range map[string]bool{"P Q": true, "Q": true, "P R": false, "Pam Quill": false, "": true} {
		valuetest.Same(t, shareAWord("P Q (9A)", is), want, "%q", is)
	}
	valuetest.Same(t, shareAWord("J - J K", "J - J L"), false, "staff of one letter each")
}
