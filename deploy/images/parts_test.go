package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"github.com/belfry-schools/belfry/pkg/testing/errortest"
	"github.com/belfry-schools/belfry/pkg/testing/valuetest"
)

// Each image has an inventory that names every module of its program with version and licence, and Go itself.
func TestHardToBreak_Watching_EachImageHasAnInventory(t *testing.T) {
	each(t, func(t *testing.T, o opened) {
		name := "belfry-" + o.program + "." + strings.TrimPrefix(o.platform, "linux/") + ".cdx.json"
		text, err := os.ReadFile(filepath.Join(folder, name))
		errortest.None(t, err)
		var bom cdx.BOM
		errortest.None(t, cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom))
		if c := bom.Metadata.Component; c.Name != "belfry-"+o.program || c.Version != "1.2.3" {
			t.Errorf("it is of %s %s", c.Name, c.Version)
		}
		parts := map[string]cdx.Component{}
		for _, c := range *bom.Components {
			parts[c.Name] = c
			if c.Version == "" || c.Licenses == nil || len(*c.Licenses) == 0 ||
				!slices.Contains(allowed, (*c.Licenses)[0].License.ID) {
				t.Errorf("%s: version %q, licences %v", c.Name, c.Version, c.Licenses)
			}
		}
		wanted := []string{"std", "go.mongodb.org/mongo-driver/v2", "github.com/gofiber/fiber/v2",
			"github.com/redis/go-redis/v9"}
		if o.program == "belfryctl" {
			wanted = []string{"std", "github.com/spf13/cobra"}
		}
		for _, path := range wanted {
			valuetest.Same(t, parts[path].PackageURL, "pkg:golang/"+path+"@"+parts[path].Version,
				"%s is not there: %+v", path, parts[path])
		}
		collected, err := os.ReadFile(filepath.Join(folder, "LICENCES.txt"))
		errortest.None(t, err)
		for path, c := range parts {
			if !bytes.Contains(collected, []byte(path+" "+c.Version+" (")) {
				t.Errorf("LICENCES.txt has no licence of %s %s", path, c.Version)
			}
		}
	})
}

// An unknown, forbidden or missing licence is an error.
func TestHardToBreak_Watching_ForeignLicencesAreRefused(t *testing.T) {
	apache, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	errortest.None(t, err)
	for _, c := range []struct{ file, text, fault string }{
		{"LICENSE", string(apache), ""},
		{"COPYING.md", string(apache), ""},
		{"LICENSE", affero, "the licence AGPL-3.0-only is not allowed"},
		{"LICENSE", "All rights reserved; ask the author.", "is not a known licence"},
		{"NOTICE", string(apache), "it has no licence"},
		{"README.md", string(apache), "it has no licence"},
	} {
		dir := t.TempDir()
		errortest.None(t, os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600))
		ids, _, err := licencesIn(dir)
		if c.fault == "" && (err != nil || !slices.Equal(ids, []string{"Apache-2.0"})) {
			t.Errorf("%s: %v, %v", c.file, ids, err)
		}
		if c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s %.20s: %v", c.file, c.text, err)
		}
	}
}

// affero is the notice of the AGPL.
const affero = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU
Affero General Public License as published by the Free Software Foundation, version 3. This program is distributed in
the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
FITNESS FOR A PARTICULAR PURPOSE. See the GNU Affero General Public License for more details. You should have received
a copy of the GNU Affero General Public License along with this program. If not, see <https://www.gnu.org/licenses/>.
`
