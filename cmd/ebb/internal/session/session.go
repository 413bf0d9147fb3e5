package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/definition"
	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
	"github.com/ebbflow/ebb/cmd/ebb/internal/template"
	"github.com/ebbflow/ebb/cmd/ebb/internal/view"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/asl"
	"github.com/ebbflow/ebb/storage"
)

// A Session is one call of the command. All commands share it.
type Session struct {
	In       io.Reader
	Out, Err *view.Output

	Drove bool   // the command has driven a run, whose end determines the exit status
	Done  bool   // what the command was asked for is committed, so an error of the database after that is only told
	DSN   string // the database
	by    string // who uses the command, see Issuer

	// Template has what templates do not say, apart from the values of --parameter.
	Template   template.Options
	parameters []string // NAME=VALUE or @FILE

	// Definitions are the files of definitions in the file of flags.
	Definitions []string

	output   string // text or json
	level    string // what to log; "" before Settle for the default of the command
	format   string // of the log: text or json
	fileMode string // mode of a database that is created

	allow                       []string // from where documents may be loaded
	grpc                        []string // addresses, SERVICE=URL
	lambda                      string   // URL at which functions are called
	awsEndpoint, awsCredentials string   // where services of AWS are called, and the file with the key
	services                    definition.Services

	limited []string      // limits of a run, NAME=N
	memory  string        // memory budget
	bounds  engine.Limits // limits parsed from limited and memory

	profile string
	edition asl.Profile // profile parsed from the flag
}

// The forms of output.
const (
	asText = "text"
	asJSON = "json"
)

// The file modes.
const (
	privateMode = "private"
	folderMode  = "folder"
)

// New returns a session with these streams.
func New(in io.Reader, out, errs io.Writer) *Session {
	s := &Session{In: in}
	s.Out = &view.Output{To: out, JSON: s.JSON}
	s.Err = &view.Output{To: errs, JSON: func() bool { return false }, Masked: true}
	return s
}

// AddFlags adds the flags that all commands have.
func (s *Session) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.DSN, "dsn", "sqlite:ebb.db",
		"database of the runs: sqlite:FILE or postgres://… (EBB_DSN)")
	flags.StringVar(&s.by, "by", "",
		"who gives the command, for the history and ebb audit (EBB_BY; default the login name)")
	flags.StringVarP(&s.output, "output", "o", asText, "text or json (EBB_OUTPUT)")
	flags.StringVar(&s.level, "log-level", "", "what to log to standard error: debug, info, warn, error or off, "+
		"and for single parts, as in warn,engine=debug,store=off (EBB_LOG_LEVEL; default info for ebb serve, off for "+
		"other commands)")
	flags.StringVar(&s.format, "log-format", asText, "how to log: text or json (EBB_LOG_FORMAT)")
	flags.StringVar(&s.fileMode, "file-mode", privateMode,
		"access to a new database: private, or folder for all users who may write to its folder (EBB_FILE_MODE)")
	flags.StringVar(&s.profile, "profile", asl.AWS.String(),
		"the edition of the States Language: aws or spec2016 (EBB_PROFILE)")
	flags.StringSliceVar(&s.allow, "allow", nil,
		"load documents that definitions name from below this URL, or from this folder (file:///srv/apis/); may be "+
			"repeated (EBB_ALLOW)")
	flags.StringSliceVar(&s.grpc, grpcFlag, nil, grpcHelp)
	flags.StringVar(&s.lambda, lambdaFlag, "", lambdaHelp)
	flags.StringVar(&s.awsEndpoint, awsEndpointFlag, "", awsEndpointHelp)
	flags.StringVar(&s.awsCredentials, awsCredentialsFlag, "", awsCredentialsHelp)
	flags.StringSliceVar(&s.limited, runLimit, nil, runLimitHelp())
	flags.StringVar(&s.memory, memoryFlag, "", memoryHelp)
}

// Settle sets flags that the command line does not set, from the environment or else the file of flags. It checks the
// flags of [Session.AddFlags], and that no argument is blank.
func (s *Session) Settle(cmd *cobra.Command, args []string) error {
	if err := refuseBlank(cmd, args); err != nil {
		return err
	}
	if err := s.fromElsewhere(cmd); err != nil {
		return err
	}
	if s.output != asText && s.output != asJSON {
		return exit.Usagef("output %q is not known (use text or json)", s.output)
	}
	if s.level == "" {
		s.level = cmp.Or(cmd.Annotations[LogLevel], "off")
	}
	if err := OneOf("log-format", s.format, []string{asText, asJSON}); err != nil {
		return err
	}
	if _, _, err := parseLevels(s.level); err != nil {
		return err
	}
	if err := OneOf("file-mode", s.fileMode, []string{privateMode, folderMode}); err != nil {
		return err
	}
	if err := s.parseServices(); err != nil {
		return err
	}
	if err := s.parseAWS(); err != nil {
		return err
	}
	bounds, err := s.parseRunLimits()
	if err != nil {
		return err
	}
	if bounds.Memory, err = s.parseMemory(); err != nil {
		return err
	}
	s.bounds = bounds
	edition, err := asl.ParseProfile(s.profile)
	s.edition = edition
	if err != nil {
		return exit.Usagef("%w", err)
	}
	return nil
}

// JSON reports whether output is JSON.
func (s *Session) JSON() bool { return s.output == asJSON }

// FolderMode reports whether all users who may write to the folder of a new database may use the database.
func (s *Session) FolderMode() bool { return s.fileMode == folderMode }

// Finish prints an error of a command, unless it was already printed, and returns the exit status. If output was
// lost, a command that has not driven a run has failed.
func (s *Session) Finish(err error) int {
	if _, said := errors.AsType[*exit.Error](err); !said && errors.Is(err, storage.ErrNotFound) {
		err = &exit.Error{Status: exit.NotFound, Err: fmt.Errorf("%w; another process may have deleted it", err)}
	}
	told, is := errors.AsType[*exit.Error](err)
	_, lost := errors.AsType[*view.OutputError](err)
	if err != nil && !lost && (!is || !told.Told) {
		s.reportError(err)
	}
	failure := s.Out.Failure()
	if failure != nil && (s.Drove || !failure.ClosedByReader()) {
		s.Noticef("%v", failure)
	}
	switch {
	case lost && s.Drove:
		return exit.Success
	case lost, err == nil && failure != nil && !s.Drove:
		return exit.Unreachable
	}
	if status := exit.Of(err); status != exit.Unreachable || !s.Done {
		return status
	}
	return exit.Success
}

// OneOf returns an error if a flag's value is not one of the legal values; "" is not checked.
func OneOf(flag, value string, legal []string) error {
	if value == "" || slices.Contains(legal, value) {
		return nil
	}
	return exit.Usagef("--%s %s is not known (use one of %s)", flag, value, strings.Join(legal, ", "))
}
