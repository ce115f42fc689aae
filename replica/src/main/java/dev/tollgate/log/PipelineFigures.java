package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Tally;

/**
 * How busy a {@link CommandPipeline} is, and has been.
 *
 * @param queuedCommands commands that wait for the next entry
 * @param queuedBytes bytes of these commands
 * @param barriers reads and renewals that wait until an entry is applied
 * @param refused commands that were refused because too many waited
 * @param unapplied entries of this node that it did not apply as leader: it may have lost
 *     leadership, and the commands were answered "unknown"
 * @param commits microseconds from the proposal of an entry until this node had applied it
 */
public record PipelineFigures(
    int queuedCommands,
    long queuedBytes,
    int barriers,
    long refused,
    long unapplied,
    Tally.Count commits) {
  public PipelineFigures {
    requireNonNull(commits, "commits");
  }
}
