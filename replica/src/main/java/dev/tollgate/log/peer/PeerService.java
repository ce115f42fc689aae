package dev.tollgate.log.peer;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;

/** What a node does with the messages of a leader before Ratis gets them. Thread-safe. */
public interface PeerService {
  /**
   * Returns the answer to a leader, in place of a reply of Ratis that was made a moment ago. A
   * leader of a term below that of this node is told so, and nothing else: an acknowledgement would
   * count for a commit, although this node may have helped to elect a leader without the entry.
   *
   * <p>The answer says what this node has applied, in place of what it knows to be committed. Ratis
   * shows that number and does nothing else with it, and a node that receives entries without
   * applying them is to be seen.
   *
   * @throws IOException if the leader has to send the request again, because this node is voting
   */
  AppendEntriesReplyProto answer(AppendEntriesRequestProto request, AppendEntriesReplyProto reply)
      throws IOException;

  /** Takes a request to append entries. */
  interface Receiver {
    /**
     * Hands a request to Ratis; throws nothing.
     *
     * @return the reply of Ratis; exceptionally if the request failed
     */
    CompletableFuture<?> receive(AppendEntriesRequestProto request);
  }

  /** Returns the current term, or a term before all others if this node is in none. */
  long term();

  /**
   * Hands a request to the receiver, unless it would have to wait.
   *
   * @return false if this request has to wait until entries are on disk: {@link #append}
   */
  boolean tryAppend(AppendEntriesRequestProto request, Receiver receiver);

  /**
   * Waits until none of the entries of this request is being appended, then hands the request to
   * the receiver.
   *
   * @param gone whether the leader has gone, so that nothing need be done
   * @throws IOException if that takes too long, or this node appends no more entries
   */
  void append(AppendEntriesRequestProto request, BooleanSupplier gone, Receiver receiver)
      throws IOException;

  /** Has Ratis vote. */
  interface Voter {
    RequestVoteReplyProto vote(RequestVoteRequestProto request) throws IOException;
  }

  /**
   * Votes, in place of Ratis if this node joins.
   *
   * @throws IOException if the vote cannot be written
   */
  RequestVoteReplyProto vote(RequestVoteRequestProto request, Voter ratis) throws IOException;

  /**
   * True if the log of this node ends before an entry that it has acknowledged to the leader in
   * this term.
   *
   * @param leader the node that says so; not believed if this node follows another one
   */
  boolean hasLost(String leader, long term, long logIndex);

  /** Takes the leader of a term for silent, so that this node votes for another one. */
  void doubtLeader(String nodeId, long term);

  /**
   * True if this node could serve as soon as it led: it lacks few of the entries of which it knows
   * that they are committed, and none for long. A node that was just started may have many entries
   * left, a slow node entries with much work, and clients would wait for them if it led. A node
   * whose disk hangs commits nothing without the others.
   */
  boolean hasCaughtUp();

  /**
   * False while entries of an earlier term may come into the log of this node, or are on their way
   * to its disk. What is true in a term in which this node follows no leader stays true in it.
   */
  boolean isSettled();

  /** Stands for election in place of the leader of a term, unless another node leads by now. */
  void standForElection(String nodeId, long term);

  /** Takes a request to install a snapshot. */
  interface SnapshotReceiver<T> {
    /** Hands what Ratis may see of a request to Ratis, and waits until it is carried out. */
    T receive(InstallSnapshotRequestProto request) throws IOException;
  }

  /**
   * Hands a request to the receiver once no other one is being carried out. A leader that has lost
   * its connection, or a new leader, sends a snapshot while Ratis still takes over the one before.
   * Ratis would write its list of members from two threads into one temporary file.
   */
  <T> T installSnapshot(InstallSnapshotRequestProto request, SnapshotReceiver<T> receiver)
      throws IOException;
}
