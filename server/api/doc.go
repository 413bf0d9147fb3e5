// Package api serves what the command shows of runs, jobs, schedules, limits and definitions, and its commands, as JSON
// over HTTP below /api/v1/. The objects are those of package inspect, with the keys of `ebb -o json`. Errors are
// problems of RFC 9457. /api/v1/openapi.json describes the API in OpenAPI 3.1. It is made from the table of routes by
// which the API is served.
//
// Everyone who reaches the handler may read. Commands need a caller that may operate, see [server.CallerOf].
package api
