package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
)

const (
	erasuresPath = "/api/admin/erasures"
	// incomplete is the state of an erasure that was given up, and goes on when it is asked for again.
	incomplete = "incomplete"
	// erasurePause is the pause between two requests for the state of an erasure.
	erasurePause = time.Second
)

// errNotErased ends a run in which some persons were not erased.
var errNotErased = partly("some people were not erased")

// eraseFlags are the flags of what erases.
type eraseFlags struct {
	namesakes, really bool
	again, list       string // files
}

// add adds those that people erase and people leavers share.
func (f *eraseFlags) add(flags *pflag.FlagSet, really, namesakes string) {
	flags.BoolVar(&f.really, "really", false, really)
	flags.BoolVar(&f.namesakes, "namesakes", false, namesakes)
	flags.StringVar(&f.list, "list", "", "with --really: file that lists who was erased, for --again after a restore")
}

// kept begins the list of erased persons, where one is kept, with those of before.
func (f *eraseFlags) kept(j job) (erasedList, error) {
	if f.list == "" || !f.really {
		return "", nil
	}
	known, err := collect(j.c.List(j.ctx, erasuresPath, "erasures", nil))
	if err != nil {
		return "", err
	}
	l := erasedList(f.list)
	return l, l.put(known...)
}

func erasePerson(s surroundings) *cobra.Command {
	var f eraseFlags
	command := &cobra.Command{
		Use: "erase ELEMENT", Short: "Erase a person's names, addresses and notes from all data",
		Long: `Shows what erasing a member of staff or a pupil would do: the names to search for, the person's
users, and other people with the same name. --really erases the person for good, and waits until
that is done. The person is then called "Former pupil 151" and is no longer current; the users
can't log in again. Notes by the person and notes that name the person are deleted. In all other
texts, and in the audit, the new name replaces the old ones. Texts with a name that another
person shares are changed only with --namesakes.

If the command is interrupted, the erasure continues; run it again to wait for it. It is
incomplete (exit code 4) if something keeps writing the name: stop that, and run it again.

--list keeps a file with the ids, but no names, of everyone who was erased, including people whom
a restored deployment no longer knows. If it can't be written, no one is erased. Keep it apart
from your backups. --again erases everyone in such a file after a restore from an older backup,
before users come back: an element that does not exist is skipped, one that is now a different
person is refused (exit code 4), and --namesakes applies as it did then. --route reaches the
services while the front door is shut.

Only administrators of all schools may run this command.`,
		Example: "  belfryctl people erase Pupil:17\n  belfryctl people erase Pupil:17 --really --list erased.json\n" +
			"  belfryctl people erase --again erased.json --really",
		Args: cobra.MaximumNArgs(1),
	}
	flags := command.Flags()
	f.add(flags, "erase; without it, nothing is changed", "also change texts with a name that other people share")
	flags.StringVar(&f.again, "again", "", "list of erased people, as JSON, instead of one person")
	at := &connection{}
	at.routeFlag(flags)
	return administrativeAt(at, s, command, func(j job) error {
		if (f.again != "") == (len(j.args) > 0) {
			return &usageError{errors.New("give either ELEMENT or --again FILE")}
		}
		if f.again != "" {
			return j.eraseAgain(f)
		}
		id, err := j.elementID(j.args[0])
		if err != nil {
			return err
		}
		kept, err := f.kept(j)
		if err != nil {
			return err
		}
		erased, err := j.erase(id, "", f, kept)
		if err != nil {
			return err
		}
		if j.as.data() {
			err = j.object(map[string]any{"erasure": erased})
		} else {
			err = j.erasure(client.As[api.Erasure](erased))
		}
		if err == nil && f.really && client.As[api.Erasure](erased).State == incomplete {
			err = errNotErased
		}
		return err
	}, dataFormats...)
}

// erase asks for an erasure, and waits until it is done or incomplete; unless it is meant, it only asks what it would
// be. The list names it as soon as it has begun, since it goes on whatever becomes of the command.
func (j job) erase(id int64, fingerprint string, f eraseFlags, kept erasedList) (client.Record, error) {
	if !f.really {
		j = j.dry()
	}
	asked := map[string]any{"element_id": id, "namesakes": f.namesakes}
	if fingerprint != "" {
		asked["fingerprint"] = fingerprint
	}
	e, err := j.c.Create(j.ctx, erasuresPath, "erasure", asked)
	if err != nil || !f.really {
		return e, err
	}
	err = kept.put(e)
	for err == nil && client.As[api.Erasure](e).State == "running" {
		select {
		case <-j.ctx.Done():
			return nil, j.ctx.Err()
		case <-time.After(erasurePause):
		}
		e, err = j.c.Get(j.ctx, onePath(erasuresPath, id), "erasure")
	}
	if err == nil {
		err = kept.put(e)
	}
	return e, err
}

