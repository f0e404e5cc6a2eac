// Package proxies tests Belfry behind the proxies that schools run before it: what one program takes for the end of a
// request, the other takes too, so that no client gets another's answer, and events of a stream come at once.
// nginx and HAProxy are Debian's; Traefik is the one that the cluster's check has built. A proxy that is not there is
// skipped.
package proxies
