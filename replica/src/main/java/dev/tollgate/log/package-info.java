/**
 * From a command to its place in the replicated log, and from there to whoever applies it.
 *
 * <p>{@link dev.tollgate.log.CommandPipeline} gathers the commands of many sessions into one entry;
 * {@link dev.tollgate.log.ReplicatedLog} carries entries, on Ratis or in memory; {@link
 * dev.tollgate.log.LogConsumer} applies them. Ratis is known in its packages {@code log.ratis} and
 * {@code log.snapshot} only.
 */
@NullMarked
package dev.tollgate.log;

import org.jspecify.annotations.NullMarked;
