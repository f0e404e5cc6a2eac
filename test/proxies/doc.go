// Package proxies tests Belfry behind the proxies that schools run: proxy and Belfry agree where a request ends, so
// that no client gets another's answer, and a stream's events arrive without delay. nginx and HAProxy are Debian's;
// Traefik is the one that the cluster check has built. A missing proxy is skipped.
package proxies
