package console

// A verb is what the pages say of a command.
type verb struct {
	label  string // on its button
	effect string // what the command does, before it is given
}

// verbs are the words for all commands of the API, by what they are applied to and their names. A test finds a command
// without words.
var verbs = map[string]verb{
	"run cancel": {
		"Cancel",
		"The run ends. Atoms that are executing are cancelled.",
	},
	"run suspend": {
		"Suspend",
		"Atoms that are executing may end. The run starts no others until it is resumed.",
	},
	"run resume": {
		"Resume",
		"The run continues where it was suspended.",
	},
	"run retry": {
		"Retry",
		"The run continues where it failed, or from the atom. What was done before stays done.",
	},
	"run revert": {
		"Undo",
		"What the run did is undone, the last first, even if it has succeeded.",
	},
	"run retry-revert": {
		"Retry the undo",
		"Ebb tries the failed reverts again, with all their attempts. Then the undo continues.",
	},
	"run skip": {
		"Treat as undone",
		"Ebb counts the atom as undone, without calling anything. Clean up by hand first.",
	},
	"run signal": {
		"Send a signal",
		"The atom that waits for the signal ends with its data. Otherwise the run keeps it.",
	},
	"token complete": {
		"Complete",
		"The atom that waits for the token ends, with the result or the error. A token counts once.",
	},
	"job cancel": {
		"Cancel",
		"The job ends, and no run of it is started.",
	},
	"job release": {
		"Release",
		"A process may claim the job at once.",
	},
	" jobs": {
		"Start a run",
		"A process that serves the flow starts the run. Posting the same id twice starts one run.",
	},
	"schedule pause": {
		"Pause",
		"The ticks post no jobs until the schedule is resumed.",
	},
	"schedule resume": {
		"Resume",
		"The schedule posts jobs again, from its next tick on.",
	},
	"schedule remove": {
		"Remove",
		"The schedule is removed. The jobs that it has posted stay.",
	},
	" schedules": {
		"Add a schedule",
		"A job is posted at each tick while a process serves the database.",
	},
	" limits": {
		"Set a limit",
		"It applies to all processes. Without runs and rate the limit is removed.",
	},
	" bulk": {
		"Command all of these runs",
		"Each run gets the command once, from a run of its own, which lists those that refuse.",
	},
}
