package swf

import (
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/flow/swf/internal/decision"
	"github.com/ebbflow/ebb/flow/swf/internal/history"
)

// An activityLimits has the timeouts of an activity task, as texts.
type activityLimits struct{ toStart, toClose, startToClose, heartbeat string }

func (b *batchTurn) scheduleActivity(d *decision.Decision, refused string) {
	id, typ := d.Text("activityId"), typeOf(d, "activityType")
	list, priorityText := d.Name("taskList"), d.Text("taskPriority")
	limits := activityLimits{
		d.Text("scheduleToStartTimeout"), d.Text("scheduleToCloseTimeout"), d.Text("startToCloseTimeout"),
		d.Text("heartbeatTimeout"),
	}
	var a history.Attributes
	a.Type("activityType", typ.Name, typ.Version).Text("activityId", id)
	if refused == "" {
		refused = b.refuseActivity(id, b.done.activityType(typ), &list, &priorityText, &limits)
	}
	if refused != "" {
		b.fail(d, &a, refused)
		return
	}
	event := b.emit(d.Success, b.completed, NodeName(id, 0), a.
		Given("input", d.Given("input")).Given("control", d.Given("control")).
		Text("scheduleToStartTimeout", limits.toStart).Text("scheduleToCloseTimeout", limits.toClose).
		Text("startToCloseTimeout", limits.startToClose).List("taskList", list).Filled("taskPriority", priorityText).
		Decided(b.completed).Text("heartbeatTimeout", limits.heartbeat))
	toStart, toClose, startToClose := limit(limits.toStart), limit(limits.toClose), limit(limits.startToClose)
	n := note{
		Kind: activityNode, Event: event, ID: id, Type: &typ, StartDue: dueAfter(b.ask.Now, toStart),
		CloseDue: dueAfter(b.ask.Now, toClose), ToClose: startToClose.Milliseconds(),
	}
	b.add(grow.Spec{
		Name: NodeName(id, event), Kind: grow.Work, Token: b.ask.Token(), Queue: ActivityQueue(b.start.Domain, list),
		Priority: priority(priorityText), Input: Text(d.Given("input")), Note: n.value(),
		ToStart: toStart, Timeout: toClose, ToClose: startToClose, Heartbeat: limit(limits.heartbeat),
	})
	if !b.closed {
		b.memory.Activities[shorten(id)] = openActivity{Scheduled: event}
	}
}

// refuseActivity sets what the decision left out to the defaults of the type. It returns why the activity cannot be
// scheduled, or "".
func (b *batchTurn) refuseActivity(
	id string, known *KnownActivityType, list, priorityText *string, l *activityLimits,
) string {
	_, open := b.memory.Activities[shorten(id)]
	switch {
	case known == nil:
		return decision.ActivityTypeNone
	case known.Deprecated:
		return decision.ActivityDeprecated
	case open:
		return decision.ActivityIDInUse
	case len(b.memory.Activities) >= b.settings.OpenActivities:
		return decision.ActivitiesLimit
	}
	d := &known.Defaults
	if d.DefaultTaskList != nil {
		fill(list, d.DefaultTaskList.Name)
	}
	fill(priorityText, d.DefaultTaskPriority)
	fill(&l.toClose, d.DefaultTaskScheduleToCloseTimeout)
	fill(&l.toStart, d.DefaultTaskScheduleToStartTimeout)
	fill(&l.startToClose, d.DefaultTaskStartToCloseTimeout)
	fill(&l.heartbeat, d.DefaultTaskHeartbeatTimeout)
	switch {
	case *list == "":
		return "DEFAULT_TASK_LIST_UNDEFINED"
	case l.toClose == "":
		return "DEFAULT_SCHEDULE_TO_CLOSE_TIMEOUT_UNDEFINED"
	case l.toStart == "":
		return "DEFAULT_SCHEDULE_TO_START_TIMEOUT_UNDEFINED"
	case l.startToClose == "":
		return "DEFAULT_START_TO_CLOSE_TIMEOUT_UNDEFINED"
	case l.heartbeat == "":
		return "DEFAULT_HEARTBEAT_TIMEOUT_UNDEFINED"
	default:
		return ""
	}
}

