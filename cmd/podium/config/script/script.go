package script

import (
	"github.com/go-json-experiment/json/jsontext"

	"podium/agents/scripted"
	"podium/cmd/podium/config/keyword"
	"podium/schemas"
)

// A Script is the file of an agent of kind scripted.
type Script struct {
	Cases     []Case `yaml:"cases" required:"true" min:"1" doc:"What is answered to what. The first case that fits a request counts."`
	Otherwise *Case  `yaml:"otherwise" doc:"What is answered to what fits no case, of whatever kind it is: a case without match, kind, arguments, answer, answer_values and attempt. Absent: a failure that no other attempt can help, which quotes the request."`
}

// A Case is an answer and what it is for. All conditions that it has must hold.
type Case struct {
	Match     []keyword.Keyword   `yaml:"match" min:"1" doc:"Words; one of them in what the task asks for is enough, as with routers. With kind: plan they are looked for in the person's words. Absent: any words."`
	Kind      schemas.RequestKind `yaml:"kind" enum:"work assess plan route extract" default:"work" doc:"The kind of request that it is for. A plan is answered by data such as {steps: [weather, umbrella]}, an assessment by {score: 0.5}, a route by {next_agent: weather}."`
	Arguments jsontext.Value      `yaml:"arguments" doc:"Members that the arguments of the request must have, with equal values; it may have others."`
	Answer    []keyword.Keyword   `yaml:"answer" min:"1" doc:"Words; one of them in what a person has answered about the task is enough, of several answers in the newest. Nothing fits while nobody was asked. An answer takes a further attempt of the agent, so that a case which asks stands behind those that know the answer."`
	Values    jsontext.Value      `yaml:"answer_values" doc:"Members that the answers of people must have, with equal values, by the names of the needs, a dot of which is a section; they may have others. There is a value where the schema of the need says how words are read."`
	Attempt   int                 `yaml:"attempt" min:"1" max:"20" doc:"The attempt that it is for: 1 is the first. Absent: any."`

	Text              string                 `yaml:"text" doc:"Words for a person: a template (Go text/template) in which {{.words}} (of the person), {{.task}} (what it asks for), {{.arguments}}, {{.inputs}}, {{.answer}} (of a person, the newest: {{.answer.text}}, {{.answer.question}}, {{.answer.values}}), {{.answers}} (all, the oldest first), {{.entities}}, {{.message}}, {{.attachments}} (names), {{.language}} and {{.attempt}} stand for what the request says. With fail: why."`
	Data              jsontext.Value         `yaml:"data" doc:"Data for a program. What breaks the output_schema of the agent makes a failed attempt, as with every agent."`
	MediaType         string                 `yaml:"media_type" doc:"Media type of text. Default: text/plain."`
	Status            schemas.ResponseStatus `yaml:"status" enum:"completed partial failed blocked" default:"completed" doc:"How far it is. partial needs text, data or deliverables; failed needs issues; blocked needs needs, issues or an operation."`
	Needs             []CaseNeed             `yaml:"needs" min:"1" doc:"What is lacking, with status: blocked."`
	Operation         *CaseOperation         `yaml:"operation" doc:"What is proposed to a person, with status: blocked."`
	Issues            []CaseIssue            `yaml:"issues" min:"1" doc:"What has gone wrong."`
	ValidationResults []CaseValidation       `yaml:"validation_results" min:"1" doc:"What was checked."`
	Recommendations   []string               `yaml:"recommendations" min:"1" doc:"What is recommended, one sentence each."`
	Usage             *CaseUsage             `yaml:"usage" doc:"What it has cost."`
	Deliverables      []CaseFile             `yaml:"deliverables" min:"1" doc:"Files that come with the answer."`
	Delay             schemas.Duration       `yaml:"delay" doc:"How long it takes; progress is told meanwhile. Longer than the deadline is an agent that hangs."`
	Acts              bool                   `yaml:"acts" doc:"true: it asks for a permit before it answers, as an agent that acts outside does; it acts nowhere. The agent needs side_effects: external."`
	Fail              scripted.Failing       `yaml:"fail" enum:"temporary permanent resource unknown" doc:"It fails, with text as the words for a person. temporary: another attempt may help. permanent: none can. resource: it has no room now and is asked again later. unknown: with acts, nobody knows whether it has acted."`
}

