/**
 * The path of a command to its place in the replicated log, and from there to its consumer.
 *
 * <p>{@link dev.tollgate.log.CommandPipeline} gathers the commands of many sessions into one entry.
 * {@link dev.tollgate.log.ReplicatedLog} carries entries, on Ratis or in memory. {@link
 * dev.tollgate.log.LogConsumer} applies them. Only the packages {@code log.ratis} and {@code
 * log.snapshot} know Ratis.
 */
@NullMarked
package dev.tollgate.log;

import org.jspecify.annotations.NullMarked;
