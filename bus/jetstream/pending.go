package jetstream

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"podium/bus"
	"podium/bus/jetstream/wire"
	"podium/schemas"
)

// A pending artifact has its description under a subject of its own, from which Keep copies it to where the descriptions of
// artifacts stand. Both name the same pieces. Keep renews the pending description first, so that RemovePending finds it young.
// RemovePending marks a description as deleted before it removes the pieces, and Keep looks for the mark after it has copied:
// whichever of them comes first, no kept artifact lacks its pieces.
const (
	descriptions = "$O." + bus.ArtifactBucket + ".M."
	pendings     = descriptions + "pending."
	// renewAfter is how old a pending description is at least that another put of the same bytes renews.
	renewAfter = time.Hour
)

func descriptionOf(hash string) string {
	return descriptions + base64.URLEncoding.EncodeToString([]byte(hash))
}

func pendingOf(hash string) string { return pendings + base64.URLEncoding.EncodeToString([]byte(hash)) }

// PutPending implements bus.ArtifactStore.
func (a artifacts) PutPending(ctx context.Context, r io.Reader, mediaType string) (schemas.Artifact, error) {
	const op = "put a pending artifact"
	content, err := spool(r)
	if err != nil {
		return schemas.Artifact{}, fmt.Errorf("read an artifact: %w", err)
	}
	defer content.discard()
	artifact := schemas.Artifact{SHA256: content.hash, Size: content.size, MediaType: mediaType}
	if _, err = a.findKept(ctx, op, artifact.SHA256); err == nil || !errors.Is(err, bus.ErrNotFound) {
		return artifact, err
	}
	info, message, err := a.findPending(ctx, op, artifact.SHA256)
	switch {
	case err != nil && !errors.Is(err, bus.ErrNotFound):
		return schemas.Artifact{}, err
	case err == nil && time.Since(message.Recorded) < renewAfter:
		return artifact, nil
	}
	if held := a.core.hold.allowed(op); held != nil {
		return schemas.Artifact{}, held
	}
	ctx, stop := a.core.Answered(ctx)
	defer stop()
	if err == nil {
		err = a.describe(ctx, pendingOf(artifact.SHA256), info, message.Sequence)
		if err == nil || !errors.Is(err, bus.ErrConflict) {
			return artifact, wire.ClassifyStore(op, err)
		}
	}
	if info, err = a.store(ctx, content); err == nil {
		err = a.describe(ctx, pendingOf(artifact.SHA256), info, anySequence)
	}
	if err != nil {
		return schemas.Artifact{}, wire.ClassifyStore(op, err)
	}
	return artifact, nil
}

// Keep implements bus.ArtifactStore.
func (a artifacts) Keep(ctx context.Context, hash string) error {
	if _, err := a.findKept(ctx, "keep an artifact", hash); err == nil || !errors.Is(err, bus.ErrNotFound) {
		return err
	}
	return a.keepPending(ctx, hash)
}

// keepPending keeps an artifact that is not kept yet, or fails with bus.ErrNotFound when it is not pending either.
func (a artifacts) keepPending(ctx context.Context, hash string) error {
	const op = "keep an artifact"
	info, message, err := a.findPending(ctx, op, hash)
	if err != nil {
		return err
	}
	if err = a.core.hold.allowed(op); err != nil {
		return err
	}
	answered, stop := a.core.Answered(ctx)
	defer stop()
	err = a.describe(answered, pendingOf(hash), info, message.Sequence) // a removal that has read it comes too late then
	if errors.Is(err, bus.ErrConflict) {
		info, _, err = a.findPending(answered, op, hash) // it was renewed, or is being removed
	}
	if err != nil {
		return wire.ClassifyStore(op, err)
	}
	err = a.describe(answered, descriptionOf(hash), info, 0)
	if errors.Is(err, bus.ErrConflict) {
		return nil // it is kept by another call
	}
	if err != nil {
		return wire.ClassifyStore(op, err)
	}
	again, _, err := a.findPending(ctx, op, hash)
	if errors.Is(err, bus.ErrNotFound) || err == nil && again.NUID != info.NUID {
		a.forget(ctx, descriptionOf(hash)) // its pieces are being removed
		return bus.ErrNotFound
	}
	return err
}

