package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ebbflow/ebb/atom"
	"github.com/ebbflow/ebb/engine"
	"github.com/ebbflow/ebb/flow/grow"
	"github.com/ebbflow/ebb/storage"
)

// A script says what a play does: a thing is sent to a run, and a command.
type script struct {
	flow               string // the name of a machine of stormMachines, go, events or swf
	thing, thingBy     string // result, failure, heartbeat or signal, and its door
	command, commandBy string // cancel, revert, suspend (and cancel), abandon, timeout, sibling or silence, and its door
	when               string // the command comes after the thing, or together; the thing comes while the run is held
}

func (s script) String() string {
	return fmt.Sprintf("%s %s/%s %s/%s %s", s.flow, s.thing, s.thingBy, s.command, s.commandBy, s.when)
}

// stormPairs returns every pair of a thing and a command, for every flow that has both.
func stormPairs() (all []script) {
	for flow, things := range map[string]string{
		"machine": "result failure heartbeat", "call": "result failure", "map": "result failure",
		"go": "result failure heartbeat signal", "events": "result failure signal", "swf": "result failure heartbeat signal",
	} {
		for thing := range strings.FieldsSeq(things) {
			for command := range strings.FieldsSeq("cancel revert suspend abandon timeout sibling silence") {
				one := flow == "swf" || flow == "events" || flow == "map" // has no sibling
				if command == "silence" && (thing != "heartbeat" || flow != "machine") ||
					command == "timeout" && flow == "events" || command == "sibling" && one ||
					flow == "swf" && (command == "revert" || command == "suspend") {
					continue
				}
				all = append(all, script{flow: flow, thing: thing, command: command})
			}
		}
	}
	slices.SortFunc(all, func(a, b script) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// doors counts how often one of some doors was chosen.
type doors map[string]int

// complete chooses the doors and the order of a script, in turn.
func (s script) complete(turns doors) script {
	of := func(doors string) string {
		all, turn := strings.Fields(doors), turns[doors]
		turns[doors]++
		return all[turn%len(all)]
	}
	amazon := s.flow == "machine" || s.flow == "call" || s.flow == "map"
	switch {
	case s.flow == "swf":
		s.thingBy = "swf"
	case s.thing == "signal" && s.flow == "events":
		s.thingBy = of("events events rest command go") //nolint:dupword // weights
	case s.thing == "signal":
		s.thingBy = of("rest go command")
	case s.thing == "heartbeat":
		s.thingBy = of("sfn tasks tasks go") //nolint:dupword // weights
	case s.flow == "call":
		s.thingBy = of("sfn sfn rest go command") //nolint:dupword // weights
	default:
		s.thingBy = of("sfn tasks rest go command")
	}
	switch {
	case s.command == "timeout" || s.command == "silence":
		s.commandBy = "clock"
	case s.command == "sibling":
		s.commandBy = of("sfn tasks rest go command")
	case s.command == "cancel" && s.flow == "swf":
		s.commandBy = of("swf rest go command")
	case s.command == "cancel" && amazon:
		s.commandBy = of("sfn sfn rest go command") //nolint:dupword // weights
	default:
		s.commandBy = of("rest go command")
	}
	s.when = of("after after together held") //nolint:dupword // weights
	if s.when == "held" && (s.flow == "swf" || s.commandBy == "clock" || s.command == "suspend") {
		s.when = "after"
	}
	return s
}

// A play is a script that is played with a run of its own.
type play struct {
	script
	*stormWorld

	name, run  string
	seat       int  // marks the result, the failure and the signal
	at         int  // pair that gets the thing
	other      int  // pair that gets the command
	early      bool // the thing comes before the call that brought its token has ended
	book, side chan taking
	work, next taking // of the play, and beside it
	begun      time.Time
	sent       time.Time // when the thing was sent
	done       chan struct{}
	thinged    answer // to the thing, once done is closed
	ordered    answer // to the last command
	commands   map[string]int

	mu      sync.Mutex
	reports []string // what the undo was told, in JSON
}

var stormName = regexp.MustCompile(`play-\d+-\d+`)

// code is the code of the failure that the play sends.
func (p *play) code() string { return fmt.Sprint("Seat", p.seat) }

// tell notes what the undo is told.
func (p *play) tell(outcome, result, failure any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reports = append(p.reports, object(p.T, jsonObject{"outcome": outcome, "result": result, "failure": failure}))
}

// begin starts the run, and takes its work. It returns false if that took longer than the run's time limit.
func (p *play) begin(ctx context.Context) bool {
	p.begun, p.run = time.Now(), p.name
	variant := p.flow
	if p.command == "timeout" || p.command == "silence" {
		variant += "-" + p.command
	}
	var out jsonObject
	switch p.flow {
	case "go":
		if err := p.engines[variant].Start(ctx, p.run); err != nil {
			p.Error(err)
		}
	case "events":
		p.must(func(pair int) (answer, jsonObject) {
			return p.ask(ctx, pair, "/api/v1/jobs", jsonObject{"id": p.run, "flow": "events"})
		})
	case "swf":
		limit := map[bool]string{true: fmt.Sprint(int(stormLimit.Seconds())), false: "3600"}[p.command == "timeout"]
		out = p.must(func(pair int) (answer, jsonObject) {
			return p.aws(ctx, pair, "SimpleWorkflowService.StartWorkflowExecution", jsonObject{
				"domain": "storm", "workflowId": p.name, "workflowType": jsonObject{"name": "storm", "version": "1"},
				"executionStartToCloseTimeout": limit,
			})
		})
		p.run = fmt.Sprint(out["runId"])
	default:
		p.run = variant + ":" + p.name
		input := map[bool]string{true: fmt.Sprintf("[%q]", p.name), false: "{}"}[p.flow == "map"]
		p.must(func(pair int) (answer, jsonObject) {
			return p.aws(ctx, pair, "AWSStepFunctions.StartExecution",
				jsonObject{"stateMachineArn": stormARN + "stateMachine:" + variant, "name": p.name, "input": input})
		})
	}
	over := time.After(map[bool]time.Duration{true: stormLimit, false: stormPatience}[p.command == "timeout"])
	take := func(from chan taking, into *taking) bool {
		select {
		case *into = <-from:
			return true
		case <-over:
			if p.command != "timeout" {
				p.Errorf("%v (run %s): no worker got its work", p, p.run)
			}
			return false
		}
	}
	if !take(p.book, &p.work) || p.command == "sibling" && !take(p.side, &p.next) {
		return false
	}
	if p.work.run == "" {
		p.work.run = p.run
	}
	if p.thing == "signal" && p.flow != "swf" {
		p.must(func(pair int) (answer, jsonObject) { return p.end(ctx, "tasks", pair, p.work, ""), nil })
		p.until("the booking is done", func() bool { return p.count("Book", "SUCCESS") == 1 })
	}
	if p.when == "held" {
		p.hold(ctx)
	}
	return true
}

// act sends the thing and the command.
func (p *play) act(ctx context.Context) {
	if p.when != "together" {
		p.sendThing(ctx)
		p.sendCommand(ctx)
		return
	}
	var both sync.WaitGroup
	lead := time.Duration(rand.IntN(9)-4) * 2 * time.Millisecond
	both.Go(func() { time.Sleep(-lead); p.sendThing(ctx) })
	both.Go(func() { time.Sleep(lead); p.sendCommand(ctx) })
	both.Wait()
}

// sendThing sends the thing once.
func (p *play) sendThing(ctx context.Context) {
	defer close(p.done)
	if p.command == "timeout" && p.when != "killed" { // shortly before or after the time limit
		time.Sleep(time.Until(p.begun.Add(stormLimit + time.Duration(rand.IntN(80)-50)*time.Millisecond)))
	}
	p.sent = time.Now()
	switch p.thing {
	case "heartbeat":
		p.thinged = p.beat(ctx)
	case "signal":
		p.thinged = p.signal(ctx)
	case "failure":
		p.thinged = p.end(ctx, p.thingBy, p.at, p.work, p.code())
	default:
		p.thinged = p.end(ctx, p.thingBy, p.at, p.work, "")
	}
}

func (p *play) sendCommand(ctx context.Context) {
	switch p.command {
	case "timeout", "silence":
		p.ordered = yes
	case "suspend":
		p.hold(ctx)
		p.order(ctx, "cancel")
	case "sibling":
		p.repeat(func() answer {
			if p.end(ctx, p.commandBy, p.other, p.next, "Sibling") == lost {
				return lost
			}
			return yes // "no" comes after a lost "yes"
		})
		if p.when == "held" {
			p.order(ctx, "resume")
		}
	default:
		p.order(ctx, p.command)
	}
}

// hold suspends the run.
func (p *play) hold(ctx context.Context) {
	p.order(ctx, "suspend")
	p.until(fmt.Sprint(p, " is suspended, run ", p.run), func() bool {
		run, err := p.store.Run(ctx, p.run)
		return err == nil && (run.Hold || run.State.Ended())
	})
}

// repeat repeats what is not answered, at another pair if one runs.
func (p *play) repeat(try func() answer) {
	p.until(fmt.Sprint(p, " is commanded"), func() bool {
		if p.ordered = try(); p.ordered == lost {
			p.other = p.alive()
		}
		return p.ordered != lost
	})
}

// order gives the run a command, until it is answered.
func (p *play) order(ctx context.Context, command string) {
	key, by := p.name+command, p.commandBy
	if command != "cancel" && by != "go" && by != "command" {
		by = "rest"
	}
	p.repeat(func() (a answer) {
		switch by {
		case "sfn":
			a, _ = p.aws(ctx, p.other, "AWSStepFunctions.StopExecution",
				jsonObject{"executionArn": stormARN + "execution:" + p.run})
		case "swf":
			a, _ = p.aws(ctx, p.other, "SimpleWorkflowService.TerminateWorkflowExecution",
				jsonObject{"domain": "storm", "workflowId": p.name})
		case "go":
			c := map[string]engine.Command{
				"suspend": engine.Hold(), "resume": engine.Resume(), "abandon": engine.Abandon("storm"),
				"cancel": engine.Cancel("storm"), "revert": engine.Cancel("storm"),
			}[command]
			a = p.answered(engine.SendOnce(ctx, p.store, p.run, key, c.By(storage.Issuer{Via: storage.ViaLibrary})))
		case "command":
			args := []string{command, p.run}
			if command == "abandon" {
				args = []string{"cancel", p.run, "--no-undo"}
			}
			if command != "resume" && (p.flow == "go" || p.flow == "swf" || p.seat%2 == 0) {
				args = append(args, "--no-wait")
			}
			a = p.ebb(args...)
		default:
			path, body := command, jsonObject{}
			if command == "abandon" {
				path, body = "cancel", jsonObject{"no_undo": true}
			}
			a, _ = p.ask(ctx, p.other, "/api/v1/runs/"+p.run+"/"+path, body, "Idempotency-Key", key)
		}
		return a
	})
	p.commands[command]++
}

// answered is the answer that an error of a store is.
func (p *play) answered(err error) answer {
	switch {
	case err == nil:
		return yes
	case errors.Is(err, storage.ErrGone), errors.Is(err, storage.ErrTaken):
		return no
	default:
		p.Errorf("%v: %v", p, err)
		return lost
	}
}

// end ends work with the play's result or, unless code is "", with a failure.
func (p *play) end(ctx context.Context, by string, pair int, work taking, code string) (a answer) {
	result, fails := jsonObject{"Seat": p.seat}, code != ""
	choose := func(succeed, fail string) string { return map[bool]string{false: succeed, true: fail}[fails] }
	body := func(succeed string, with any, fail string) jsonObject {
		if fails {
			return jsonObject{fail: code}
		}
		return jsonObject{succeed: with}
	}
	aws := func(operation string, body jsonObject) {
		body["taskToken"] = work.id
		a, _ = p.aws(ctx, pair, operation, body)
	}
	switch by {
	case "sfn":
		aws("AWSStepFunctions.SendTask"+choose("Success", "Failure"), body("output", object(p.T, result), "error"))
	case "swf":
		aws("SimpleWorkflowService.RespondActivityTask"+choose("Completed", "Failed"), body("result", p.code(), "reason"))
	case "tasks":
		a, _ = p.ask(ctx, pair, "/tasks/"+work.id+choose("/complete", "/fail"), body("result", result, "code"))
	case "command":
		a = p.ebb("complete", work.token, choose("--result", "--error"), choose(object(p.T, result), code))
	case "go":
		end := storage.TokenEnd{Result: atom.MustEncode(result)}
		if fails {
			end = storage.TokenEnd{Failure: &atom.Failure{Code: code}}
		}
		_, err := p.store.EndToken(ctx, work.token, end)
		a = p.answered(err)
	default:
		a, _ = p.ask(ctx, pair, "/api/v1/tokens/"+work.token+"/complete", body("result", result, "error"))
	}
	return a
}

func (p *play) beat(ctx context.Context) (a answer) {
	switch p.thingBy {
	case "sfn":
		a, _ = p.aws(ctx, p.at, "AWSStepFunctions.SendTaskHeartbeat", jsonObject{"taskToken": p.work.id})
	case "swf":
		a, _ = p.aws(ctx, p.at, "SimpleWorkflowService.RecordActivityTaskHeartbeat",
			jsonObject{"taskToken": p.work.id, "details": p.code()})
	case "go":
		_, err := p.store.KeepToken(ctx, p.work.token, storage.Heartbeat{Details: atom.MustEncode(p.code())})
		a = p.answered(err)
	default:
		a, _ = p.ask(ctx, p.at, "/tasks/"+p.work.id+"/heartbeat", jsonObject{"details": p.code(), "lease_seconds": 600})
	}
	return a
}

func (p *play) signal(ctx context.Context) (a answer) {
	event := jsonObject{"specversion": "1.0", "id": p.name, "source": "/storm", "type": "storm.paid", "data": p.seat}
	switch p.thingBy {
	case "swf":
		a, _ = p.aws(ctx, p.at, "SimpleWorkflowService.SignalWorkflowExecution",
			jsonObject{"domain": "storm", "workflowId": p.name, "signalName": p.code()})
	case "events":
		a, _ = p.ask(ctx, p.at, "/events?run="+p.run, event, "Content-Type", "application/cloudevents+json")
	case "go":
		var body any = p.seat
		if p.flow == "events" {
			body = event
		}
		signal := storage.Message{Run: p.run, Kind: grow.MessageSignal, Name: "paid", Body: atom.MustEncode(body)}
		a = p.answered(p.store.Send(ctx, signal))
	case "command":
		if p.flow == "events" {
			return p.ebb("signal", p.run, "--event", object(p.T, event))
		}
		a = p.ebb("signal", p.run, "paid", "--data", fmt.Sprint(p.seat))
	default:
		a, _ = p.ask(ctx, p.at, "/api/v1/runs/"+p.run+"/signal", jsonObject{"name": "paid", "data": p.seat})
	}
	return a
}
