package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
	"github.com/belfry-schools/belfry/cmd/belfryctl/wholefile"
)

const tokensPath = "/api/me/tokens" //nolint:gosec // a path

func loginCommand(s surroundings) *cobra.Command {
	at, days := &connection{}, 0
	const defaultDays = 90
	command := &cobra.Command{
		Use: "login", Short: "Create and keep a token, so that commands need no uuid",
		Long: `Creates a token of the user whose uuid is in BELFRY_UUID or --uuid-file, and keeps it for the
address in $XDG_CONFIG_HOME/belfry/contexts.json. Later commands call that address with the
token, unless they are given a uuid or BELFRY_TOKEN. The token may do what the user may, except
what needs a session.

Without a uuid, login keeps the token in BELFRY_TOKEN. Users who log in at the school's own
provider make one on the page /account.`,
		Example: "  belfryctl login\n  belfryctl login --url https://belfry.school.example --uuid-file uuid",
	}
	at.flags(command.Flags(), s)
	command.Flags().IntVar(&days, "days", defaultDays, "days until the token ends, at most 400")
	command.RunE = does(func(command *cobra.Command, _ []string) error {
		kept, err := readContexts(s.env)
		if err != nil {
			return err
		}
		if _, err := readUUID(at.uuidFile, s.env); err != nil {
			if token := strings.TrimSpace(s.env("BELFRY_TOKEN")); token != "" && at.uuidFile == "" {
				return keepToken(command.Context(), at, s, kept, token)
			}
			return err
		}
		at.byUUID = true
		c, err := at.login(command.Context(), s)
		if err != nil {
			return err
		}
		host, _ := os.Hostname()
		made, err := c.Create(command.Context(), tokensPath, "token", map[string]any{
			"name": "belfryctl " + host, "scope": "administer",
			"end_date": time.Now().AddDate(0, 0, days).Format(time.DateOnly),
		})
		if err != nil {
			return err
		}
		fresh := client.As[api.NewToken](made)
		old := kept.of(at.url)
		kept.put(keptContext{URL: at.url, Token: fresh.Token, ID: fresh.ID, EndsAt: fresh.EndsAt})
		if err := kept.write(s.env); err != nil {
			return errors.Join(err, c.Delete(command.Context(), onePath(tokensPath, fresh.ID), nil))
		}
		if old.ID != 0 { // it may be another user's, or have ended
			_ = c.Delete(command.Context(), onePath(tokensPath, old.ID), nil)
		}
		fmt.Fprintf(s.out, "Logged in at %s until %s.\n", at.url, fresh.EndsAt)
		return nil
	})
	return command
}

// keepToken keeps a token that was made elsewhere, once it is known to be valid. Its id and its end are not known.
func keepToken(ctx context.Context, at *connection, s surroundings, kept contexts, token string) error {
	if _, err := at.login(ctx, s); err != nil {
		return err
	}
	kept.put(keptContext{URL: at.url, Token: token})
	err := kept.write(s.env)
	if err == nil {
		fmt.Fprintf(s.out, "Logged in at %s.\n", at.url)
	}
	return err
}

func logoutCommand(s surroundings) *cobra.Command {
	at := &connection{}
	command := &cobra.Command{
		Use: "logout", Short: "End and forget the token of an address",
		Example: "  belfryctl logout",
	}
	at.flags(command.Flags(), s)
	command.RunE = does(func(command *cobra.Command, _ []string) error {
		kept, err := readContexts(s.env)
		if err != nil {
			return err
		}
		of := kept.of(at.url)
		switch {
		case of.Token == "":
			return fmt.Errorf("not logged in at %s", at.url)
		case of.ID == 0:
			kept.remove(at.url)
			fmt.Fprintln(s.out, "The token is still valid: end it on the page /account.")
			return kept.write(s.env)
		}
		c, err := client.New(at.url, client.Options{Wait: s.wait, UserAgent: "belfryctl", Token: of.Token})
		if err != nil {
			return err
		}
		err = c.Delete(command.Context(), onePath(tokensPath, of.ID), nil)
		failed := (*client.Error)(nil)
		if ended := errors.As(err, &failed) && failed.Code == http.StatusUnauthorized; err != nil && !ended {
			return err
		}
		kept.remove(at.url)
		return kept.write(s.env)
	})
	return command
}

