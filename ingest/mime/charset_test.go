package mime_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"podium/ingest/mime"
	"podium/ingest/mime/defect"
)

// A script is a character set that people write mail in, its names, and words in it.
type script struct {
	labels               []string
	set                  encoding.Encoding
	name, subject, words string
}

// scripts are the sets of several bytes for a character, and those of alphabets that are not Latin.
func scripts() map[string]script {
	return map[string]script{
		"gbk": {
			[]string{"gb2312", "GBK", "gb18030", "cp936", "ms936", "x-gbk", "EUC-CN", "gb_2312-80"}, simplifiedchinese.GBK, "武兰成", "绩效管理", "您好，请报价。谢谢！",
		},
		"shift_jis": {
			[]string{"Shift_JIS", "cp932", "x-sjis", "MS932", "windows-31j", "sjis", "cp-932"}, japanese.ShiftJIS, "山田太郎", "来週の予約表", "予約表をお願いします。ソース能力。",
		},
		"euc-jp":           {[]string{"EUC-JP", "x-euc-jp", "eucJP-ms"}, japanese.EUCJP, "山田太郎", "来週の予約", "予約をお願いします。"},
		"euc-kr":           {[]string{"EUC-KR", "ks_c_5601-1987", "cp949", "UHC", "ksc5601"}, korean.EUCKR, "김철수", "월요일 예약", "예약을 부탁합니다."},
		"big5":             {[]string{"Big5", "cp950", "big5-hkscs", "x-x-big5"}, traditionalchinese.Big5, "林志明", "星期一可以來", "請問星期一可以來嗎？許功蓋"},
		"koi8-r":           {[]string{"KOI8-R", "koi8r", "koi8"}, charmap.KOI8R, "Ольга", "Заказ", "Привет"},
		"windows-1251":     {[]string{"windows-1251", "cp1251", "win-1251", "windows1251"}, charmap.Windows1251, "Ольга", "Заказ", "Привет"},
		"gbk, as UTF-8":    {[]string{"gb2312"}, simplifiedchinese.GBK, "武兰成", "询价单", "请报价。询价。谢谢！"},
		"euc-jp, as UTF-8": {[]string{"EUC-JP"}, japanese.EUCJP, "山田太郎", "見積もりのお願い", "予約をお願いします。"},
		"big5, as UTF-8":   {[]string{"Big5"}, traditionalchinese.Big5, "林志明", "詢價", "請問星期一可以來嗎？"},
		"koi8-r, long":     {[]string{"KOI8-R"}, charmap.KOI8R, "Иван Петров", "Запрос цены", "Добрый день."},
		"koi8-u":           {[]string{"KOI8-U", "cp21866"}, charmap.KOI8U, "Тарас", "Запит ціни", "Доброго дня."},
		"windows-1253":     {[]string{"windows-1253", "cp1253"}, charmap.Windows1253, "Γιώργος", "Αίτηση τιμής", "Καλημέρα, σας."},
		"iso-8859-7":       {[]string{"iso-8859-7", "greek"}, charmap.ISO8859_7, "Γιώργος", "Ερώτηση", "Καλημέρα."},
		"iso-8859-5":       {[]string{"iso-8859-5"}, charmap.ISO8859_5, "Иван Петров", "Запрос цены", "Добрый день."},
		"windows-1255":     {[]string{"windows-1255", "cp1255"}, charmap.Windows1255, "דוד כהן", "בקשה להצעת מחיר", "שלום רב."},
		"windows-874":      {[]string{"windows-874", "cp874", "TIS-620"}, charmap.Windows874, "สมชาย", "สวัสดีครับ", "สวัสดีครับ ขอราคาหน่อย"},
	}
}

