module github.com/ebbflow/ebb/server/oidc

go 1.26.0

require (
	// Saves: checks ID tokens: keys, issuer, audience, times
	// Weight: 3, 6.1 MB with `net/http`; module `server/oidc`
	// Refused: our own check: mistakes in it let strangers in
	github.com/coreos/go-oidc/v3 v3.21.0
	github.com/ebbflow/ebb v0.0.0
	github.com/hashicorp/go-hclog v1.6.3
	go.uber.org/goleak v1.3.0
	// Saves: exchanges codes, with PKCE
	// Weight: 1, in the weight of go-oidc
	// Refused: our own requests
	golang.org/x/oauth2 v0.38.0
)

require (
	github.com/fatih/color v1.13.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.4 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	golang.org/x/sys v0.48.0 // indirect
)
