package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/belfry-schools/belfry/client"
	"github.com/belfry-schools/belfry/client/api"
)

// A program logs in once, lists, and goes on when its session ends or a service is away for a while.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/login" {
			http.SetCookie(w, &http.Cookie{Name: "scheduling_session", Value: "s", Path: "/"})
			_, _ = fmt.Fprint(w, `{"status":"OK"}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"status":"OK","next":null,"elements":[{"id":12,"name":"HGO - Hannah Gordon"}]}`)
	}))
	defer server.Close()

	ctx := context.Background()
	c, err := client.New(server.URL, client.Options{UserAgent: "staff-list"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := c.Login(ctx, "2b6b1d0a-5f0e-4a7a-9f0e-0f6c1b7a3d55"); err != nil {
		fmt.Println(err)
		return
	}
	staff := c.List(ctx, "/api/admin/elements", "elements", url.Values{"entity_type": {"Staff"}})
	for element, err := range client.All[api.ElementRecord](staff) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(element.ID, element.Name)
	}
	// Output: 12 HGO - Hannah Gordon
}
