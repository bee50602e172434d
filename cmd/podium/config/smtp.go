package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strings"

	agent "podium/agents/mail"
)

// A MailTemplate stands around answers in one language.
type MailTemplate struct {
	Before string `yaml:"before" doc:"Greeting. {name} is the name of whoever asked, {subject} the subject, {run} the id of the run."`
	After  string `yaml:"after" doc:"Closing, signature, disclaimer, with the same places."`
}

// MailLimits bound what an account sends, so that a loop ends.
type MailLimits struct {
	PeerPerHour int `yaml:"peer_per_hour" min:"1" max:"10000" default:"10" doc:"Answers to one mailbox in an hour, whatever stands behind a plus in its address; what is beyond is not sent."`
	PerMinute   int `yaml:"per_minute" min:"1" max:"100000" doc:"Letters of the account in a minute; what is beyond waits. Absent: no bound."`
}

// SentMail says how an answer comes into the folder of sent mail.
type SentMail string

// The ways.
const (
	SentAppend SentMail = "append"
	SentServer SentMail = "server"
	SentNone   SentMail = "none"
)

// PlainOnly reports whether answers go out without their HTML form.
func (s *SMTP) PlainOnly() bool { return s.HTML != nil && !*s.HTML }

func (s *SMTP) fill() {
	s.TLS = cmp.Or(s.TLS, EncryptionImplicit)
	s.Port = cmp.Or(s.Port, portOf(s.TLS, 465, 587, 25))
	s.AttachmentLimit = cmp.Or(s.AttachmentLimit, agent.DefaultAttachmentLimit)
	s.Limits.PeerPerHour = cmp.Or(s.Limits.PeerPerHour, agent.DefaultPeerPerHour)
	s.Sent = cmp.Or(s.Sent, s.usualSent())
}

// usualSent knows the two services that store what they send by themselves.
func (s *SMTP) usualSent() SentMail {
	host := strings.ToLower(strings.TrimSuffix(s.Host, "."))
	for _, service := range [...]string{"gmail.com", "googlemail.com", "office365.com", "outlook.com"} {
		if host == service || strings.HasSuffix(host, "."+service) {
			return SentServer
		}
	}
	return SentAppend
}

func (v *validator) smtp(path string, smtp *SMTP) {
	v.encryption(path, smtp.TLS, smtp.Cleartext, smtp.Host)
	if _, err := mail.ParseAddress(smtp.From); err != nil {
		v.problem(path+".from", "it is not an address such as Support <support@example.org>")
	}
	for i, entry := range smtp.Copies {
		if err := agent.CheckCopy(entry); err != nil {
			v.problem(fmt.Sprintf("%s.copies[%d]", path, i), "%v", err)
		}
	}
	for _, language := range slices.Sorted(maps.Keys(smtp.Templates)) {
		template, place := smtp.Templates[language], path+".templates."+language
		if language != agent.OtherLanguages && !isLanguage(language) {
			v.problem(place, "%q is neither a language such as de nor %s", language, agent.OtherLanguages)
		}
		for part, words := range map[string]string{"before": template.Before, "after": template.After} {
			if err := agent.CheckTemplate(words); err != nil {
				v.problem(place+"."+part, "%v", err)
			}
		}
	}
	if smtp.SentFolder != "" && (smtp.Sent == SentNone || strings.ContainsAny(smtp.SentFolder, "*%\r\n\x00")) {
		v.problem(path+".sent_folder", "it is no folder, or nothing is kept with sent: none")
	}
}

// isLanguage reports the form of an ISO 639 code.
func isLanguage(tag string) bool {
	return (len(tag) == 2 || len(tag) == 3) && strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") == ""
}
