package definition

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebbflow/ebb/engine/tasks"
)

const projects = "../../testdata/projects"

// TestProjects loads each of ten projects from its own files: the machines can run, the ARN of each function that they
// call is that of a function of the project, and nothing is left out that is not named.
func TestProjects(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		folder, want string
		values       map[string]string
	}{
		{"approvals", `
			machine Approvals: Ask Remind Clerk Close
			function Ask nodejs22.x ask.handler in src
			function Remind nodejs22.x remind.handler in src
			function Close nodejs22.x close.handler in src
			activity clerk; version of Approvals; alias live of Approvals
			schedule ApprovalsDaily of Approvals: TZ=Europe/Rome 0 8 * * * {"daily": true}
			schedule Callers of Approvals: @every 2h {} paused
			Reset of Approvals is left out: Ebb has no events of type Api; start executions by StartExecution
			build the code of Ask, Remind, Close first: ` + "`sam build`", nil},
		{"coffee", `
			machine Orders: Take Make
			machine Making: Pour Notify
			function Take nodejs22.x order.take in functions BUS=/coffee/bus
			function Pour nodejs22.x order.pour in functions BUS=/coffee/bus
			function Notify nodejs22.x order.notify in functions BUS=/coffee/bus TO=bar
			rule OrdersPlaced of Orders
			rule Waiting of Making at $.detail`, nil},
		{"orders", `
			machine Order: Create Pay Refund Tell Failed
			function Create provided.al2023 bootstrap in create TABLE=OrderTable
			function Pay provided.al2023 bootstrap in pay
			function Refund provided.al2023 bootstrap in refund
			build the code of Create, Pay, Refund first: ` + "`sam build`", nil},
		{"quotes", `
			machine quotes: Ask One Three Seven
			function QuoteOne nodejs22.x index.handler in the template NAME=One
			function QuoteThree nodejs22.x index.handler in the template NAME=Three
			function QuoteSeven nodejs22.x index.handler in the template NAME=Seven
			schedule Nightly of quotes: 0 2 * * * {"nightly":true}
			schedule mondays of quotes: TZ=Europe/Rome 0 9 * * 1 {"week":1}
			schedule weekly of quotes: @every 168h {"week":7}
			the schedule romans is left out: cron(0 9 ? * 2#1 *): 2#1 cannot be expressed in Ebb`, nil},
		{"reports", `
			machine weekly-report: Collect Render Signed Sign Send
			function reports-dev-collect nodejs22.x src/reports.collect in . 1024 MB 6s
			function reports-dev-render nodejs22.x src/reports.render in . 1024 MB 6s
			function reports-dev-send nodejs22.x src/reports.send in . 1024 MB 6s
			activity sign
			schedule WeeklyEventsRule of weekly-report: @every 168h {"version":"0","detail-type":"Scheduled Event",` +
			`"source":"aws.events","account":"000000000000","region":"us-east-1",` +
			`"resources":["arn:aws:events:us-east-1:000000000000:rule/WeeklyEventsRule"],"detail":{}}`, nil},
		{
			"shop", `
			machine shop-prod: Validate Price Tell Store
			function shop-prod-validate python3.13 index.handler in the template
			function Price python3.13 shop/price.handler in src BUS=bus KEYS=${shop-keys} ZONE=west
			function Store python3.13 store.handler in src
			function OnlyInProd python3.13 gone.handler in gone
			the value shop-keys is of another stack (--parameter 'shop-keys=VALUE' gives a value)
			build the code of OnlyInProd first: ` + "`sam build`",
			map[string]string{"Environment": "prod", "EventBusName": "bus"},
		},
		{
			"sizing", `
			machine sizing-000000000000: Prepare Each Measure Compare
			function Prepare nodejs22.x prepare.handler in functions sizes=128,256,512 smallest=128 layer 128 MB 10s
			function Measure nodejs22.x measure.handler in functions sizes=128,256,512 smallest=128 layer 512 MB 10s
			function Compare nodejs22.x compare.handler in functions sizes=128,256,512 smallest=128 layer 128 MB 10s`,
			map[string]string{"Timeout": "10"},
		},
		{"stocks", `
			machine Stocks: Check Buy or sell Sell Buy Record
			function Check python3.13 app.handler in functions/check
			function Buy python3.13 app.handler in functions/buy
			function Sell python3.13 app.handler in functions/sell
			schedule StocksHourly of Stocks: @every 1h {"version":"0","detail-type":"Scheduled Event",` +
			`"source":"aws.events","account":"000000000000","region":"us-east-1",` +
			`"resources":["arn:aws:events:us-east-1:000000000000:rule/StocksHourly"],"detail":{}} paused
			schedule weekdays of Stocks: 30 9 * * MON-FRI {"market": "open"}`, nil},
		{"thumbnails", `
			machine ebb-process-dev: Extract Kind Unknown Both Resize Label Where
			function Extract python3.11 app.handler in functions/extract 10s
			function Resize python3.11 app.handler in functions/resize BUCKET=pictures WIDTH=64 10s
			function Label python3.11 app.handler in functions/label 10s`, nil},
		{"trip", `
			machine TripDDDD4444: Reserve Pay Cancel Failed
			function ReserveHandlerAAAA1111 nodejs22.x trip.reserve in cdk.out/asset.` + asset + ` TABLE=Bookings1A2B3C4D
			function PayHandlerBBBB2222 nodejs22.x trip.pay in cdk.out/asset.` + asset + ` TABLE=Bookings1A2B3C4D
			function CancelHandlerCCCC3333 nodejs22.x trip.cancel in cdk.out/asset.` + asset + ` TABLE=Bookings1A2B3C4D`, nil},
	} {
		t.Run(of.folder, func(t *testing.T) {
			t.Parallel()
			how := Reading{}
			how.Template.Values = of.values
			if of.folder == "shop" {
				how.Template.Region = "eu-west-1"
			}
			folder := filepath.Join(projects, of.folder)
			p, err := ReadProject(folder, how)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.ReplaceAll(strings.TrimSpace(of.want), "\n\t\t\t", "\n")
			if got := describe(t, folder, p, how); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

const asset = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"

// describe returns what a project has, on a line each.
func describe(t *testing.T, folder string, p *Project, how Reading) string {
	t.Helper()
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	known := &tasks.Registry{}
	for _, of := range p.Templates {
		for i := range of.Functions {
			known.Map("arn:aws:lambda:us-east-1:000000000000:function:"+of.Functions[i].Name, "exec:/bin/true")
		}
	}
	for _, s := range p.Sources {
		def, err := s.Definition(how)
		if err != nil {
			t.Fatal(err)
		}
		line("machine %s: %s", def.Name, strings.Join(def.Machine.Outline(), " "))
		for _, use := range def.Machine.Uses() {
			if strings.Contains(use.Task, ":lambda:") && known.Check(use.Task) != nil {
				t.Errorf("%s: there is no function %s", use.Where, use.Task)
			}
		}
	}
	for _, of := range p.Templates {
		for i := range of.Functions {
			f := &of.Functions[i]
			code := "the template"
			if f.Inline == "" {
				absolute, _ := filepath.Abs(folder)
				code, _ = filepath.Rel(absolute, f.Code)
			}
			text := fmt.Sprintf("function %s %s %s in %s", f.Name, f.Runtime, f.Handler, code)
			for _, name := range []string{"BUCKET", "BUS", "KEYS", "NAME", "TABLE", "TO", "WIDTH", "ZONE", "sizes", "smallest"} {
				if value, is := f.Environment[name]; is {
					text += " " + name + "=" + value
				}
			}
			for _, layer := range f.Layers {
				text += " " + filepath.Base(layer)
			}
			if f.MemoryMB > 0 {
				text += fmt.Sprintf(" %d MB", f.MemoryMB)
			}
			if f.Timeout > 0 && f.Timeout.Seconds() != 5 {
				text += " " + f.Timeout.String()
			}
			line("%s", text)
		}
		var also []string
		for _, name := range of.Activities {
			also = append(also, "activity "+name)
		}
		for _, v := range of.Versions {
			also = append(also, "version of "+v.Machine)
		}
		for _, a := range of.Aliases {
			also = append(also, "alias "+a.Name+" of "+a.Machine)
		}
		if len(also) > 0 {
			line("%s", strings.Join(also, "; "))
		}
		for _, s := range of.Schedules {
			text := fmt.Sprintf("schedule %s of %s: %s %s", s.Name, s.Machine, s.Spec, s.Input)
			if s.Paused {
				text += " paused"
			}
			line("%s", text)
		}
		for _, r := range of.Rules {
			text := "rule " + r.Name + " of " + r.Machine
			if r.Input.Path != "" {
				text += " at " + r.Input.Path
			}
			line("%s", text)
		}
	}
	for _, about := range p.About {
		for _, problem := range about.problems {
			line("%s", problem.Message)
		}
	}
	for _, problem := range p.Unbuilt() {
		text, _, _ := strings.Cut(problem.Message, " (")
		line("%s", text)
	}
	return strings.TrimSpace(b.String())
}
