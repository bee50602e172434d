package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"podium/ingest/imap/dovecot"
)

const (
	largeMails     = 8
	largeSize      = 36 << 20  // bytes of an attachment, 48 MiB as base64
	largeAllowance = 336 << 20 // bytes that the process may grow by at most, with its embedded ledger: less than seven of them, as garbage is collected late on a busy machine
)

// TestLargeMailsStream: mails near the limit of 50 MiB pass through the service,
// attachment and raw mail kept whole, and its memory does not grow with them.
func TestLargeMailsStream_I17(t *testing.T) {
	t.Parallel()
	mailbox := dovecot.Start(t, dovecot.Options{})
	var mailed answers
	sink := outbox(t, &mailed)
	service := install(t, mailAccount(mailbox.Port, sink.Port())+mailChaosDesks, "ledger: {shards: 1, durability: interval}")
	service.up()
	mailbox.Deliver(t, letter(mailID(0), "Warm up", "One."))
	within(t, patience, "the first mail is answered", func() bool { return mailed.answered() == 1 })
	before := peakMemory(t, service)
	random := rand.New(rand.NewPCG(1, 2))
	for number := 1; number <= largeMails; number++ {
		mailbox.Deliver(t, largeLetter(random, number))
		within(t, mailPatience, "a large mail is answered", func() bool { return mailed.answered() == number+1 })
	}
	if grown := peakMemory(t, service) - before; grown > largeAllowance {
		t.Errorf("%d mails of 48 MiB made the process %d MiB larger", largeMails, grown>>20)
	} else {
		t.Logf("%d mails of 48 MiB made the process %d MiB larger", largeMails, grown>>20)
	}
	service.stop()
}

func largeLetter(random *rand.Rand, number int) []byte {
	content := make([]byte, largeSize)
	for i := 0; i < len(content); i += 4096 { // not all alike, so that nothing is known by its hash
		content[i] = byte(random.UintN(256))
	}
	var mail bytes.Buffer
	fmt.Fprintf(&mail, "From: Ada Example <person-%d@example.net>\r\nTo: support@example.org\r\nSubject: Large\r\nMessage-ID: <%s>\r\nMIME-Version: 1.0\r\n", number, mailID(number))
	mail.WriteString("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nPlease read.\r\n")
	mail.WriteString("--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=data.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n")
	encoded := base64.StdEncoding.EncodeToString(content)
	for len(encoded) > 76 {
		mail.WriteString(encoded[:76] + "\r\n")
		encoded = encoded[76:]
	}
	mail.WriteString(encoded + "\r\n--b--\r\n")
	return mail.Bytes()
}

// peakMemory is the most that the service's process has ever had resident, in bytes.
func peakMemory(t *testing.T, service *deployment) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", service.instance().PID))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kilobytes, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				t.Fatal(err)
			}
			return kilobytes << 10
		}
	}
	t.Fatal("the kernel does not say how much memory the process has")
	return 0
}
