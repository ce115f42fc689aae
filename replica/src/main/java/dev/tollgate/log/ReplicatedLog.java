package dev.tollgate.log;

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
  CompletableFuture<Void> append(Entry entry);

  /** What this node knows of the group at the moment. */
  LogStatus status();

  /** The node that leads as far as this one knows, or null. */
  @Nullable String leaderId();

  /** True if no other node can lead, so that leadership needs no proof. */
  boolean isAlone();

  @Override
  void close();
}
