package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.SnapshotStore;
import dev.tollgate.log.SnapshotUnavailableException;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.node.audit.Actor;
import dev.tollgate.node.audit.AuditTrail;
import dev.tollgate.seal.StoredFile;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends one connection the bytes of a snapshot, part by part on request. The open file outlives its
 * name: a removed snapshot can still be read. Thread-safe.
 */
final class SnapshotSender {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotSender.class);

  private final String nodeId;
  private final SnapshotStore snapshots;
  private final Leadership leadership;
  private final Workers workers;
  private final AuditTrail audit;
  private final ReplyChannel replies;
  private volatile @Nullable StoredFile file;
  private volatile boolean closed;

  SnapshotSender(
      String nodeId,
      SnapshotStore snapshots,
      Leadership leadership,
      Workers workers,
      AuditTrail audit,
      ReplyChannel replies) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.snapshots = requireNonNull(snapshots, "snapshots");
    this.leadership = requireNonNull(leadership, "leadership");
    this.workers = requireNonNull(workers, "workers");
    this.audit = requireNonNull(audit, "audit");
    this.replies = requireNonNull(replies, "replies");
  }

  /**
   * Opens a snapshot that is taken now.
   *
   * @param user who has logged in; null if no login was required
   * @param client what the client says of itself
   */
  void open(
      Request.OpenSnapshot request,
      @Nullable String user,
      ClientInfo client,
      Consumer<Reply> answer) {
    Actor actor = new Actor(user, null, client, replies.client());
    open(request, reply -> answer.accept(audited(actor, reply)));
  }

  private Reply audited(Actor actor, Reply reply) {
    if (reply instanceof Reply.SnapshotOpened opened) {
      downloads(actor, "snapshot at log index " + opened.index(), "done");
    } else if (reply instanceof Reply.Failure failure) {
      downloads(actor, "", "refused_" + failure.sqlState());
    }
    return reply;
  }

  private void downloads(Actor actor, String object, String outcome) {
    audit.administered(actor, "download_snapshot", object, outcome);
  }

  private void open(Request.OpenSnapshot request, Consumer<Reply> answer) {
    if (request.leaderOnly()) {
      leadership.awaitState(
          leads -> {
            if (leads) {
              onFile(answer, () -> take(answer));
            } else {
              answer.accept(leadership.notLeader());
            }
          });
    } else {
      // not on this thread: taking a snapshot waits while another one begins
      onFile(answer, () -> take(answer));
    }
  }

  private void onFile(Consumer<Reply> answer, Runnable work) {
    workers.run(
        Workers.Kind.FILES,
        UserName.ANONYMOUS,
        () -> {
          try {
            work.run();
          } catch (RuntimeException e) {
            answer.accept(unexpected(e));
          }
        },
        refused -> answer.accept(new Reply.Failure(SqlState.BUSY, refused)));
  }

  private void take(Consumer<Reply> answer) {
    snapshots
        .take()
        .thenAcceptAsync(snapshot -> answer.accept(opened(snapshot)), workers::chore)
        .exceptionally(
            failure -> {
              answer.accept(notTaken(failure));
              return null;
            });
  }

  private Reply notTaken(Throwable failure) {
    if (failure.getCause() instanceof SnapshotUnavailableException unavailable) {
      return Replies.of(unavailable);
    }
    return unexpected(failure);
  }

  /** Returns the reply after a bug: the client waits for a reply all the same. */
  private Reply unexpected(Throwable bug) {
    LOG.error("{}: a snapshot failed in an unexpected way", nodeId, LoggedError.of(bug));
    return new Reply.Failure(
        SqlState.INTERNAL, "an error in Tollgate, which the log of node " + nodeId + " describes");
  }

  private synchronized Reply opened(SnapshotFile snapshot) {
    closeFile();
    if (closed) {
      return new Reply.Failure(SqlState.CONNECTION_REFUSED, "the connection is closed");
    }
    try {
      StoredFile opening = snapshots.open(snapshot);
      file = opening;
      if (closed) {
        closeFile();
      }
      return new Reply.SnapshotOpened(
          nodeId,
          snapshot.term(),
          snapshot.index(),
          opening.size(),
          ChronoUnit.MICROS.between(Instant.EPOCH, snapshot.writtenAt()),
          snapshots.configuration(snapshot.index()));
    } catch (IOException e) {
      return unreadable(e);
    }
  }

  void read(Request.ReadSnapshot request, Consumer<Reply> answer) {
    onFile(answer, () -> answer.accept(part(request)));
  }

  private synchronized Reply part(Request.ReadSnapshot request) {
    StoredFile open = file;
    if (open == null) {
      return new Reply.Failure(
          SqlState.CONFLICT, "the connection has no snapshot open: open one first");
    }
    try {
      if (request.offset() > open.size()) {
        return new Reply.Failure(
            SqlState.INVALID_ARGUMENT,
            "offset " + request.offset() + " is beyond the " + open.size() + " bytes of the file");
      }
      ByteBuffer bytes = ByteBuffer.allocate(request.length());
      open.read(bytes, request.offset());
      return new Reply.SnapshotPart(Arrays.copyOf(bytes.array(), bytes.position()));
    } catch (IOException e) {
      return unreadable(e);
    }
  }

  private Reply unreadable(IOException e) {
    LOG.error("{}: a snapshot cannot be sent", nodeId, e);
    return new Reply.Failure(
        SqlState.DISK, "node " + nodeId + " cannot read its snapshot: " + e.getMessage());
  }

  /** Closes the file, without waiting for the part that is being read. */
  void close() {
    closed = true;
    forget();
  }

  /** As {@link #close}, but another snapshot may be opened. */
  void forget() {
    if (file != null) {
      workers.chore(this::closeForGood);
    }
  }

  private synchronized void closeForGood() {
    closeFile();
  }

  private void closeFile() {
    StoredFile open = file;
    file = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        LOG.warn("{}: a snapshot did not close cleanly", nodeId, e);
      }
    }
  }
}
