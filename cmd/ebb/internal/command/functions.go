package command

import (
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/server/aws"
	"github.com/ebbflow/ebb/server/lambda"
)

const (
	functionsFlag = "functions"
	functionsHelp = "run the Lambda functions of the given templates on this machine, as your user"
)

// startFunctions returns a server of the functions of projects, for the tasks of all runs. It starts no process.
func (s subcommands) startFunctions(account aws.Account, projects ...*definition.Project) (*lambda.Server, error) {
	server, err := lambda.New(lambda.Config{
		Functions: s.runnable(projects), Account: account, Environment: s.endpoints(""), Output: s.Lines(), Log: s.Logger(),
	})
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	s.Services().Functions = server
	return server, nil
}

// runnable returns the functions of projects that run here. It names those that do not.
func (s subcommands) runnable(projects []*definition.Project) (functions []lambda.Function) {
	found := map[string]bool{}
	missing := map[lambda.Language]error{}
	for _, f := range functionsOf(projects...) {
		if err := f.Check(); err != nil {
			s.Noticef("warning: %v", err)
			continue
		}
		if found[f.Name] {
			s.Noticef("warning: %s: there is another function %s", f.From, f.Name)
			continue
		}
		found[f.Name] = true
		functions = append(functions, f)
		if l := f.Language(); l != lambda.Program && missing[l] == nil {
			if _, err := lambda.Interpreter(l); err != nil {
				missing[l] = err
				s.Noticef("warning: functions such as %s cannot run: %v", f.Name, err)
			}
		}
	}
	return functions
}

// functionsBeside starts the functions of the project that has a definition, if they are wanted. If there are some that
// are not wanted, it returns how to run them.
func (s subcommands) functionsBeside(def *definition.Definition, wanted bool) (*lambda.Server, string, error) {
	project := def.Source.Project()
	if wanted {
		functions, err := s.startFunctions(aws.Account{}, project)
		return functions, "", err
	}
	if len(functionsOf(project)) > 0 {
		return nil, "to run the functions of the template: --functions; ", nil
	}
	return nil, "", nil
}

// functionsOf returns the functions of projects.
func functionsOf(projects ...*definition.Project) (all []lambda.Function) {
	for _, p := range projects {
		if p == nil {
			continue
		}
		for _, t := range p.Templates {
			all = append(all, t.Functions...)
		}
	}
	return all
}

// endpoints returns the variables that lead the clients of AWS in functions to this server, if it has a URL, and for
// other services to that of --aws-endpoint.
func (s subcommands) endpoints(own string) map[string]string {
	env := map[string]string{"AWS_DISABLE_HOST_PREFIX_INJECTION": "true"}
	if to := s.Services().AWS.Endpoint; to != nil {
		env["AWS_ENDPOINT_URL"] = to.String()
	}
	if own == "" {
		return env
	}
	if at, err := url.Parse(own); err == nil {
		if ip := net.ParseIP(at.Hostname()); ip != nil && ip.IsUnspecified() {
			at.Host = net.JoinHostPort("127.0.0.1", at.Port())
		}
		own = at.String()
	}
	maps.Copy(env, map[string]string{
		"AWS_ENDPOINT_URL_SFN": own, "AWS_ENDPOINT_URL_SWF": own, "AWS_ENDPOINT_URL_LAMBDA": own,
	})
	if env["AWS_ENDPOINT_URL"] == "" {
		env["AWS_ENDPOINT_URL"] = own
	}
	return env
}

// functionPaths adds the paths of AWS Lambda's API.
func functionPaths(all map[string]http.Handler, functions *lambda.Server) {
	if functions != nil {
		all[lambda.Prefix] = functions.Handler()
		all[strings.TrimSuffix(lambda.Prefix, "/")] = functions.Handler()
	}
}
