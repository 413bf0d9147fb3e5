package lambda

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// inherited are the variables of this process that functions get. All others are this process's own, such as its keys.
var inherited = []string{
	"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA",
	"LOCALAPPDATA", "SSL_CERT_FILE", "SSL_CERT_DIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
}

// environ returns the environment of a process, as AWS sets it. Env are the variables of all functions.
func (f *hosted) environ(s *Server, env map[string]string, root, address string) []string {
	all := map[string]string{}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			all[name] = value
		}
	}
	all["LANG"], all["TZ"] = "en_US.UTF-8", ":UTC"
	if runtime.GOOS == "windows" { // which knows other names of time zones
		delete(all, "TZ")
	}
	// The key is the account: an emulator takes it as that.
	all["AWS_ACCESS_KEY_ID"], all["AWS_SECRET_ACCESS_KEY"], all["AWS_SESSION_TOKEN"] = s.account.ID, "local", "local"
	maps.Copy(all, env)
	for name, value := range f.Environment {
		if !isReserved(name) {
			all[name] = value
		}
	}
	f.addLayers(all, root)
	maps.Copy(all, map[string]string{
		"_HANDLER": f.Handler, "AWS_LAMBDA_RUNTIME_API": address, "LAMBDA_TASK_ROOT": root, "LAMBDA_RUNTIME_DIR": root,
		"AWS_REGION": s.account.Region, "AWS_DEFAULT_REGION": s.account.Region,
		"AWS_LAMBDA_FUNCTION_NAME": f.Name, "AWS_LAMBDA_FUNCTION_VERSION": latest,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.memoryMB()), "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/" + f.Name, "AWS_LAMBDA_LOG_STREAM_NAME": "local/" + latest,
		"AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR",
	})
	if f.Language() != Program {
		all["AWS_EXECUTION_ENV"] = "AWS_Lambda_" + f.Runtime
	}
	out := make([]string, 0, len(all))
	for name, value := range all {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// isReserved reports whether a template cannot set a variable.
func isReserved(name string) bool {
	return name == "" || strings.ContainsAny(name, "=\x00") ||
		slices.Contains([]string{"AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}, name)
}

// addLayers adds the folders of layers to the paths of the languages, those of the last layer first.
func (f *hosted) addLayers(env map[string]string, root string) {
	paths := map[string][]string{}
	add := func(name string, parts ...string) {
		if folder := filepath.Join(parts...); isFolder(folder) {
			paths[name] = append(paths[name], folder)
		}
	}
	add("LD_LIBRARY_PATH", root, "lib")
	for _, layer := range slices.Backward(f.Layers) {
		add("PATH", layer, "bin")
		add("LD_LIBRARY_PATH", layer, "lib")
		switch f.Language() {
		case Program:
		case Python:
			add("PYTHONPATH", layer, "python", "lib", f.Runtime, "site-packages")
			add("PYTHONPATH", layer, "python")
		case Node:
			major, _, _ := strings.Cut(strings.TrimPrefix(f.Runtime, "nodejs"), ".")
			add("NODE_PATH", layer, "nodejs", "node"+major, "node_modules")
			add("NODE_PATH", layer, "nodejs", "node_modules")
		}
	}
	for name, folders := range paths {
		if env[name] != "" {
			folders = append(folders, env[name])
		}
		env[name] = strings.Join(folders, string(os.PathListSeparator))
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
