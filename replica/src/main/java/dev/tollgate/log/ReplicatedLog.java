package dev.tollgate.log;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.entry.ProposedEntry;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A log of entries that every node applies in the same order. Thread-safe. */
public interface ReplicatedLog extends AutoCloseable {
  /** Begins to apply what the log holds, and to take part. */
  void start() throws Exception;

  /**
   * Proposes an entry.
   *
   * @return completes once this node has applied the entry; completes exceptionally if it does not
   *     lead or lost its leadership meanwhile, in which case the entry may be applied or not
   */
  CompletableFuture<Void> append(ProposedEntry entry);

  /**
   * Has the leader append a command, whichever node leads, and tries again until that is done: for
   * commands that may take effect twice.
   *
   * @return completes once the command has been applied somewhere; exceptionally if this log was
   *     closed before
   */
  CompletableFuture<Void> forward(Command command);

  /**
   * Proves without an entry that this node led when it was asked, so that no later leader had
   * acknowledged anything by then.
   *
   * @return completes with the index of an entry at or after all that any leader had acknowledged
   *     by then, which this node may not have applied yet; empty if there is no proof, though an
   *     entry may still bring one
   */
  CompletableFuture<OptionalLong> readIndex();

  /** The last entry that this node has applied. */
  long appliedIndex();

  /** What this node knows of the group at the moment. */
  LogStatus status();

  /** The node that leads as far as this one knows, or null. */
  @Nullable String leaderId();

  /** What tells the data directory of this node from any other; null if it has none. */
  default @Nullable UniqueId incarnation() {
    return null;
  }

  /**
   * True once this node has heard that the cluster knows its data directory: before, an emptied one
   * would pass for it. Stays true through a restart.
   */
  default boolean isKnown() {
    return true;
  }

  /** How other nodes are added and removed. */
  Membership membership();

  /** True if no other node can lead, so that leadership needs no proof. */
  boolean isAlone();

  /** The snapshots of this node. */
  SnapshotStore snapshots();

  @Override
  void close();
}
