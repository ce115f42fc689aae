package dev.tollgate.log;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.entry.ProposedEntry;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A log of entries that every node applies in the same order. Thread-safe. */
public interface ReplicatedLog extends AutoCloseable {
  /** Begins to apply what the log holds, and to take part in the group. */
  void start() throws Exception;

  /**
   * Proposes an entry.
   *
   * @return completes once this node has applied the entry; exceptionally if this node does not
   *     lead or loses leadership meanwhile. The entry may then be applied or not.
   */
  CompletableFuture<Void> append(ProposedEntry entry);

  /**
   * Has the leader append a command, whichever node leads, and retries until that is done. For
   * commands that may take effect twice: what this node says of itself ({@link Command.OfNode}),
   * and requests for a comparison.
   *
   * @return completes once some node has applied the command; exceptionally if this log was closed
   *     before
   */
  CompletableFuture<Void> forward(Command command);

  /**
   * Proves without an entry that this node led when this method was called, so that no later leader
   * had acknowledged anything by then.
   *
   * @return completes with the index of an entry at or after all that any leader had acknowledged
   *     by then. This node may not have applied that entry yet. Empty if there is no proof, though
   *     an entry may still bring one.
   */
  CompletableFuture<OptionalLong> readIndex();

  /** The last entry that this node has applied. */
  long appliedIndex();

  /** What this node knows of the group at the moment. */
  LogStatus status();

  /** The log and the snapshots on the disk of this node. Does I/O. */
  default LogFigures figures() {
    return LogFigures.NONE;
  }

  /**
   * For how long the disk of this node has been hanging, in milliseconds; 0 if it works. While it
   * hangs, this node neither votes nor is elected.
   */
  default long diskHungMillis() {
    return 0;
  }

  /** The leader as far as this node knows, or null. */
  @Nullable String leaderId();

  /**
   * The node to which this node hands leadership over at this moment; null if it does not. It is
   * likely to lead soon, but may not be elected.
   */
  default @Nullable String successorId() {
    return null;
  }

  /**
   * True while this node leads, has been elected and applies what earlier leaders left, or stands
   * for an election that it is likely to win. Such a node serves as the leader soon, or does
   * already.
   */
  default boolean isTakingOver() {
    return false;
  }

  /** Returns the id that no other data directory has; null if this node has no directory. */
  default @Nullable UniqueId incarnation() {
    return null;
  }

  /**
   * The last entry that the directory of this node has, in the log or in a snapshot; 0 without one.
   * Call before the log starts. Reads the last segment.
   *
   * @throws IOException if the directory cannot be read
   */
  default long lastIndexOnDisk() throws IOException {
    return 0;
  }

  /**
   * What the programs of the other nodes know, by node id: of the nodes to which this one is
   * connected, and with which it can talk about that.
   */
  default SortedMap<String, NodeVersion> versions() {
    return Collections.emptySortedMap();
  }

  /** Has this node tell the others where it serves its admin address, before the log starts. */
  default void serveAdmin(String url) {}

  /**
   * Where other members serve their admin addresses, by node id: those that have called this node,
   * as a leader does, and have said it.
   */
  default SortedMap<String, String> adminUrls() {
    return Collections.emptySortedMap();
  }

  /**
   * True once this node has heard that the cluster knows its data directory; before that, an
   * emptied directory would pass for it. Stays true through a restart.
   */
  default boolean isKnown() {
    return true;
  }

  /** The term in which this node is; 0 if it has not been in any. */
  long term();

  /**
   * The leader of this term, once this node has applied an entry of this term, so that clients find
   * a leader that serves; else null. Never waits. {@link LogConsumer#leaderMayHaveChanged} says
   * when there may be another answer.
   */
  @Nullable TermLeader servingLeader();

  /** What this node knows of the wall clocks of the members. Never waits. */
  default MemberClocks clocks() {
    return MemberClocks.ALONE;
  }

  /** Adds and removes other nodes. */
  Membership membership();

  /**
   * The data keys of this node, and what is sealed with each; none for a node without keys.
   *
   * @throws IOException if the files of this node cannot be read
   */
  default List<KeyUse> keyUse() throws IOException {
    return List.of();
  }

  /**
   * Seals with the first data key what nothing else replaces in time: the file with the identity of
   * the node. Does nothing if the file is sealed with that key.
   *
   * @throws IOException if the disk may not have it; the file can then still be opened
   */
  default void sealAgain() throws IOException {}

  /** True if no other node can lead, so that leadership needs no proof. */
  boolean isAlone();

  /** The snapshots of this node. */
  SnapshotStore snapshots();

  @Override
  void close();
}