// RemovePending implements bus.ArtifactStore.
func (a artifacts) RemovePending(ctx context.Context, before time.Time) (removed int, err error) {
	const op = "remove pending artifacts"
	var old []bus.Message
	err = a.core.scan(ctx, bus.ArtifactStream, 0, []string{pendings + ">"}, func(m bus.Message) bool {
		if m.Recorded.Before(before) {
			old = append(old, m)
		}
		return len(old) < removedAtOnce
	})
	if err != nil {
		return 0, err
	}
	for i := range old {
		if err = a.core.hold.allowed(op); err != nil {
			return removed, err
		}
		taken, err := a.removePending(ctx, &old[i])
		if err != nil {
			return removed, wire.ClassifyStore(op, err)
		}
		if taken {
			removed++
		}
	}
	return removed, nil
}

// removedAtOnce bounds the artifacts that one call of RemovePending removes.
const removedAtOnce = 10_000

// removePending removes a pending description, and its pieces unless the artifact is kept. It reports whether it removed pieces.
func (a artifacts) removePending(ctx context.Context, message *bus.Message) (bool, error) {
	ctx, stop := a.core.Answered(ctx)
	defer stop()
	stream, err := a.core.js.Stream(ctx, bus.ArtifactStream)
	if err != nil {
		return false, err
	}
	var info jetstream.ObjectInfo
	if err = schemas.Unmarshal(message.Body, &info); err != nil {
		return false, err
	}
	pieces := !info.Deleted
	if pieces {
		info.Deleted = true
		if err = a.describe(ctx, message.Subject, &info, message.Sequence); errors.Is(err, bus.ErrConflict) {
			return false, nil // it was put again
		} else if err != nil {
			return false, err
		}
	}
	kept, err := a.findKept(ctx, "remove a pending artifact", info.Name)
	if err != nil && !errors.Is(err, bus.ErrNotFound) {
		return false, err
	}
	if err == nil && kept.NUID == info.NUID {
		pieces = false
	} else if err = stream.Purge(ctx, jetstream.WithPurgeSubject(objectChunks+info.NUID)); err != nil {
		return false, err
	}
	marked, err := a.core.lookUp(ctx, bus.ArtifactStream, lookup{LastOf: message.Subject})
	var last jetstream.ObjectInfo
	if err != nil || schemas.Unmarshal(marked.Body, &last) != nil || !last.Deleted || last.NUID != info.NUID {
		return pieces, wire.NotFound(err) // it was put again
	}
	return pieces, stream.Purge(ctx, jetstream.WithPurgeSubject(message.Subject), jetstream.WithPurgeSequence(marked.Sequence+1))
}

// findKept returns the description of a kept artifact, or bus.ErrNotFound.
func (a artifacts) findKept(ctx context.Context, op, hash string) (*jetstream.ObjectInfo, error) {
	objects, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	info, err := objects.GetInfo(ctx, hash)
	return info, wire.ClassifyStore(op, wire.NotFound(err))
}

// findPending returns the description of a pending artifact and the message that holds it, or bus.ErrNotFound.
func (a artifacts) findPending(ctx context.Context, op, hash string) (*jetstream.ObjectInfo, bus.Message, error) {
	message, err := a.core.lookUp(ctx, bus.ArtifactStream, lookup{LastOf: pendingOf(hash)})
	if err != nil {
		return nil, bus.Message{}, wire.ClassifyStore(op, err)
	}
	info := &jetstream.ObjectInfo{}
	if err = schemas.Unmarshal(message.Body, info); err == nil && info.Deleted {
		err = bus.ErrNotFound
	}
	return info, message, wire.ClassifyStore(op, err)
}

// anySequence has describe store a description in place of any other, or of none.
const anySequence = ^uint64(0)

// describe stores a description in place of the one before. It fails with bus.ErrConflict when that is not at the sequence
// named; 0 is none.
func (a artifacts) describe(ctx context.Context, subject string, info *jetstream.ObjectInfo, last uint64) error {
	description, err := schemas.Marshal(info)
	if err != nil {
		return err
	}
	header := nats.Header{jetstream.MsgRollup: {jetstream.MsgRollupSubject}}
	if last != anySequence {
		header[jetstream.ExpectedLastSubjSeqHeader] = []string{strconv.FormatUint(last, 10)}
	}
	_, err = a.core.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Header: header, Data: description})
	return wire.Classify("describe an artifact", err)
}
