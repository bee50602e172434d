// Package document writes documents: it fills a template with data, and keeps what comes of it as HTML, as
// PDF, or both (G-10).
//
// A template is a file of Markdown, NAME.md, with places for data (Go text/template): {{.recipient.name}} is a member of
// content_data, {{range .items}}…{{end}} a list, {{if .note}}…{{end}} what may be left out. layout.html, if it is there, is the
// page around it (html/template) with {{.Body}}, {{.Title}} and {{.Language}}. Markdown is CommonMark with tables; HTML in it is
// text like any other, and pictures are their descriptions.
//
// Data are text, whatever stands in them: only {{markdown .text}} has their Markdown count, still without HTML, without pictures
// and without addresses that run programs. date writes an ISO date, and number a number with so many decimals, as the
// language of the request does.
//
// What a template names outside of a condition has to be there: what is missing is asked for, all at once, and no
// document is made. The same template and the same data are the same bytes: no clock stands in a document.
//
// A PDF has its fonts with it (DejaVu), and each character of the text as a glyph. A character for which they have none, or
// whose script needs more than one glyph after the other, fails the task with its name.
package document
