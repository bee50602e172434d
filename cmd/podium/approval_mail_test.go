package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"podium/schemas"
)

// togetherConfig has an agent that pays, once two have agreed, and keeps what it was told; and one that somebody may have work who has written in the chat.
const togetherConfig = deskByMail + `
people: {anna: {mail: anna@practice.example}, ben: {mail: ben@practice.example}, cid: {mail: cid@practice.example}}
agents:
  bank:
    kind: exec
    command: [sh, -c, 'mkdir "$ORDERED/$PODIUM_EFFECT" && cat >"$ORDERED/$PODIUM_EFFECT/telling" && mv "$ORDERED/$PODIUM_EFFECT/telling" "$ORDERED/$PODIUM_EFFECT/told" && echo Bezahlt.']
    env: ["ORDERED=%[3]s"]
    side_effects: external
    input_schema: {type: object, required: [amount], properties: {amount: {type: integer, minimum: 1}}}
    arguments: [{path: amount, find: number}]
profiles:
  desk:
    language: de
    agents: [bank]
    routers: [{kind: default, agent: bank}]
    conversation: {replies_per_hour: 20}
    approval: [{agents: [bank], tainted: true, people: [anna, ben, cid], need: 2, expires: 24h}]
`

// paid are the amounts that were paid.
func (o *approvers) paid() []string {
	o.t.Helper()
	told, err := filepath.Glob(filepath.Join(o.ordered, "*", "told"))
	if err != nil {
		o.t.Fatal(err)
	}
	var amounts []string
	for _, path := range told {
		body, err := os.ReadFile(path)
		if err != nil {
			o.t.Fatal(err)
		}
		var request schemas.ExecutionRequest
		if err = json.Unmarshal(body, &request); err != nil {
			o.t.Fatalf("%v in %s", err, body)
		}
		amounts = append(amounts, string(request.Payload.Tasks[0].Context.Arguments))
	}
	return amounts
}

// TestApprovalAfterAChangeByMail_O31: two have to agree, one agrees, and another one changes the amount. Both are asked about the change by another letter, and
// a word on the first letter is about what nobody asks any more: it is refused, and nothing is paid. Whoever has changed it is one person however often they say so. What is paid is the
// changed amount, once.
func TestApprovalAfterAChangeByMail_O31(t *testing.T) {
	t.Parallel()
	o := openPracticeWith(t, togetherConfig)
	o.write("ada@example.net", "", "Bitte bezahlen Sie 1000 Euro.", true)
	before, text := o.asked(1)
	if !strings.Contains(text, "1000") || !strings.Contains(text, "2") {
		t.Errorf("anna is asked %q", text)
	}
	o.write("anna@practice.example", before, "freigeben", true)
	within(t, patience, "anna has agreed", func() bool { return o.recorded(`"disposition":"answered"`) == 1 })
	o.write("anna@practice.example", before, "freigeben", true)
	o.await("anna once more", schemas.WordDecided, 1)
	o.write("ben@practice.example", before, "freigeben\r\n\r\n{\"amount\": 0}", true)
	o.await("a change that the bank does not take", schemas.WordEdit, 1)
	o.write("ben@practice.example", before, "freigeben\r\n\r\n{\"amount\": 10}\r\n\r\nGruß, Ben", true)
	var after string
	within(t, patience, "anna is asked about the change", func() bool {
		for _, letter := range o.letters("anna@practice.example") {
			if said, _ := partsOf(&letter); strings.Contains(said, `{"amount":10}`) {
				after = strings.Trim(letter.Header().Get("Message-ID"), "<>")
			}
		}
		return after != "" && after != before
	})
	o.write("cid@practice.example", before, "freigeben", true)
	o.await("the first letter", schemas.WordHash, 1)
	o.write("ben@practice.example", after, "freigeben", true)
	o.await("ben once more", schemas.WordDecided, 2)
	if paid := o.paid(); len(paid) > 0 {
		t.Fatalf("paid are %q, and only ben has agreed to that", paid)
	}
	o.write("anna@practice.example", after, "freigeben", true)
	within(t, patience, "it is paid", func() bool { return o.first().Status == schemas.RunCompleted })
	if paid := o.paid(); len(paid) != 1 || paid[0] != `{"amount":10}` {
		t.Errorf("paid are %q", paid)
	}
	o.service.stop()
	o.service.verify()
}

// TestApprovalOfTheDismissed_O31: who is taken out of the people of the configuration while a run waits for them decides nothing any more, by the letter that they have got
// or by the word that they have given before: the run waits for the others, and takes theirs.
func TestApprovalOfTheDismissed_O31(t *testing.T) {
	t.Parallel()
	o := openPracticeWith(t, togetherConfig)
	o.write("ada@example.net", "", "Bitte bezahlen Sie 1000 Euro.", true)
	question, _ := o.asked(1)
	o.write("anna@practice.example", question, "freigeben", true)
	within(t, patience, "anna has agreed", func() bool { return o.recorded(`"disposition":"answered"`) == 1 })
	o.service.stop()
	o.service.replace("anna: {mail: anna@practice.example}, ", "")
	o.service.replace("people: [anna, ben, cid]", "people: [ben, cid]")
	o.service.up()
	o.write("anna@practice.example", question, "freigeben", true)
	o.await("whoever is dismissed", schemas.WordNotAllowed, 1)
	o.write("ben@practice.example", question, "freigeben", true)
	within(t, patience, "ben has agreed", func() bool { return o.recorded(`"disposition":"answered"`) == 2 })
	if paid := o.paid(); len(paid) > 0 {
		t.Fatalf("paid are %q, and one of those who have agreed is gone", paid)
	}
	o.write("cid@practice.example", question, "freigeben", true)
	within(t, patience, "it is paid", func() bool { return o.first().Status == schemas.RunCompleted })
	if paid := o.paid(); len(paid) != 1 || paid[0] != `{"amount":1000}` {
		t.Errorf("paid are %q", paid)
	}
	o.service.stop()
	o.service.verify()
}

