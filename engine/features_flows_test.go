package engine_test

// featuresOfFlows are the features of atoms, flows and their arguments.
var featuresOfFlows = []feature{
	{name: "Linear pattern", ebb: "`flow.Linear`", shownBy: "linear"},
	{name: "Unordered pattern", ebb: "`flow.Unordered`; `engine.WithParallelism` bounds it", shownBy: "unordered"},
	{name: "Graph pattern with inferred links", ebb: "`flow.Graph`: providers come before users", shownBy: "graph"},
	{name: "Manual links", ebb: "`GraphFlow.Link`", shownBy: "links"},
	{
		name:    "Cycle detection; atomic rollback of add and link",
		ebb:     "`flow.ErrCycle`; a refused definition changes nothing",
		shownBy: "cycle, flow: TestRefusedFlowIsUnchanged",
	},
	{name: "Ambiguous providers", ebb: "`flow.ErrAmbiguous`", shownBy: "ambiguous_provider"},
	{
		name:    "`resolve_requires`, `resolve_existing` switches",
		leftOut: "a value that is not awaited is a race. For no link, use `engine.With` or `atom.Inject`",
	},
	{name: "Targeted subgraph run", ebb: "`GraphFlow.Target`", shownBy: "target"},
	{name: "Arbitrary nesting of patterns", ebb: "any flow is a node of any other", shownBy: "nesting"},
	{name: "Duplicate atom names", ebb: "`flow.ErrDuplicate`", shownBy: "duplicate_name"},
	{name: "Deciders on edges", ebb: "`flow.Decide`, `flow.When` on a link", shownBy: "decider"},
	{name: "Decider depth ALL, FLOW, NEIGHBORS, ATOM", ebb: "`flow.LeaveOut`", shownBy: "decider_depth"},
	{name: "Several deciders, widest no-vote", ebb: "the same", shownBy: "several_deciders"},
	{name: "Decider sees results of source atoms", ebb: "`flow.Results`", shownBy: "decider_sees_results"},
	{
		name: "Decider on a subflow's result", asked: true, ebb: "`flow.When` reads any symbol",
		shownBy: "decider_on_the_value_of_a_flow",
	},
	{name: "Ignored atoms restored on retry", ebb: "the same", shownBy: "left_out_and_back_with_a_retry"},
	{name: "Switch/case", ebb: "links with `flow.When`; Choice in ASL", shownBy: "switch"},
	{
		name: "Loops, dynamic expansion at run time", asked: true, ebb: "growing flows: `flow.Growing`, `flow/asl`",
		shownBy: "growth",
	},
	{name: "Task with execute and revert", ebb: "`atom.Task` of a type with both methods", shownBy: "task"},
	{
		name: "pre and post hooks of execute and revert", ebb: "`atom.Wrap`; `engine.WithMiddleware` for all",
		shownBy: "hooks",
	},
	{name: "Functor task", ebb: "`atom.Func`, `atom.Pair`", shownBy: "function"},
	{name: "Map task", ebb: "`atom.Map`", shownBy: "map_and_reduce"},
	{name: "Reduce task", ebb: "`atom.Reduce`", shownBy: "map_and_reduce"},
	{name: "Automatic argument extraction", ebb: "the fields of the input type", shownBy: "arguments_from_fields"},
	{name: "Rebind arguments", ebb: "`atom.Rebind`, `atom.From`", shownBy: "rebind"},
	{name: "Optional arguments", ebb: "`atom.Optional`", shownBy: "optional"},
	{
		name: "Separate revert requirements and rebind", ebb: "`atom.RevertRequires`, `atom.RevertRebind`",
		shownBy: "revert_arguments",
	},
	{name: "Atom-local injected values", ebb: "`atom.Inject`", shownBy: "inject"},
	{
		name: "Persistent or transient injection",
		ebb:  "injected values are in the definition; inputs are stored with the run", shownBy: "inject, inputs",
	},
	{
		name:    "Provide whole, by index, by key",
		ebb:     "`atom.As`, `atom.Provides`, `atom.ProvidesElements`, `atom.ProvidesFields`",
		shownBy: "provide_whole_or_by_index_or_by_key",
	},
	{
		name: "`default_provides`", ebb: "the fields of the output type",
		shownBy: "provide_whole_or_by_index_or_by_key",
	},
	{
		name: "Typed inputs and outputs, checked", asked: true,
		ebb: "Go types; `flow.ErrType` if two atoms disagree", shownBy: "typed",
	},
	{
		name: "Revert receives its own result", ebb: "`atom.Outcome`: done, failed or unknown",
		shownBy: "reverts_see_their_result",
	},
	{name: "Revert receives all flow failures", ebb: "`Outcome.Failures`", shownBy: "reverts_see_all_failures"},
	{name: "Atom version stored", ebb: "`atom.Version`, stored in the run's structure", shownBy: "version"},
	{
		name: "Version mismatch handling on resume", asked: true,
		ebb:     "`engine.Flows` names earlier versions; `engine.AcceptChange` continues on another",
		shownBy: "changed_flow",
	},
	{name: "Atom priority", ebb: "`atom.Priority`", shownBy: "priority"},
	{name: "Progress, persisted with details", ebb: "`atom.Progress`", shownBy: "progress"},
	{name: "Custom task events", leftOut: "a crash loses them. Use `atom.Progress`, `atom.Logger` or the result"},
	{name: "Lexical scoping of symbols", ebb: "the nearest provider before the atom, outward", shownBy: "scopes"},
	{
		name:    "Flow-level store, persistent or transient",
		ebb:     "`engine.With`, `engine.Input`, stored with the run; for transient values the task's own fields",
		shownBy: "inputs",
	},
	{
		name: "Static validation of dependencies", ebb: "`engine.New` returns all mistakes with place and fix",
		shownBy: "missing_provider, flow: TestAllProblemsAtOnce",
	},
	{
		name: "Scope-aware fetch by name (TaskFlow: global)",
		ebb:  "`engine.Get`, `Result.Value`: the flow's last provider", shownBy: "fetch",
	},
}
