#!/usr/bin/python3
"""r_analytics: writes functions of R that its arguments name, and their tests.

With the argument slip it begins with mistakes, so that checks have something to find. It mends what a review names, and nothing else.
"""

from specialist import CODE, R, Task, refuse

KNOWN = {
    "standard_error": (
        "standard_error <- function(x) {\n  sd(x) / sqrt(length(x))\n}\n",
        'test_that("the standard error divides by the root of n", {\n  expect_equal(standard_error(c(1, 2, 3, 4)), sd(c(1, 2, 3, 4)) / 2)\n})\n',
        ("sqrt(length(x))", "length(x)"),
    ),
    "growth": (
        "growth <- function(x) {\n  diff(x) / head(x, -1)\n}\n",
        'test_that("growth is a part of what was there before", {\n  expect_equal(growth(c(2, 3, 6)), c(0.5, 1))\n})\n',
        ("head(x, -1)", "tail(x, -1)"),
    ),
}
task = Task()
task.checked_as(*R)
functions = task.arguments["functions"]
if unknown := [name for name in functions if name not in KNOWN]:
    refuse(f"I write {', '.join(KNOWN)}, and not {', '.join(unknown)}.")
slips = task.slips({"standard_error": "the standard error", "growth": "growth is", "syntax": "unexpected"})
code, tests = [], []
for name in functions:
    written, test, (right, wrong) = KNOWN[name]
    code.append(written.replace(right, wrong) if name in slips else written)
    tests.append(test)
if "syntax" in slips:
    code.append("half <- function(x) {\n  x /\n}\n")
task.keep("R/stats.R", "\n".join(code), CODE, "the functions")
task.keep("tests/testthat/test-stats.R", 'source("../../R/stats.R")\n\n' + "\n".join(tests), CODE, "the tests of the functions")
task.answer(f"R/stats.R has {', '.join(functions)}, each with its test.", data={"functions": functions})
