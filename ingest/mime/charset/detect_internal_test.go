package charset

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"podium/ingest/mime/defect"
)

// TestDetectedCharset_I18 reads what has no label, or a wrong one.
func TestDetectedCharset_I18(t *testing.T) {
	t.Parallel()
	const (
		russian  = "Здравствуйте, у меня вопрос о вашей работе. Когда вы открыты на этой неделе?"
		japan    = "こんにちは、診療時間について質問があります。来週の月曜日は開いていますか。"
		chinese  = "你好，我想问一下你们的时间。星期一可以来吗？谢谢你们的帮助。"
		taiwan   = "你好，我想問一下你們的時間。星期一可以來嗎？謝謝你們的幫助。"
		korea    = "안녕하세요, 진료 시간에 대해 질문이 있습니다. 월요일에 문을 엽니까?"
		german   = "Grüße aus Köln, schöne Häuser für Übermüdete. Straße, Füße, Öl."
		french   = "Être ou ne pas être, là où ça va très bien, déjà élevé à Noël."
		spanish  = "¿Mañana está abierto? El niño comió piña. ¡Adiós!"
		shouting = "ÄÖÜ ÄÖÜ"
	)
	tests := map[string]struct {
		text     string
		encoding encoding.Encoding
	}{
		"koi8-r": {russian, charmap.KOI8R}, "windows-1251": {russian, charmap.Windows1251},
		"shift_jis": {japan, japanese.ShiftJIS}, "euc-jp": {japan, japanese.EUCJP}, "iso-2022-jp": {japan, japanese.ISO2022JP},
		"gbk": {chinese, simplifiedchinese.GBK}, "big5": {taiwan, traditionalchinese.Big5}, "euc-kr": {korea, korean.EUCKR},
		"german": {german, charmap.Windows1252}, "french": {french, charmap.Windows1252}, "spanish": {spanish, charmap.Windows1252},
		"capitals": {shouting, charmap.Windows1252}, "utf-16": {german, unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
	}
	for name, test := range tests {
		data, err := test.encoding.NewEncoder().Bytes([]byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		labels := []string{"", "us-ascii", "utf-8", "x-unknown"}
		if name == "iso-2022-jp" {
			labels = []string{"x-unknown"} // it is valid ASCII otherwise
		}
		for _, label := range labels {
			if got := ToUTF8(data, label, &defect.List{}); got != test.text && !(name == "iso-2022-jp" && strings.Contains(got, "\x1b")) {
				t.Errorf("%s with label %q: got %q", name, label, got)
			}
		}
	}
	if got := ToUTF8([]byte("Gr\xc3\xbc\xc3\x9fe und mehr\xff"), "utf-8", &defect.List{}); strings.Count(got, "Gr") != 1 || !strings.Contains(got, "und mehr") {
		t.Errorf("a damaged character cost the text: %q", got)
	}
}

// TestShortCyrillicText reads few words without a label, which are pairs of bytes in the sets of East Asia as well, and
// few words of those.
func TestShortCyrillicText(t *testing.T) {
	t.Parallel()
	cyrillic := []string{
		"Добрый день.", "Здравствуйте", "Заказ номер 17", "Ольга Смирнова", "Счёт за ноябрь", "ЗАПРОС ЦЕНЫ", "Привет!", "Прошу цену.",
		"Пришлите, пожалуйста, цену на ручки (17 шт.)", "Спасибо", "Где мой заказ?", "Нужно 17 ручек PDF", "Москва, ул. Ленина",
		"ООО «Ромашка» — счёт № 17",
	}
	for set, texts := range map[encoding.Encoding][]string{
		charmap.Windows1251: append([]string{"Доброго дня", "Запит ціни", "Моля, изпратете оферта", "Здравейте"}, cyrillic...),
		charmap.KOI8R:       cyrillic[:13], // which has no typographic signs
		charmap.ISO8859_5:   cyrillic[:13],
		charmap.KOI8U:       {"Доброго дня", "Запит ціни", "Привіт, як справи"},
		simplifiedchinese.GBK: {
			"请报价，谢谢你们的帮助", "我们想要这个的时间", "你好，我想问一下", "这是我的订单，请看一下",
		},
		korean.EUCKR:            {"안녕하세요 견적", "견적을 부탁합니다", "감사합니다. 김철수"},
		traditionalchinese.Big5: {"請問一下，我們的時間", "這是我的訂單，請看一下"},
		japanese.ShiftJIS:       {"よろしくお願いします", "見積もりをください"},
		japanese.EUCJP:          {"よろしくお願いします", "見積もりをください"},
		charmap.Windows1252:     {"ÄÖÜ ÄÖÜ", "¿Qué? ¡Sí!", "ÆØÅ ÆØÅ", "Größe: ÄÖÜ", "ŒUVRE ÉTÉ"},
	} {
		for _, text := range texts {
			data, err := set.NewEncoder().Bytes([]byte(text))
			if err != nil {
				t.Fatal(text, err)
			}
			if got := ToUTF8(data, "", &defect.List{}); got != text {
				t.Errorf("%v, %q: got %q", set, text, got)
			}
		}
	}
}
