// Package taskplan keeps the plans of runs as files that people read, while the runs go on. It follows the ledger as any reader does: it decides
// nothing, no run waits for it, and all that it writes can be written again from the ledger.
//
// A file appears whole, and changes as a whole. Its name and its content follow from the records of its run alone, so that writing it again
// changes nothing.
package taskplan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"podium/bus/embedded/wholefile"
	"podium/cmd/podium/runlog"
	"podium/schemas"
	"podium/schemas/workflow"
	"podium/supervisor/say"
)

// Name is what the file of a run's plan is called: two plans of one second have two names, since the id of the run is in it.
func Name(run *workflow.RunHistory) string {
	return "task_plan_" + run.TaskPlan(say.Teller{Language: say.English()}).Created.UTC().Format("20060102_150405") + "_" + run.ID + ".md"
}

// Has reports whether a run has a plan: one that is more than its message as the only task.
func Has(run *workflow.RunHistory) bool {
	return !run.Planned.IsZero() && planned(run.Source)
}

// planned reports whether what comes from there is a plan; records leave the source out where there is none.
func planned(source schemas.PlannerKind) bool { return source != "" && source != schemas.PlannerNone }

// Of reads the plan of a run, with all words of whoever asked.
func Of(ctx context.Context, reader runlog.Reader, run *workflow.RunHistory) (schemas.TaskPlan, error) {
	plan := run.TaskPlan(say.Teller{Language: say.English()})
	words, err := reader.Words(ctx, run)
	if err != nil {
		return plan, err
	}
	plan.Question = words
	return plan, nil
}

// Write keeps the plan of a run in a folder, which is made if need be, and returns the path of its file. A file that says the same is left as it is.
func Write(ctx context.Context, reader runlog.Reader, run *workflow.RunHistory, folder string) (path string, err error) {
	plan, err := Of(ctx, reader, run)
	if err != nil {
		return "", err
	}
	path = filepath.Join(folder, Name(run))
	content := []byte(plan.Markdown())
	if held, err := os.ReadFile(path); err == nil && string(held) == string(content) { //nolint:gosec // the name is ours
		return path, nil
	}
	if err = os.MkdirAll(folder, 0o750); err != nil {
		return "", err
	}
	return path, wholefile.Replace(path, content)
}

// Folders are the directories of plans, by profile.
type Folders map[string]string

// folderName is where a ledger's data directory has what is kept of plans.
const folderName = "plans"

// Keep says in a ledger's data directory where the plans are, for whoever looks for one. It fails where no file can be written.
func (f Folders) Keep(data string) error {
	for profile, folder := range f {
		if err := writable(folder); err != nil {
			return fmt.Errorf("no plan of profile %q can be written: %w; name another directory in profiles.%s.outputs.plans, or in the variable that stands there", profile, err, profile)
		}
	}
	if err := os.MkdirAll(filepath.Join(data, folderName), 0o700); err != nil {
		return err
	}
	body, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return wholefile.Replace(foldersFile(data), body)
}

func foldersFile(data string) string { return filepath.Join(data, folderName, "folders.json") }

// writable makes a folder if need be and tries whether a file can be written there.
func writable(folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	tried, err := os.CreateTemp(folder, ".podium-*")
	if err != nil {
		return err
	}
	return errors.Join(tried.Close(), os.Remove(tried.Name()))
}

// Path is where the plan of a run stands, as the instance that has worked on this data directory has kept it; empty when there is none.
func Path(data string, run *workflow.RunHistory) (string, error) {
	if !Has(run) {
		return "", nil
	}
	body, err := os.ReadFile(foldersFile(data))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var folders Folders
	if err = json.Unmarshal(body, &folders); err != nil {
		return "", fmt.Errorf("%s: %w", foldersFile(data), err)
	}
	folder, kept := folders[run.Profile]
	if !kept {
		return "", nil
	}
	path := filepath.Join(folder, Name(run))
	if _, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return path, err
}
