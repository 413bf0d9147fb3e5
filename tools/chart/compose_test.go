package chart

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// TestCompose: deploy/compose.yaml has only fields of the Compose Specification, its files and services exist, and ebb
// understands its flags.
func TestCompose(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{filepath.Join("..", "..", "deploy", "compose.yaml")},
		cli.WithEnv([]string{"EBB_USER=1000:1000"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	serve, migrate := project.Services["ebb"], project.Services["migrate"]
	for name, s := range map[string]types.ServiceConfig{"ebb": serve, "migrate": migrate} {
		if s.User != "1000:1000" || !s.ReadOnly || s.Environment["EBB_DSN_FILE"] == nil ||
			!strings.HasPrefix(s.Image, "ghcr.io/ebbflow/ebb:") {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if got := strings.Join(migrate.Command, " "); got != "migrate up" {
		t.Errorf("migrate runs %q", got)
	}
	keys := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, keys)
	var args []string
	for _, arg := range serve.Command {
		args = append(args, strings.Replace(arg, "/run/secrets/keys", keys, 1))
	}
	if out, err := exec.CommandContext(t.Context(), built(t), append(args, "--check")...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
