package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"podium/bus"
	"podium/bus/artifact"
	"podium/bus/binding"
	"podium/bus/intake"
	"podium/schemas"
)

// keptHeaders tell how a body is to be read. The others prove the sender, tell of
// persons, or would mean something on the bus.
func keptHeaders(header http.Header) map[string][]string {
	kept := map[string][]string{}
	for _, name := range []string{"Content-Type", "Content-Encoding", "User-Agent"} {
		for _, value := range header[name] {
			kept[name] = append(kept[name], strings.ToValidUTF8(value, string(utf8.RuneError)))
		}
	}
	return kept
}

// What proves the sender or lets anybody answer, in JSON and in a form.
var (
	secretMember    = regexp.MustCompile(`("(?:token|response_url)"\s*:\s*")(?:[^"\\]|\\.)*(")`)
	secretParameter = regexp.MustCompile(`((?:^|&)(?:token|response_url)=)[^&]*`)
)

// redacted is a body without what nobody may read from the ledger.
func redacted(body []byte) []byte {
	return secretParameter.ReplaceAll(secretMember.ReplaceAll(body, []byte("$1***$2")), []byte("$1***"))
}

// quarantine keeps an authentic body that cannot be read, so that its sender does
// not repeat it for ever and a person can look at it. One body is kept under one
// id, however often it comes.
func (d *Adapter) quarantine(ctx context.Context, e *exchange, body []byte, detail string) error {
	now := d.config.Now().UTC()
	sum := sha256.Sum256(body)
	id := "chat:" + e.name + ":" + hex.EncodeToString(sum[:])
	shard := schemas.ShardOf(schemas.SessionID(e.channel.profile, id), d.core.Shards())
	kept := schemas.Quarantined{
		Reason: schemas.QuarantineMalformed, Detail: detail, Subject: bus.InSubject(adapterName, shard), Stream: bus.ShardStream(shard),
		Received: now, Headers: keptHeaders(e.request.Header), Body: redacted(body),
	}
	_, _, err := d.receipts.once(ctx, id, func() (intake.Receipt, error) { return d.keep(ctx, id, shard, kept, now) })
	if err != nil {
		return err
	}
	e.channel.tally.quarantined.Add(1)
	d.log.Warn().Str("channel", e.name).Str("reason", detail).Msg("a chat request is quarantined")
	return nil
}

func (d *Adapter) keep(ctx context.Context, id string, shard int, kept schemas.Quarantined, now time.Time) (intake.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.config.PublishTimeout)
	defer cancel()
	data, err := schemas.Marshal(kept)
	if err != nil {
		return intake.Receipt{}, err
	}
	event := schemas.Event{
		ID: id, Source: "/podium/chat", Type: schemas.TypeQuarantined, Time: now,
		DataContentType: schemas.MediaTypeJSON, Data: data,
	}
	if err = artifact.Offload(ctx, d.core.Artifacts(), &event); err != nil {
		return intake.Receipt{}, err
	}
	message, err := binding.Encode(bus.QuarantineSubject(schemas.QuarantineMalformed, shard), &event)
	if err != nil {
		return intake.Receipt{}, err
	}
	ack, err := bus.Append(ctx, d.core, message, bus.Expect{})
	return intake.Receipt{Shard: shard, Sequence: ack.Sequence}, err
}
