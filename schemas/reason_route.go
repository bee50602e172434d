package schemas

// Why words ask for one step, or for several.
const (
	ComplexityOff     ReasonCode = "complexity_off"
	ComplexityNoVerb  ReasonCode = "complexity_no_verb"
	ComplexityOneVerb ReasonCode = "complexity_one_verb"
	ComplexityVerbs   ReasonCode = "complexity_verbs"
	ComplexityPattern ReasonCode = "complexity_pattern"
)

// Why a router decides, or does not.
const (
	RouteNoAgent          ReasonCode = "route_no_agent" // the reasons after it say what was tried
	RouteReadInPart       ReasonCode = "route_read_in_part"
	RouteAssigned         ReasonCode = "route_assigned"
	RouteAssignedUnknown  ReasonCode = "route_assigned_unknown"
	RouteNoKeyword        ReasonCode = "route_no_keyword"
	RouteKeyword          ReasonCode = "route_keyword"
	RouteKeywords         ReasonCode = "route_keywords"
	RouteByPriority       ReasonCode = "route_by_priority"
	RouteByScore          ReasonCode = "route_by_score"
	RouteByOrder          ReasonCode = "route_by_order"
	RouteSourceBonus      ReasonCode = "route_source_bonus"
	RouteDefault          ReasonCode = "route_default"
	RouteHighest          ReasonCode = "route_highest"
	RouteNoneHigh         ReasonCode = "route_none_high"
	RouteSuggested        ReasonCode = "route_suggested"
	RouteSuggestedLow     ReasonCode = "route_suggested_low"
	RouteSuggestedUnknown ReasonCode = "route_suggested_unknown"
	RouteAnotherHigher    ReasonCode = "route_another_higher"
)

// What a score is made of.
const (
	ScoreAssessed   ReasonCode = "score_assessed"
	ScoreUnassessed ReasonCode = "score_unassessed"
	ScoreDeclared   ReasonCode = "score_declared"
	ScoreUndeclared ReasonCode = "score_undeclared"
)

// What became of the question who is responsible, which an agent was asked.
const (
	ChoiceMade            ReasonCode = "choice_made"
	ChoiceRespelled       ReasonCode = "choice_respelled"
	ChoiceNotAsked        ReasonCode = "choice_not_asked"
	ChoiceLate            ReasonCode = "choice_late"
	ChoiceUnavailable     ReasonCode = "choice_unavailable"
	ChoiceNotStarted      ReasonCode = "choice_not_started"
	ChoiceCrashed         ReasonCode = "choice_crashed"
	ChoiceMalformed       ReasonCode = "choice_malformed"
	ChoiceInvalid         ReasonCode = "choice_invalid"
	ChoiceFailed          ReasonCode = "choice_failed"
	ChoiceUnusable        ReasonCode = "choice_unusable" // the reason after it says why
	ChoiceMissing         ReasonCode = "choice_missing"
	ChoiceUnknown         ReasonCode = "choice_unknown"
	ChoiceAmbiguous       ReasonCode = "choice_ambiguous"
	ChoiceWithoutResponse ReasonCode = "choice_without_response"
)

// Why a candidate was not chosen.
const (
	LostUnknown       ReasonCode = "lost_unknown"
	LostNotAsked      ReasonCode = "lost_not_asked"
	LostLater         ReasonCode = "lost_later"
	LostNoKeyword     ReasonCode = "lost_no_keyword"
	LostMaterial      ReasonCode = "lost_material"
	LostShared        ReasonCode = "lost_shared"
	LostPriority      ReasonCode = "lost_priority"
	LostScore         ReasonCode = "lost_score"
	LostOrder         ReasonCode = "lost_order"
	LostEqualPriority ReasonCode = "lost_equal_priority"
	LostEqualScore    ReasonCode = "lost_equal_score"
	LostNotEnough     ReasonCode = "lost_not_enough" // after it and those below: what the score is made of
	LostSuggested     ReasonCode = "lost_suggested"
	LostEqual         ReasonCode = "lost_equal"
	LostBelow         ReasonCode = "lost_below"
)
