package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belfry-schools/belfry/pkg/importer/bundle"
	"github.com/belfry-schools/belfry/pkg/importer/csvfile"
	"github.com/belfry-schools/belfry/pkg/importer/load"
	"github.com/belfry-schools/belfry/pkg/importer/oneroster"
	"github.com/belfry-schools/belfry/pkg/record/sequence"
	"github.com/belfry-schools/belfry/pkg/wiretime"
)

// dateFormats lists what --dates takes.
func dateFormats() string {
	all := sequence.Map(csvfile.DateFormats(), func(f csvfile.DateFormat) string { return string(f) })
	return strings.Join(all, ", ")
}

// bundleOptions reads the flags that say how a bundle is read.
func (f importFlags) bundleOptions(zone wiretime.Zone) (bundle.Options, error) {
	o := bundle.Options{Zone: zone, Dates: csvfile.DateFormat(f.dates), From: zone.DayOf(time.Now())}
	if f.dates != "" && !slices.Contains(csvfile.DateFormats(), o.Dates) {
		return o, &usageError{errors.New("--dates takes " + dateFormats())}
	}
	if f.format != formatBundle && f.dates+f.lessonsFrom != "" {
		return o, &usageError{errors.New("--dates and --lessons-from are for a bundle")}
	}
	if f.lessonsFrom != "" {
		day, err := wiretime.ParseDay(f.lessonsFrom)
		if err != nil {
			return o, &usageError{errors.New("--lessons-from takes a day, YYYY-MM-DD")}
		}
		o.From = day
	}
	return o, nil
}

// clientSecret reads the secret for a OneRoster service. No error contains it.
func (f importFlags) clientSecret(address string, s surroundings) (string, error) {
	if f.format != formatOneRoster || !oneroster.IsService(address) {
		return "", nil
	}
	secret := s.env("BELFRY_ONEROSTER_CLIENT_SECRET")
	if f.secretFile != "" {
		text, err := os.ReadFile(f.secretFile)
		if err != nil {
			return "", fmt.Errorf("reading the client secret: %w", err)
		}
		secret = string(text)
	}
	if secret = strings.TrimSpace(secret); secret == "" || f.service.ClientID == "" || f.service.TokenURL == "" {
		return "", &usageError{errors.New("a OneRoster service needs --token-url, --client-id and " +
			"--client-secret-file, or their variables")}
	}
	return secret, nil
}

// open reads and checks a bundle or a roster.
func (l *loading) open(ctx context.Context, from string, zone wiretime.Zone) (load.Resolver, error) {
	if l.format == formatBundle {
		b, err := bundle.Open(from, l.bundled)
		return load.OfBundle(b, zone), err
	}
	folder, err := l.readRoster(ctx, from, zone)
	return folder.Resolver(oneroster.Options{Today: zone.DayOf(time.Now()).String(), Prune: l.Prune}), err
}

// readRoster reads a folder, a zip file or a service.
func (l *loading) readRoster(ctx context.Context, from string, zone wiretime.Zone) (*oneroster.Folder, error) {
	if !oneroster.IsService(from) {
		return oneroster.Open(from, zone)
	}
	service := l.service
	service.URL, service.ClientSecret = from, l.secret
	archive, err := service.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	return oneroster.OpenFetched(archive, zone)
}

// readUUID reads the login. No error contains it.
func readUUID(file string, env func(string) string) (string, error) {
	if file == "" {
		if uuid := strings.TrimSpace(env("BELFRY_UUID")); uuid != "" {
			return uuid, nil
		}
		return "", &usageError{errors.New("no login: set BELFRY_UUID or give --uuid-file, or run belfryctl login")}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the login: %w", err)
	}
	if uuid := strings.TrimSpace(string(text)); uuid != "" {
		return uuid, nil
	}
	return "", fmt.Errorf("reading the login: %s is empty", file)
}
