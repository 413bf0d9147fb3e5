module github.com/ebbflow/ebb/cmd/ebb

go 1.26.0

require (
	github.com/ebbflow/ebb v0.0.0
	github.com/ebbflow/ebb/engine/grpc v0.0.0
	github.com/ebbflow/ebb/engine/openapi v0.0.0
	github.com/ebbflow/ebb/server/metrics v0.0.0
	github.com/google/go-cmp v0.7.0
	github.com/hashicorp/go-hclog v1.6.3
	github.com/jackc/pgx/v5 v5.12.0
	// Saves: sessions of the command as readable scripts (testscript)
	// Weight: tests only, 2 modules
	// Refused: shell scripts: show no differences
	github.com/rogpeppe/go-internal v1.16.0
	// Saves: an independent check of the editor schemas
	// Weight: tests only; kin-openapi brings it
	// Refused: our own check: would share our reading of the schemas
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3
	// Saves: subcommands, help, completion in four shells, man pages
	// Weight: 2, 2.1 MB
	// Refused: alecthomas/kong: no completion; peterbourgon/ff: alpha; urfave/cli: 3.4 MB
	github.com/spf13/cobra v1.10.2
	// Saves: flags that a file and the environment can set, too
	// Weight: none: cobra brings it
	// Refused: parsing the arguments twice
	github.com/spf13/pflag v1.0.9
	// Saves: YAML with the place of each value
	// Weight: 1, 2.4 MB
	// Refused: goccy/go-yaml: larger; sigs.k8s.io/yaml: no places; gopkg.in/yaml.v3: not maintained
	go.yaml.in/yaml/v3 v3.0.6
	// Saves: whether output is a terminal, and its width
	// Weight: 2, 1.4 MB
	// Refused: bubbletea: 16 modules; progress bars: no tree
	golang.org/x/term v0.47.0
)

require (
	connectrpc.com/connect v1.21.1 // indirect
	github.com/beorn7/perks v1.0.1 // indirect
	github.com/bufbuild/protocompile v0.14.1 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/fatih/color v1.13.0 // indirect
	github.com/getkin/kin-openapi v0.152.0 // indirect
	github.com/go-openapi/jsonpointer v0.22.5 // indirect
	github.com/go-openapi/swag/jsonname v0.25.5 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/itchyny/gojq v0.12.20 // indirect
	github.com/itchyny/timefmt-go v0.1.9 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/jmoiron/sqlx v1.4.0 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/mattn/go-colorable v0.1.12 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/munnerz/goautoneg v0.0.0-20191010083416-a7dc8b61c822 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/oasdiff/yaml v0.1.1 // indirect
	github.com/oasdiff/yaml3 v0.0.14 // indirect
	github.com/prometheus/client_golang v1.25.0 // indirect
	github.com/prometheus/client_model v0.6.3 // indirect
	github.com/prometheus/common v0.72.0 // indirect
	github.com/prometheus/procfs v0.22.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/tools v0.50.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
)
