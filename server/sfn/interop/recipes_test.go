package interop_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fileBlocks are the programs of a page that begin with the name of their file.
var fileBlocks = regexp.MustCompile("(?ms)^```[a-z]+\n(?:#|//) ([A-Za-z_]+[.a-z]+)\n(.*?)^```")

// recipe writes the files of a page to a folder, and returns it.
func recipe(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", "emulate-aws.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"hello.asl.json": `{"StartAt": "Hello", "States": {"Hello": {"Type": "Pass", "Result": "hello", "End": true}}}`,
	}
	for _, block := range fileBlocks.FindAllStringSubmatch(string(page), -1) {
		files[block[1]] = block[2]
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// follow runs a command in the folder of a recipe, and returns its output.
func follow(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(bounded(t), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(command(t))+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"PYTHONDONTWRITEBYTECODE=1", "AWS_EC2_METADATA_DISABLED=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestPytest runs the fixture and the tests of the page with pytest and boto3.
func TestPytest(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pytest-3"); err != nil {
		t.Skip("needs pytest-3: install python3-pytest and python3-boto3")
	}
	if out := follow(t, recipe(t), "pytest-3", "-q", "-p", "no:cacheprovider"); !strings.Contains(out, "2 passed") {
		t.Error(out)
	}
}

// TestNodeTest runs the test of the page with the test runner of Node.js and AWS's SDK.
func TestNodeTest(t *testing.T) {
	t.Parallel()
	modules, err := filepath.Abs(filepath.Join("node", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@aws-sdk", "client-sfn")); err != nil {
		t.Skip("needs client-sfn: run npm ci in server/sfn/interop/node")
	}
	dir := recipe(t)
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if out := follow(t, dir, "node", "--test", "hello.test.mjs"); !strings.Contains(out, "pass 1") {
		t.Error(out)
	}
}

// missingLibrary matches what the compiler of Java says about names of libraries that are not here.
var missingLibrary = regexp.MustCompile(`package \S+ does not exist|cannot find symbol`)

// TestJavaParses compiles the program in Java of the page: nothing is wrong with it but that its libraries are not here.
func TestJavaParses(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("javac"); err != nil {
		t.Skip("needs javac: install default-jdk-headless")
	}
	dir := recipe(t)
	cmd := exec.CommandContext(bounded(t), "javac", "-d", t.TempDir(), filepath.Join(dir, "HelloTest.java"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("it was compiled without its libraries")
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		if _, what, is := strings.Cut(line, " error: "); is {
			if found++; !missingLibrary.MatchString(what) {
				t.Error(line)
			}
		}
	}
	if found == 0 {
		t.Errorf("no error is named: %s", out)
	}
}
