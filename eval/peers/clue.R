# The R side of `peers` (eval/src/bin/peers): clue's consensus of least squares, hard.
library(clue)

folder <- commandArgs(TRUE)[1]
labels <- as.matrix(read.csv(file.path(folder, "labels.csv"), header = FALSE))
truth <- as.cl_hard_partition(scan(file.path(folder, "y.csv"), quiet = TRUE))
members <- lapply(seq_len(ncol(labels)), function(u) as.cl_hard_partition(labels[, u]))
ensemble <- cl_ensemble(list = members)

answer <- function(text) {
  cat(text, "\n", sep = "")
  flush(stdout())
}

input <- file("stdin", "r")
answer("{\"ready\": true}")
while (length(readLines(input, 1)) > 0) {
  invisible(gc(reset = TRUE))
  before <- sum(gc()[, 2])
  seconds <- system.time(found <- cl_consensus(ensemble, method = "HE", control = list(k = 10)))[["elapsed"]]
  rose <- max(sum(gc()[, 6]) - before, 0) * 1e6
  score <- cl_agreement(as.cl_hard_partition(found), truth, method = "cRand")
  answer(sprintf("{\"seconds\": %.9f, \"bytes\": %.0f, \"score\": %.9f}", seconds, rose, as.numeric(score)))
}
