module github.com/belfry-schools/belfry/docs/examples

go 1.26.0