// scannedConfig has an agent that whoever has written in the chat agrees to, and one that only anna does.
const scannedConfig = togetherConfig + `
  shop:
    language: de
    agents: [{name: bank, on_tainted: allow}]
    routers: [{kind: default, agent: bank}]
    approval:
      - {agents: [bank], if: {properties: {amount: {maximum: 99}}}, people: [requester], expires: 24h}
      - {agents: [bank], people: [anna], expires: 24h}
chat: {channels: {web: {profile: shop, secret: "` + webSecret + `"}}}
`

// TestLinkScannersApproveNothing_O31: letters that ask hold no link, so that none decides. Of the pages of a run whatever gets them all (a scanner of links, a preview, a crawler)
// decides nothing, with every way of asking that changes nothing, and with the word in the address; its requester decides by a POST, once, and decides nothing that others are asked.
func TestLinkScannersApproveNothing_O31(t *testing.T) {
	t.Parallel()
	o := openPracticeWith(t, scannedConfig)
	o.write("ada@example.net", "", "Bitte bezahlen Sie 1000 Euro.", true)
	o.asked(1)
	for _, letter := range o.letters("anna@practice.example") {
		if found := regexp.MustCompile(`(?i)https?:|href|mailto:`).Find(letter.Data); found != nil {
			t.Errorf("the letter has a link: %q in\n%s", found, letter.Data)
		}
	}

	path, key, inquiry := o.asksInChat(webhook{id: "c1", text: "Bitte bezahlen Sie 7 Euro.", thread: "t", prefer: "wait=30"})
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
		for _, page := range []string{"", "/answers", "/events", "/approve", "/inquiries/1/approve"} {
			for _, query := range []string{key, key + "&text=freigeben", key + "&action=approve&choice=approve&inquiry=" + inquiry} {
				o.scan(method, path+page+"?"+query)
			}
		}
	}
	if words := o.recorded(`"type":"podium.control.v1"`); words > 0 || len(o.paid()) > 0 {
		t.Fatalf("scanning has said %d words, and paid are %q", words, o.paid())
	}

	large := webhook{id: "c2", text: "Bitte bezahlen Sie 1000 Euro.", thread: "u"}.send(t, o.service.listen)
	o.asked(2)
	if page, own, _ := strings.Cut(large.Run, "?"); o.scan(http.MethodPost, page+"/answers?"+own) != http.StatusConflict {
		t.Error("who has written it decides what anna is asked")
	}
	if status := o.scan(http.MethodPost, "/v1/runs/"+o.first().ID+"/answers?"+key); status/100 != 4 {
		t.Errorf("a POST to the run of another conversation: %d", status)
	}
	if status := o.scan(http.MethodPost, path+"/answers?"+key); status != http.StatusAccepted {
		t.Errorf("its requester agrees: %d", status)
	}
	within(t, patience, "it is paid", func() bool { return len(o.paid()) == 1 })
	o.scan(http.MethodPost, path+"/answers?"+key)
	within(t, patience, "the run has ended", func() bool {
		return o.service.run(inquiry[:strings.LastIndexByte(inquiry, '.')]).Status == schemas.RunCompleted
	})
	if paid := o.paid(); len(paid) != 1 || paid[0] != `{"amount":7}` {
		t.Errorf("paid are %q", paid)
	}
	o.service.stop()
	o.service.verify()
}

// asksInChat has somebody who is asked where they have asked, and returns the page of their run, its key and the id of the question.
func (o *approvers) asksInChat(message webhook) (path, key, inquiry string) {
	o.t.Helper()
	status, body, err := message.post(o.t.Context(), o.service.listen)
	var told struct {
		Run     string `json:"run"`
		Inquiry struct {
			ID   string                `json:"id"`
			Kind schemas.HumanTaskKind `json:"kind"`
		} `json:"inquiry"`
	}
	if err == nil {
		err = json.Unmarshal(body, &told)
	}
	if err != nil || status != http.StatusOK || told.Inquiry.Kind != schemas.HumanTaskApproval || told.Run == "" {
		o.t.Fatalf("%d %s (%v)", status, body, err)
	}
	path, key, _ = strings.Cut(told.Run, "?")
	return path, key, told.Inquiry.ID
}

// scan asks for a page, with the word that agrees as its body where that is a POST, and returns the status.
func (o *approvers) scan(method, page string) int {
	o.t.Helper()
	body := ""
	if method == http.MethodPost {
		body = "freigeben"
	}
	ctx, stop := context.WithTimeout(o.t.Context(), patience)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+o.service.listen+page, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "text/plain")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		o.t.Fatal(err)
	}
	if err = response.Body.Close(); err != nil {
		o.t.Error(err)
	}
	return response.StatusCode
}