func encodeAs(tb testing.TB, set encoding.Encoding, text string) string {
	tb.Helper()
	raw, err := set.NewEncoder().String(text)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// TestCharsetsNamedElsewhere: raw octets of a header, of a name or of a text that names no set are read in the set that
// another place of the mail names, whichever name it has there.
func TestCharsetsNamedElsewhere(t *testing.T) {
	t.Parallel()
	for kind, c := range scripts() {
		name, subject, words := encodeAs(t, c.set, c.name), encodeAs(t, c.set, c.subject), encodeAs(t, c.set, c.words)
		for _, label := range c.labels {
			encoded := "=?" + label + "?B?" + base64.StdEncoding.EncodeToString([]byte(subject)) + "?="
			file := func(field string) []string {
				return []string{
					"Content-Type: multipart/mixed; boundary=b", "", "--b", "Content-Type: text/plain; charset=\"" + label + "\"", "", words, "--b",
					"Content-Type: application/octet-stream", "Content-Disposition: attachment; " + field, "", "abc", "--b--",
				}
			}
			for place, lines := range map[string][]string{
				"header, text":         {`From: "` + name + `" <a@b.c>`, "Subject: " + subject, "Content-Type: text/plain; charset=" + label, "", words},
				"header, part":         append([]string{`From: "` + name + `" <a@b.c>`, "Subject: " + subject}, file("filename=x")...),
				"author, subject":      {`From: ` + name + ` <a@b.c>`, "Subject: " + encoded, "Content-Type: text/plain; charset=" + label, "", words},
				"text, subject":        {`From: "` + name + `" <a@b.c>`, "Subject: " + encoded, "", words},
				"file, subject":        append([]string{`From: "` + name + `" <a@b.c>`, "Subject: " + encoded}, file(`filename="`+subject+`.xls"`)...),
				"file, RFC 2231":       append([]string{`From: "` + name + `" <a@b.c>`, "Subject: " + encoded}, file("filename*="+label+"''"+url.PathEscape(subject)+".xls")...),
				"file, no name of set": append([]string{`From: "` + name + `" <a@b.c>`, "Subject: " + encoded}, file("filename*=''"+url.PathEscape(subject)+".xls")...),
				"file, raw and mixed":  append([]string{`From: "` + name + `" <a@b.c>`, "Subject: " + encoded}, file("filename*0*="+label+"''"+url.PathEscape(subject)+"; filename*1=.xls")...),
				"page":                 {`From: "` + name + `" <a@b.c>`, "Subject: " + subject, "Content-Type: text/html", "", "<html><meta charset=" + label + "><p>" + words},
			} {
				mail := parseWith(t, crlf(lines...), mime.Options{})
				if len(mail.From) != 1 || mail.From[0].Name != c.name || mail.Subject != c.subject || mail.Text != c.words {
					t.Errorf("%s as %s, %s: %+v %q %q", kind, label, place, mail.From, mail.Subject, mail.Text)
				}
				if strings.HasPrefix(place, "file") && (len(mail.Attachments) != 1 || mail.Attachments[0].Name != c.subject+".xls") {
					t.Errorf("%s as %s, %s: %+v", kind, label, place, mail.Attachments)
				}
			}
		}
	}
}

// TestDamagedCharsets: damage costs the characters that are damaged, and not the text, with and without a name of the set.
func TestDamagedCharsets(t *testing.T) {
	t.Parallel()
	for kind, line := range map[string]struct {
		script
		text string
	}{
		"gbk":       {scripts()["gbk"], "我们想问一下你们的时间，谢谢你们的帮助。"},
		"shift_jis": {scripts()["shift_jis"], "今後、広告をご希望されない方はこちらへご連絡ください。"},
		"euc-kr":    {scripts()["euc-kr"], "안녕하세요, 시간에 대해 질문이 있습니다"},
		"big5":      {scripts()["big5"], "我們想問一下你們的時間，謝謝你們的幫助。"},
		"euc-jp":    {scripts()["euc-jp"], "今後、広告をご希望されない方はこちらへご連絡ください。"},
	} {
		lines := make([]string, 12)
		for i := range lines {
			lines[i] = fmt.Sprint(i, " ", encodeAs(t, line.set, line.text))
		}
		garbage := slices.Insert(slices.Clone(lines), 5, "\xff\xfe\x80\xa0\xff\xfd\xff\x81 \x7f\xff\xff")
		cut := slices.Clone(lines)
		cut[4] = cut[4][:len(cut[4])-1]
		for damage, text := range map[string][]string{"a line of garbage": garbage, "a character that is cut": cut} {
			for _, label := range []string{"", "; charset=us-ascii", "; charset=x-unknown", "; charset=" + line.labels[0], "; charset=utf-8"} {
				raw := crlf(slices.Concat([]string{"From: a@b.c", "Content-Type: text/plain" + label, "Content-Transfer-Encoding: 8bit", ""}, text)...)
				mail := parseWith(t, raw, mime.Options{})
				if whole := strings.Count(mail.Text, line.text); whole < 11 || !slices.Contains(mail.Problems, defect.Characters) {
					t.Errorf("%s, %s, %q: %d whole lines, %v\n%s", kind, damage, label, whole, mail.Problems, mail.Text)
				}
			}
		}
	}
	short := encodeAs(t, simplifiedchinese.GBK, "谢谢你们的帮助")
	for raw, want := range map[string]string{
		"=?gb2312?B?" + base64.StdEncoding.EncodeToString([]byte(short[:len(short)-1])) + "?=":                                                             "谢谢你们的帮\uFFFD", // cut in the middle of a character
		"=?gb2312?B?" + base64.StdEncoding.EncodeToString([]byte(short[:3])) + "?= =?GBK?B?" + base64.StdEncoding.EncodeToString([]byte(short[3:])) + "?=": "谢谢你们的帮助",
		"=?iso-2022-jp?B?GyRCTT0bKEI=?= =?ISO-2022-JP?B?GyRCTHMbKEI=?=":                                                                                    "予約",
		"=?iso-2022-jp?B?GyRCTQ==?= =?iso-2022-jp?B?PUxzGyhC?=":                                                                                            "予約", // split within a character
		"=?x-unknown?Q?Gr=FC=DFe?=":                  "Grüße",
		"=?iso-8859-1?Q?=80_=84a=93?=":               "€ „a“",
		"=?utf8?Q?Gr=C3=BC=C3=9Fe?=":                 "Grüße",
		"=?UTF_8?Q?Gr=C3=BC=C3=9Fe?=":                "Grüße",
		"=?cp65001?Q?Gr=C3=BC?= =?utf-8?Q?=C3=9Fe?=": "Grüße",
		"=?hz-gb-2312?Q?~{PBNE~}?=":                  "新闻",
		"=?gb2312?B?" + base64.StdEncoding.EncodeToString([]byte(encodeAs(t, simplifiedchinese.GB18030, "朱镕基 㐀"))) + "?=": "朱镕基 㐀", // more than its name allows
	} {
		mail := parseWith(t, crlf("From: a@b.c", "Subject: "+raw, "", "x"), mime.Options{})
		if mail.Subject != want {
			t.Errorf("%q: %q, want %q", raw, mail.Subject, want)
		}
	}
}
