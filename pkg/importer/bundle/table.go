package bundle

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/workbook"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
)

// table is where the rows of a kind are.
type table struct {
	file  string          // its name in faults
	files fs.FS           // where it is
	sheet *workbook.Sheet // nil for a file
}

// listSheets finds the tables of a workbook: its sheets, named as the files are, without .csv.
func listSheets(text []byte, unpacked int64, file string, faults *csvfile.FaultsError) (map[Kind]*table, error) {
	found, err := workbook.Read(text, unpacked)
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %s: %w", file, err)
	}
	tables := map[Kind]*table{}
	for _, s := range found {
		kind := Kind(strings.ToLower(strings.TrimSpace(s.Name)))
		fault := csvfile.Fault{File: file + "#" + csvfile.Brief(s.Name), Line: 1, Column: "file"}
		switch earlier := tables[kind]; {
		case !slices.Contains(Files(), kind):
			fault.Reason = "is not a sheet of the bundle" + csvfile.Meant(string(nearest(s.Name)))
			faults.Add(fault)
		case earlier != nil:
			fault.Reason = "is there besides " + earlier.file + "; only one of them can be meant"
			faults.Add(fault)
		default:
			tables[kind] = &table{file: fault.File, sheet: s}
		}
	}
	if len(tables) == 0 && faults.Total == 0 {
		return nil, fmt.Errorf("reading the bundle: %s holds no sheet of a bundle, such as %s", file, Staff)
	}
	return tables, nil
}

// listFiles finds the tables of a folder. The case of a name doesn't matter. A CSV file that the bundle does not have
// is a fault: its name is most likely misspelt.
func listFiles(files fs.FS, dir string, faults *csvfile.FaultsError) (map[Kind]*table, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the bundle: %w", err)
	}
	tables, book := map[Kind]*table{}, ""
	for _, e := range entries {
		name := e.Name()
		stem, extension := strings.TrimSuffix(name, filepath.Ext(name)), strings.ToLower(filepath.Ext(name))
		kind := Kind(strings.ToLower(strings.TrimSpace(stem)))
		known := slices.Contains(Files(), kind)
		fault := csvfile.Fault{File: name, Line: 1, Column: "file"}
		switch earlier := tables[kind]; {
		case slices.Contains(otherTypes, extension) && known:
			fault.Reason = "is not read; save it as " + kind.File()
		case extension != ".csv":
			if workbook.IsWorkbook(name) {
				book = name
			}
			continue
		case !known:
			fault.Reason = "is not a file of the bundle"
			if meant := nearest(stem); meant != "" {
				fault.Reason += "; did you mean " + meant.File() + "?"
			}
		case earlier != nil:
			fault.Reason = "is there besides " + earlier.file + "; only one of them can be meant"
		default:
			tables[kind] = &table{file: name, files: files}
			continue
		}
		faults.Add(fault)
	}
	if len(tables) == 0 && faults.Total == 0 {
		err := fmt.Errorf("reading the bundle: %s holds no file of a bundle, such as %s", dir, Staff.File())
		if book != "" {
			err = fmt.Errorf("%w; give the workbook itself: %s", err, filepath.Join(dir, book))
		}
		return nil, err
	}
	return tables, nil
}

// otherTypes are other formats of spreadsheets. Such a file with the name of one of the bundle's was probably meant to
// be it.
var otherTypes = []string{".tsv", ".xls", ".xlsx", ".ods", ".numbers"}

// nearest is the kind that a misspelt name most likely means: pupil, or a copy such as "staff (2)" or "staff.csv".
func nearest(name string) Kind {
	word, _, _ := strings.Cut(strings.TrimSpace(name), ".")
	word, _, _ = strings.Cut(word, " ")
	names := sequence.Map(Files(), func(k Kind) string { return string(k) })
	if meant := csvfile.Nearest(name, names); meant != "" {
		return Kind(meant)
	}
	return Kind(csvfile.Nearest(word, names))
}

// rows reads the table once. Faults are collected; an error comes from reading. Rows with a fault are there too, for
// their keys.
func (t *table) rows(p *pass) iter.Seq2[Row, error] {
	rows := p.FileRows(t.files, t.file)
	if t.sheet != nil {
		rows = p.TableRows(t.sheet.Records())
	}
	return func(yield func(Row, error) bool) {
		for cells, err := range rows {
			if err != nil {
				yield(Row{}, fmt.Errorf("reading the bundle: %w", err))
				return
			}
			key, record := p.sheet.read(&row{Row: cells, pass: p})
			if record != nil && !yield(Row{File: p.file, Line: cells.Line(), Key: key, Record: record}, nil) {
				return
			}
		}
		for row := range p.pairs.Rows() {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// WriteTemplate writes a bundle of headings only: an .xlsx workbook at a path with that suffix, otherwise a folder of
// CSV files. It fails when the path exists, except as an empty folder.
func WriteTemplate(path string) error {
	if workbook.IsWorkbook(path) {
		var sheets []workbook.Headings
		for _, kind := range Files() {
			sheets = append(sheets, workbook.Headings{Sheet: string(kind), Columns: kind.Columns()})
		}
		return workbook.Write(path, sheets)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	if there, err := os.ReadDir(path); err != nil || len(there) > 0 {
		if err == nil {
			err = fmt.Errorf("%s is not empty", path)
		}
		return err
	}
	for _, kind := range Files() {
		headings := strings.Join(kind.Columns(), ",") + "\n"
		if err := os.WriteFile(filepath.Join(path, kind.File()), []byte(headings), 0o644); err != nil {
			return err
		}
	}
	return nil
}
