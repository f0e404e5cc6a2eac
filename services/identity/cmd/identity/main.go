// Command identity is the service that knows the users and keeps their sessions.
package main

import (
	"os"

	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/services/identity/internal/api"
)

func main() { os.Exit(service.Main(api.Spec())) }