func contextCommand(s surroundings) *cobra.Command {
	use := func(all *contexts, url string) { all.Current = withoutSlash(url) }
	return family("context", "Manage the addresses that login has kept a token for", "", listContexts(s),
		changeContexts(s, "use URL", "Choose the address that later commands call", use),
		changeContexts(s, "remove URL", "Forget an address; its token stays valid", (*contexts).remove))
}

func listContexts(s surroundings) *cobra.Command {
	return local(s, &cobra.Command{
		Use: "list", Short: "List the addresses; one is current", Example: "  belfryctl context list",
	}, func(j job) error {
		all, err := readContexts(s.env)
		if err != nil {
			return err
		}
		records := []client.Record{}
		for _, k := range all.Kept { // without the tokens
			records = append(records, client.Record{"url": k.URL, "ends_at": k.EndsAt, "current": k.URL == all.Current})
		}
		return list(j, "contexts", records, "url,current,ends_at", func(k client.Record) []any {
			return []any{k["url"], k["current"], k["ends_at"]}
		})
	})
}

// changeContexts is a command that changes the context of the address that its argument is.
func changeContexts(s surroundings, use, short string, change func(*contexts, string)) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short,
		Example: "  belfryctl context " + use[:len(use)-len("URL")] + `"$BELFRY_URL"`,
		RunE: does(func(_ *cobra.Command, args []string) error {
			all, err := readContexts(s.env)
			if err != nil {
				return err
			}
			if all.of(args[0]).Token == "" {
				return fmt.Errorf("not logged in at %s", args[0])
			}
			change(&all, args[0])
			return all.write(s.env)
		}),
	}
}

// contexts are the tokens that login has kept, one for each address, in a file that only its owner may read.
type contexts struct {
	Current string        `json:"current"` // the address that commands call unless told otherwise; "": none
	Kept    []keptContext `json:"contexts"`
}

type keptContext struct {
	URL    string `json:"url"`
	Token  string `json:"token"`
	ID     int64  `json:"token_id"`
	EndsAt string `json:"ends_at"`
}

// contextsFile is where the contexts are: by the XDG convention.
func contextsFile(env func(string) string) (string, error) {
	folder := env("XDG_CONFIG_HOME")
	if folder == "" && env("HOME") != "" {
		folder = filepath.Join(env("HOME"), ".config")
	}
	if folder == "" {
		return "", errors.New("no folder for settings: set HOME or XDG_CONFIG_HOME")
	}
	return filepath.Join(folder, "belfry", "contexts.json"), nil
}

// readContexts returns none when there is no file.
func readContexts(env func(string) string) (all contexts, err error) {
	path, err := contextsFile(env)
	if err != nil {
		return all, nil //nolint:nilerr // without a folder nothing was ever kept
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return all, fmt.Errorf("reading the contexts: %w", err)
	}
	if json.Unmarshal(text, &all) != nil { // its error could show a part of a token
		return contexts{}, fmt.Errorf("reading the contexts: %s was not written by belfryctl", path)
	}
	return all, nil
}

func (c contexts) write(env func(string) string) error {
	path, err := contextsFile(env)
	if err != nil {
		return err
	}
	const ownersAlone = 0o700
	if err := os.MkdirAll(filepath.Dir(path), ownersAlone); err != nil {
		return err
	}
	return wholefile.WriteJSON(path, c)
}

// of returns what is kept for an address, the zero value when nothing is.
func (c contexts) of(url string) keptContext {
	if i := c.index(url); i >= 0 {
		return c.Kept[i]
	}
	return keptContext{}
}

func (c contexts) index(url string) int {
	return slices.IndexFunc(c.Kept, func(k keptContext) bool { return k.URL == withoutSlash(url) })
}

// withoutSlash is how contexts spell an address: with a slash at its end it is the same one.
func withoutSlash(url string) string { return strings.TrimRight(url, "/") }

// put keeps a context in place of that of the same address, and makes it the current one.
func (c *contexts) put(k keptContext) {
	k.URL = withoutSlash(k.URL)
	c.remove(k.URL)
	c.Kept, c.Current = append(c.Kept, k), k.URL
}

// remove forgets the context of an address.
func (c *contexts) remove(url string) {
	if i := c.index(url); i >= 0 {
		c.Kept = slices.Delete(c.Kept, i, i+1)
	}
	if c.Current == withoutSlash(url) {
		c.Current = ""
	}
}
