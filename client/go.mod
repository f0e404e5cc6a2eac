// A module of its own, for programs outside this repository: it needs none of what the rest of Belfry is made of.
module github.com/belfry-schools/belfry/client

go 1.26.0

require github.com/cenkalti/backoff/v5 v5.0.3
