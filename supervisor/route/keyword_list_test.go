package route_test

import (
	"fmt"
	"testing"

	"podium/schemas"
	"podium/supervisor/route"
)

// TestPlaces: a place is given in bytes of the text as it was written.
func TestPlaces(t *testing.T) {
	t.Parallel()
	keywords, err := route.CompileKeywords([]schemas.Keyword{
		{Word: "überweis", Mode: schemas.ModePrefix}, {Word: "Termin", Mode: schemas.ModeCompound}, {Word: "Arzttermin", Mode: schemas.ModeWord},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := "Für den Arzttermin eine U\u0308berweisung, die Ueberweisung"
	var got []string
	for _, place := range keywords.Places(text) {
		got = append(got, fmt.Sprint(place.Keyword, " ", text[place.Start:place.End]))
	}
	if want := "[1 Arzttermin 2 Arzttermin 0 U\u0308berweisung 0 Ueberweisung]"; fmt.Sprint(got) != want {
		t.Errorf("%s, want %s", fmt.Sprint(got), want)
	}
	if places := keywords.Places(""); len(places) != 0 {
		t.Errorf("%v in nothing", places)
	}
}

func TestFolding(t *testing.T) {
	t.Parallel()
	if got := route.NewFolding().Fold("Ü-ber  É"); got != "ue ber e" {
		t.Errorf("%q", got)
	}
}
