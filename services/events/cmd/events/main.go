// Command events is the events service.
package main

import (
	"os"

	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/services/events/internal/api"
)

func main() { os.Exit(service.Main(api.Spec())) }
