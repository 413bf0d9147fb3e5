package session

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ebbflow/ebb/cmd/ebb/internal/exit"
)

// mayBeBlank are the flags whose value only is read by people, or is data.
var mayBeBlank = []string{"reason", "cause", "mock-cause", "reader-data"}

// refuseBlank refuses arguments and flags of the command line that are blank, such as those of a shell whose variable
// is not set. Otherwise a command would act on more than was meant: `--flow ""` would mean every flow.
func refuseBlank(cmd *cobra.Command, args []string) (err error) {
	if cmd.DisableFlagParsing { // it completes a command line, whose last word may be empty
		return nil
	}
	if i := slices.IndexFunc(args, isBlank); i >= 0 {
		return exit.Usagef("argument %d is blank: leave it out, or say what is meant", i+1)
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, is := f.Value.(pflag.SliceValue); is {
			values = list.GetSlice()
		}
		if err == nil {
			err = checkBlank(f, "--"+f.Name, values)
		}
	})
	return err
}

// checkBlank refuses blank values of a flag, which were given at a place.
func checkBlank(flag *pflag.Flag, place string, values []string) error {
	if !slices.Contains(mayBeBlank, flag.Name) && (len(values) == 0 || slices.ContainsFunc(values, isBlank)) {
		return exit.Usagef("%s is blank: leave it out, or say what is meant", place)
	}
	return nil
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