// requestCancelActivity asks the worker of an activity to give it up. If no worker has taken it, it ends after the
// batch.
func (b *batchTurn) requestCancelActivity(d *decision.Decision, refused string) {
	id := d.Text("activityId")
	open, known := b.memory.Activities[shorten(id)]
	if !known && refused == "" {
		refused = decision.ActivityIDUnknown
	}
	var a history.Attributes
	a.Text("activityId", id)
	if refused != "" {
		b.fail(d, &a, refused)
		return
	}
	name := NodeName(id, open.Scheduled)
	open.CancelRequested = b.emit(d.Success, b.completed, name, a.Decided(b.completed))
	b.memory.Activities[shorten(id)] = open
	if open.Started != 0 {
		b.growth.GiveUp = append(b.growth.GiveUp, name)
		return
	}
	b.later = append(b.later, func() {
		now, still := b.memory.Activities[shorten(id)]
		if !still { // the batch asked twice
			return
		}
		delete(b.memory.Activities, shorten(id))
		b.drop(name)
		var a history.Attributes
		a.Ref("scheduledEventId", now.Scheduled).Ref("startedEventId", 0)
		b.emit(history.ActivityCanceled, now.Scheduled, name, a.Ref("latestCancelRequestedEventId", now.CancelRequested))
	})
}

// activityTask answers the question about the node of an activity task.
func (t *turn) activityTask(n *note) {
	c := &t.ask.Cause
	if n.Started == 0 && (c.Kind == grow.Taken || c.Call || c.Kind == grow.Ended) {
		t.activityStarted(n)
		if t.closed {
			return // the history is full: there is no task
		}
	}
	if c.Kind == grow.Taken {
		t.growth.Note = n.value()
		t.growth.Reply = atom.MustEncode(ActivityTask{
			ActivityID: n.ID, StartedEventID: n.Started, WorkflowExecution: t.execution(), ActivityType: *n.Type,
		})
		return
	}
	open := t.memory.Activities[shorten(n.ID)]
	t.growth.Reply = atom.Null
	event, a := t.activityEnd(open)
	t.emit(event, n.Event, c.Name, a.Ref("scheduledEventId", n.Event).Ref("startedEventId", n.Started))
	if t.closed { // the history is full: how the activity ended is not known
		return
	}
	delete(t.memory.Activities, shorten(n.ID))
	if event == history.ActivityCompleted || event == history.ActivityTimedOut {
		t.mayNeedUndo(open.Undo)
	}
	if t.start.Undoes != nil {
		t.undoneActivity(n.ID, event)
	}
}

func (t *turn) activityStarted(n *note) {
	var a history.Attributes
	a.Given("identity", t.identity()).Ref("scheduledEventId", n.Event)
	n.Started = t.emit(history.ActivityStarted, n.Event, t.ask.Cause.Name, &a)
	n.ToClose = dueAfter(t.ask.Now, time.Duration(n.ToClose)*time.Millisecond)
	if open, known := t.memory.Activities[shorten(n.ID)]; known {
		open.Started = n.Started
		if t.start.Undoes == nil {
			open.Undo = t.settings.undoes(*n.Type)
		}
		t.memory.Activities[shorten(n.ID)] = open
	}
}

// timeoutTypes are the types of timeouts by the code of the failure.
var timeoutTypes = map[string]string{
	atom.CodeScheduleToStart: "SCHEDULE_TO_START", atom.CodeStartToClose: "START_TO_CLOSE",
	atom.CodeTimeout: "SCHEDULE_TO_CLOSE", atom.CodeHeartbeatLost: "HEARTBEAT",
}

// activityEnd returns the event of how an activity task ended, with the attributes that depend on it.
func (t *turn) activityEnd(open openActivity) (event string, a *history.Attributes) {
	a = &history.Attributes{}
	c := &t.ask.Cause
	if c.Kind == grow.Ended {
		return history.ActivityCompleted, a.Given("result", textOf(c.Result))
	}
	if timeout := timeoutTypes[c.Failure.Code]; timeout != "" && !c.Call {
		return history.ActivityTimedOut, a.Text("timeoutType", timeout).Given("details", textOf(c.Failure.Details))
	}
	o := outcomeOf(c.Failure)
	if c.Failure.Code != CodeCanceled {
		return history.ActivityFailed, a.Given("reason", o.Reason).Given("details", o.Details)
	}
	a.Given("details", o.Details)
	if open.CancelRequested != 0 {
		a.Ref("latestCancelRequestedEventId", open.CancelRequested)
	}
	return history.ActivityCanceled, a
}
