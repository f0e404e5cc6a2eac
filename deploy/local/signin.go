package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/belfry-schools/belfry/cmd/belfryctl/demo"
	"github.com/belfry-schools/belfry/deploy/local/provider"
)

// signIn is the login provider of a local run. Identity knows it from its start, and asks it at the first login only,
// so it is served once its users are known.
type signIn struct {
	net.Listener
	options provider.Options
}

// listenForLogins chooses the provider's address; url is Belfry's.
func listenForLogins(ctx context.Context, url string) (*signIn, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return &signIn{listener, provider.Options{
		Issuer: "http://" + listener.Addr().String(), ClientID: "belfry", Secret: uuid.NewString(),
		Callback: url + "/api/login/oidc/local/callback", Home: url + "/", ClaimsInToken: true,
	}}, nil
}

// variables are those by which identity knows the provider; none without one.
func (s *signIn) variables() []string {
	if s == nil {
		return nil
	}
	list, err := json.Marshal([]map[string]string{{
		"name": "local", "title": "Local account", "issuer": s.options.Issuer, "clientId": s.options.ClientID,
	}})
	if err != nil {
		panic(err) // texts always encode
	}
	home := s.options.Home
	return []string{"BELFRY_OIDC_PROVIDERS=" + string(list), "BELFRY_OIDC_SECRET_LOCAL=" + s.options.Secret,
		"BELFRY_PUBLIC_URL=" + home[:len(home)-1]}
}

// serve lets the demo school's users log in, and prints where.
func (s *signIn) serve(out io.Writer, logins []demo.Login) error {
	for i, l := range logins {
		if l.Email != "" {
			s.options.Users = append(s.options.Users,
				provider.User{Subject: strconv.Itoa(i + 1), Name: l.Name, Email: l.Email})
		}
	}
	pages, err := provider.New(s.options)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: pages, ReadHeaderTimeout: stopTimeout}
	go func() { _ = server.Serve(s.Listener) }() // until the listener is closed
	_, err = fmt.Fprintf(out, "%ssign-in offers \"Local account\" too, a login provider that knows these users.\n\n",
		s.options.Home)
	return err
}
