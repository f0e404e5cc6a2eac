// Command console is the console service; see package service for how it is run.
package main

import (
	"os"

	"github.com/belfry-schools/belfry/pkg/service"
	"github.com/belfry-schools/belfry/services/console/internal/api"
)

func main() { os.Exit(service.Main(api.Spec())) }
