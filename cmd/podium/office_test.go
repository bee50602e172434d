package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"podium/bus/bustest/loopback"
)

// TestOfficeExample plays the example of an endpoint that answers later: Podium is stopped in between, and the answer comes.
func TestOfficeExample(t *testing.T) {
	t.Parallel()
	example := filepath.Join("..", "..", "deploy", "examples", "office")
	text, err := os.ReadFile(filepath.Join(example, "podium.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	address := loopback.Reserve(t)
	_, port, _ := strings.Cut(address, ":")
	config := strings.Replace(string(text), `http: {listen: "127.0.0.1:8080"}`, "", 1)
	config = strings.Replace(config, ":9000/", ":"+port+"/", 1)
	i := install(t, strings.Replace(config, "${OFFICE_SECRET}", webSecret, 1))
	office := exec.CommandContext(t.Context(), "python3", filepath.Join(example, "office.py"))
	office.Env = append(os.Environ(), "OFFICE_SECRET="+webSecret, "OFFICE_PORT="+port, "OFFICE_SECONDS=3")
	launch(t, office)
	eventually(t, "the office listens", func() bool {
		connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		return err == nil && connection.Close() == nil
	})
	i.up()
	i.podium("send", "order a printer").succeeds(t)
	eventually(t, "the work goes on elsewhere", func() bool { return i.waits("office") > 0 })
	i.stop()
	i.up()
	eventually(t, "it is done", func() bool { return i.ended() == 1 })
	if run := i.run(i.runs()[0].ID); run.Tasks[0].Result.Text != "Done: order a printer" || run.Tasks[0].Attempt != 1 {
		t.Errorf("%+v", run.Tasks[0])
	}
	i.stop()
	i.verify()
}