// A CaseNeed is something that an answer lacks.
type CaseNeed struct {
	Name     string             `yaml:"name" required:"true" doc:"An argument and its members, with dots, such as appointment.date."`
	Question map[string]string  `yaml:"question" keys:"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" doc:"What a person is asked, by language tag."`
	Schema   jsontext.Value     `yaml:"schema" doc:"JSON Schema of what is lacking."`
	From     schemas.NeededFrom `yaml:"from" enum:"requester supervisor" default:"requester" doc:"Who can say it."`
}

// A CaseOperation is what an answer proposes.
type CaseOperation struct {
	Name       string         `yaml:"name" required:"true" doc:"What would be done, for programs."`
	Arguments  jsontext.Value `yaml:"arguments" doc:"With what it would be done: keys and values."`
	Summary    string         `yaml:"summary" doc:"What would be done, for a person."`
	Recipients []string       `yaml:"recipients" min:"1" doc:"Whom it would reach, where the arguments do not say."`
}

// A CaseIssue is something that has gone wrong.
type CaseIssue struct {
	Severity    string                  `yaml:"severity" enum:"critical high medium low" default:"medium" doc:"How bad it is."`
	Description string                  `yaml:"description" required:"true" doc:"What has gone wrong, for a person."`
	Resolution  schemas.Resolution      `yaml:"resolution" enum:"resolved escalated deferred" doc:"What became of it. With status: failed, deferred says that another attempt may help, and escalated that none can."`
	Details     string                  `yaml:"resolution_details" doc:"How it was resolved, or what is needed."`
	Category    schemas.FailureCategory `yaml:"category" enum:"task_execution validation dependency resource coordination input" doc:"What kind of failure it was. input, with status blocked: a person has to say more, and is asked by the description."`
}

// A CaseValidation is one validator's verdict.
type CaseValidation struct {
	Validator string        `yaml:"validator" doc:"Who has checked. Default: the agent."`
	Status    string        `yaml:"status" required:"true" enum:"passed failed" doc:"The verdict."`
	Details   string        `yaml:"details" doc:"The verdict in words."`
	Issues    []CaseFinding `yaml:"issues" min:"1" doc:"What was found."`
}

// A CaseFinding is one finding of a validator.
type CaseFinding struct {
	Severity string `yaml:"severity" enum:"error warning info" default:"warning" doc:"How bad it is."`
	Message  string `yaml:"message" required:"true" doc:"What was found."`
	File     string `yaml:"file" doc:"The file that it was found in."`
	Line     int    `yaml:"line" min:"1" max:"1000000000" doc:"The line that it was found in."`
}

// A CaseUsage is what an answer has cost.
type CaseUsage struct {
	Tokens  int     `yaml:"tokens_used" min:"0" max:"1000000000" doc:"Tokens of models."`
	Seconds float64 `yaml:"time_elapsed_seconds" max:"1000000000" doc:"Seconds. Default: what was measured."`
}

// A CaseFile is a file that comes with an answer.
type CaseFile struct {
	File             string `yaml:"file" required:"true" doc:"The file: beside the script, or in a folder there."`
	Name             string `yaml:"name" doc:"Its name for whoever gets it. Default: that of the file."`
	MediaType        string `yaml:"media_type" doc:"What it is, such as text/csv. Default: by the ending of its name."`
	Type             string `yaml:"type" enum:"code documentation report config" default:"documentation" doc:"What sort of thing it is."`
	Description      string `yaml:"description" doc:"What it is, for a person."`
	ValidationStatus string `yaml:"validation_status" enum:"passed failed skipped" doc:"What a check has said of it."`
}
