package conformance

// all lists the checks. Those that have an agent do long work share one observation of it;
// the last one ends the process.
func all() []Check {
	return []Check{
		{
			Name: "answers-once", Asks: "One valid response to a request, which names it in in_reply_to.", run: answersOnce,
			Mend: "Publish one execution_response as `podium schema execution_response` has it, to the subject in ce-replyto.",
		},
		{
			Name: "answers-many", Asks: "One response to each of many requests.", run: answersMany,
			Mend: "Take the next request when one is answered, and answer each under its own in_reply_to.",
		},
		{
			Name: "acknowledges", Asks: "The request is acknowledged once its answer is stored.", Scope: Programs, run: acknowledges,
			Mend: "Send +ACK to the reply subject of the request when the answer is stored.",
		},
		{
			Name: "repeats-its-answer", Asks: "A request that comes again is answered under the same message_id.", run: repeatsItsAnswer,
			Mend: "Make the message_id of the answer from that of the request, as a UUIDv5.",
		},
		{
			Name: "reads-bare-json", Asks: "A request without CloudEvents headers is answered.", Scope: Handlers, run: readsBareJSON,
			Mend: "Read the attributes from the envelope of the request.",
		},
		{
			Name: "reads-structured-events", Asks: "A request in structured mode is answered.", Scope: Handlers, run: readsStructuredEvents,
			Mend: "Read application/cloudevents+json.",
		},
		{
			Name: "reads-large-requests", Asks: "A request whose body stands in the store is read from there.", run: readsLargeRequests,
			Mend: "Get the artifact that ce-dataref names, with the grant in ce-datagrant, and read it as the body.",
		},
		{
			Name: "skips-expired-requests", Asks: "A request that is past ce-expires is not answered.", run: skipsExpired,
			Mend: "Compare ce-expires with the clock before the work: acknowledge what is past it, and answer nothing.",
		},
		{
			Name: "survives-garbage", Asks: "What is no request stops nobody.", run: survivesGarbage,
			Mend: "Acknowledge what has no ce-id or cannot be read, and go on with the next request.",
		},
		{
			Name: "refuses-invalid-requests", Asks: "A request without a task is answered as failed, for good.", Scope: Handlers, run: refusesInvalid,
			Mend: "Answer failed, with an issue whose resolution is escalated.",
		},
		{
			Name: "refuses-undeclared-kinds", Asks: "A request of a kind that the agent does not declare is answered as failed.", run: refusesUndeclaredKinds,
			Mend: "Look at context.kind of the task before the work: answer failed unless it is absent, work, or declared in kinds.",
		},
		{
			Name: "repeats-what-was-refused", Asks: "An answer that is refused for now is published again.", Scope: Programs, run: repeatsWhatWasRefused,
			Mend: "Publish with a reply subject; after an error of code 503 or 504, or none at all, publish the same message again a second later.",
		},
		{
			Name: "tells-that-it-works", Asks: "Long work begins with progress.", Scope: Programs, run: tellsThatItWorks,
			Mend: "Publish a progress_update when the work begins, to ce-replyto with progress in the place of response.",
		},
		{
			Name: "shows-signs-of-life", Asks: "Long work tells progress as often as the heartbeat promises.", Scope: Programs, run: showsSignsOfLife,
			Mend: "Publish a progress_update every heartbeat while the work goes on, also when nothing is new.",
		},
		{
			Name: "keeps-its-request", Asks: "A request under way is kept from being handed out again.", Scope: Programs, run: keepsItsRequest,
			Mend: "Send +WPI to the reply subject of the request every 5 s while the work goes on.",
		},
		{
			Name: "stops-when-cancelled", Asks: "Work that nobody waits for any more is stopped, and its request acknowledged.", Scope: Programs, run: stopsWhenCancelled,
			Mend: "Subscribe to podium.agent.NAME.cancel: its body is a message_id. Stop that work, acknowledge its request, and answer nothing.",
		},
		{
			Name: "works-on-several", Asks: "As many requests at a time as it is configured for.", Scope: Programs, run: worksOnSeveral,
			Mend: "Pull as many requests as `concurrency` says, or say concurrency: 1 in podium.yaml and in the announcement.",
		},
		{
			Name: "asks-for-a-permit", Asks: "A permit is asked for before an effect outside.", Scope: Programs, run: asksForPermit,
			Mend: "Publish a permit_request right before the effect, to ce-replyto with permit in the place of response, and wait for its answer.",
		},
		{
			Name: "obeys-a-refusal", Asks: "Without the permit nothing is done, and nothing answered.", Scope: Programs, run: obeysRefusal,
			Mend: "Act when granted is true only. Otherwise acknowledge the request, and answer nothing.",
		},
		{
			Name: "comes-back", Asks: "After its connection was cut it takes requests again.", Scope: Programs, run: comesBack,
			Mend: "Have the client reconnect without end, subscribe anew, and pull again.",
		},
		{
			Name: "loses-nothing-at-its-end", Asks: "Told to end it does, and what it had under way is answered by the next process.", Scope: Programs, run: losesNothing,
			Mend: "At SIGTERM end what is under way, or give it back by -NAK; acknowledge no request before its answer is stored.",
		},
		{
			Name: "keeps-to-its-subjects", Asks: "Nothing is published or heard that an agent is not permitted, and no more than it is asked for.", Scope: Programs, run: keepsToItsSubjects,
			Mend: "Use the subjects of docs/write-an-agent.md alone, with the inbox prefix _INBOX_NAME and the API prefix CORE.API, and tell progress some times a second at most.",
		},
	}
}
