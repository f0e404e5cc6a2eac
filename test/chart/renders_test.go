package chart_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-schools/belfry/pkg/testing/checkout"
	"github.com/belfry-schools/belfry/pkg/testing/errortest"
)

// TestRenders compares what testdata/renders.txt expects, whose first lines say how.
func TestRenders(t *testing.T) {
	var objects []object
	values, compared := "", 0
	for line := range strings.Lines(checkout.Read(t, "test/chart/testdata/renders.txt")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if set, ok := strings.CutPrefix(line, "$"); ok {
			values = strings.TrimSpace(set)
			args := strings.Fields(values)
			if values == "everything" {
				args = everything()
			}
			objects = render(t, args...)
			continue
		}
		path, want, _ := strings.Cut(line, " = ")
		steps := strings.Fields(path)
		kind, names := steps[0], []string{steps[1]}
		found := only(objects, kind)
		switch steps[1] {
		case "*":
			names = nil
			if compared++; want != "null" || len(found) > 0 {
				t.Errorf("%q: %s: got %d", values, path, len(found))
			}
		case "belfry-*":
			names = nil
			for _, service := range services {
				names = append(names, "belfry-"+service)
			}
		}
		for _, name := range names {
			compared++
			got, err := json.Marshal(follow(found[name], steps[2:]))
			errortest.None(t, err)
			if string(got) != want {
				t.Errorf("%q: %s\ngot  %s\nwant %s", values, strings.Replace(path, steps[1], name, 1), got, want)
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d values were compared", compared)
	}
}

// follow returns the value at the steps of a path of renders.txt.
func follow(o object, steps []string) any {
	if o == nil {
		return nil
	}
	pod := podPaths[o.kind()]
	var value any = map[string]any(o)
	for _, step := range steps {
		name, named := strings.CutPrefix(step, "name=")
		switch n, err := strconv.Atoi(step); {
		case step == "pod":
			value = walk(value, pod...)
		case step == "container":
			value = walk(walk(value, pod...), "containers", 0)
		case named:
			entries := list(value)
			i := slices.IndexFunc(entries, func(entry any) bool { return walk(entry, "name") == name })
			if i < 0 {
				return nil
			}
			value = entries[i]
		case err == nil:
			value = walk(value, n)
		default:
			value = walk(value, step)
		}
	}
	return value
}