// erasure prints one that is done or incomplete, or would be.
func (j job) erasure(e api.Erasure) error {
	switch e.State {
	case incomplete:
		_, err := fmt.Fprintf(j.s.out, "element %d is now called %s, but the erasure is incomplete: something keeps "+
			"writing the old name\nstop it, and run the command again to continue\n",
			e.ElementID, e.Name)
		return err
	case "done":
		_, err := fmt.Fprintf(j.s.out, "element %d is erased: it is now called %s; %d records changed or deleted\n",
			e.ElementID, e.Name, e.Records)
		return err
	}
	fmt.Fprintf(j.s.out, "element %d would be called %s\n", e.ElementID, e.Name)
	for _, name := range e.Names {
		fmt.Fprintf(j.s.out, "  names that would be replaced in all texts: %s\n", name)
	}
	if len(e.UserIds) > 0 {
		fmt.Fprintf(j.s.out, "  users that could no longer log in: %s\n", spaced(e.UserIds))
	}
	if len(e.Namesakes) > 0 {
		const left = "  elements with the same name: %s; texts with that name stay, unless --namesakes is given\n"
		fmt.Fprintf(j.s.out, left, spaced(e.Namesakes))
	}
	_, err := fmt.Fprintln(j.s.out, "nothing was changed; --really erases for good")
	return err
}

// spaced prints ids with spaces between them.
func spaced(ids []int64) string { return strings.Trim(fmt.Sprint(ids), "[]") }

// eraseAgain erases the persons of a list, each as it was erased before. One that a deployment lacks is left out.
func (j job) eraseAgain(f eraseFlags) error {
	before, err := readErased(f.again)
	if err != nil {
		return err
	}
	kept, err := f.kept(j)
	if err != nil {
		return err
	}
	var outcomes []client.Record
	fine := true
	for _, record := range before {
		of, as := client.As[api.Erasure](record), f
		as.namesakes = f.namesakes || of.WithNamesakes
		o := client.Record{"element_id": of.ElementID}
		erased, err := j.eraseOne(o, of.ElementID, of.Fingerprint, as, kept)
		if err != nil {
			return err
		}
		outcomes, fine = append(outcomes, o), fine && erased
	}
	err = list(j, "erasures", outcomes, "element_id,outcome", func(r client.Record) []any {
		return []any{r["element_id"], r["outcome"]}
	})
	if err != nil || fine {
		return err
	}
	return errNotErased
}

// eraseOne erases one of several persons, notes the outcome in its record, and says whether it is the expected one. An
// error that concerns the others too is returned.
func (j job) eraseOne(
	of client.Record, id int64, fingerprint string, f eraseFlags, kept erasedList,
) (fine bool, err error) {
	e, err := j.erase(id, fingerprint, f, kept)
	failed := (*client.Error)(nil)
	state := client.As[api.Erasure](e).State
	switch {
	case err == nil && state == "done":
		of["outcome"] = "erased"
	case err == nil && f.really:
		of["outcome"] = state
		return false, nil
	case err == nil:
		of["outcome"] = "would be erased"
	case errors.As(err, &failed) && failed.Code == http.StatusNotFound:
		of["outcome"] = "does not exist"
	case errors.As(err, &failed) && failed.Code == http.StatusConflict:
		of["outcome"] = failed.Message
		return false, nil
	default:
		return false, err
	}
	return true, nil
}

func listErased(j job) error {
	all := j.c.List(j.ctx, erasuresPath, "erasures", nil)
	return listed(j, "erasures", all, "element_id,name,state,asked_by,asked_at,done_at,records",
		func(e api.Erasure) []any {
			return []any{e.ElementID, e.Name, e.State, orNone(e.AskedBy), e.AskedAt, e.DoneAt, e.Records}
		})
}

func peopleCommand(s surroundings) *cobra.Command {
	return family("people", "Export and erase the data about a person",
		`ELEMENT is the id or import key of a member of staff or a pupil, such as Pupil:17.
docs/privacy.md says what is kept.`,
		exportPerson(s), erasePerson(s),
		administrative(s, &cobra.Command{
			Use: "erased", Short: "List the erasures",
			Long: `Lists the erasures, with ids and fingerprints of the people and without names. -o json prints the
list for "belfryctl people erase --again"; --list of that command keeps it up to date.`,
			Example: "  belfryctl people erased -o json > erased.json",
		}, listErased),
		listLeavers(s))
}

// erasedList is a file of the persons who were erased, for people erase --again. A deployment that was restored from a
// backup may lack some of their erasures: they stay in the file.
// The empty name is no list.
type erasedList string

// put adds erasures to the list, or replaces them there. The file is whole at any time.
func (l erasedList) put(erasures ...client.Record) error {
	if l == "" {
		return nil
	}
	all, err := readErased(string(l))
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
	err = wholefile.Create(string(l), func(out io.Writer) error { // as people erased -o json prints it
		return printJSON(out, map[string]any{"erasures": append([]client.Record{}, all...)})
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", l, err)
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
		return nil, &usageError{fmt.Errorf("%s was not written by belfryctl people erased -o json", path)}
	}
	return list.Erasures, nil
}
