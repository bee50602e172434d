package schemas

// Why what is said of arguments cannot be used, where no schema says so (ArgumentInvalid).
const (
	ArgumentsNoObject   ReasonCode = "arguments_no_object"
	ArgumentsTooLong    ReasonCode = "arguments_too_long"
	ArgumentsUnsendable ReasonCode = "arguments_unsendable"
	ArgumentFromSession ReasonCode = "argument_from_session"
)
