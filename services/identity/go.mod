module github.com/belfry-schools/belfry/services/identity

go 1.26

require github.com/belfry-schools/belfry/pkg v0.0.0

replace github.com/belfry-schools/belfry/pkg => ../../pkg
