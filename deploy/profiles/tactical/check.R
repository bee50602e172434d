# check.R syntax|tests DIRECTORY: what R finds wrong with the code of a project, as JSON.
given <- commandArgs(TRUE)
root <- given[2]
issues <- list()
add <- function(message, file, line) {
  issues[[length(issues) + 1]] <<- list(message = message, file = file, line = as.integer(line))
}
if (given[1] == "syntax") {
  files <- list.files(root, "[.][Rr]$", recursive = TRUE)
  for (file in files) {
    tryCatch(invisible(parse(file.path(root, file))), error = function(e) {
      said <- conditionMessage(e)
      place <- regmatches(said, regexpr(":[0-9]+:[0-9]+:", said))
      add(sub("^[^:]*:[0-9]+:[0-9]+: *", "", strsplit(said, "\n")[[1]][1]), file, strsplit(place, ":")[[1]][2])
    })
  }
  details <- paste(length(files), "files read")
} else {
  count <- 0
  tests <- file.path(root, "tests/testthat")
  done <- if (dir.exists(tests)) tryCatch(testthat::test_dir(tests, reporter = "silent", stop_on_failure = FALSE), error = function(e) {
    add(strsplit(conditionMessage(e), "\n")[[1]][1], "tests/testthat", 0)
    list()
  })
  for (one in done) {
    for (result in one$results) {
      count <- count + 1
      if (inherits(result, c("expectation_failure", "expectation_error"))) {
        line <- if (is.null(result$srcref)) 0 else result$srcref[1]
        add(paste0(one$test, ": ", strsplit(conditionMessage(result), "\n")[[1]][1]), file.path("tests/testthat", one$file), line)
      }
    }
  }
  details <- paste(count, "expectations")
}
cat(jsonlite::toJSON(list(details = details, issues = issues), auto_unbox = TRUE), "\n")
