module github.com/ebbflow/ebb/cmd/ebb

go 1.26.0

require (
	github.com/ebbflow/ebb v0.0.0
	github.com/hashicorp/go-hclog v1.6.3
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/term v0.47.0
)

replace github.com/ebbflow/ebb => ../../
