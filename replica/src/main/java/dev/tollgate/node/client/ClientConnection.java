package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.audit.Actor;
import dev.tollgate.node.audit.AuditTrail;
import dev.tollgate.node.replica.StateAccess;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The connection of one client: reads requests, and hands each to the class that knows its subject.
 * Serves none before {@link Greeting} knows who the client is. The transport hands frames over one
 * at a time; replies may come from any thread.
 */
public final class ClientConnection {
  /** The way back to the client. Thread-safe. */
  public interface Link {
    void send(Frame frame);

    /** Closes the connection once the sent frames are gone. */
    void close();

    /**
     * Records that the client has said who it is, after which no deadline closes the connection.
     *
     * @param user whose connections are counted together
     * @return why the node has no room for the client, or null
     */
    default @Nullable String introduced(String user) {
      return null;
    }

    /** Where the client is, for log messages. */
    String client();

    /** The network address of the client without its port, by which failed logins are counted. */
    default String address() {
      return client();
    }

    /**
     * What binds an authentication to this connection: {@code tls-server-end-point} of RFC 5929, a
     * hash of the certificate that this node has shown. Null without TLS, and for a certificate
     * whose signature names no hash.
     */
    default byte @Nullable [] channelBinding() {
      return null;
    }

    /**
     * The user that the client's certificate stands for, which was checked. Null without a
     * certificate, and where certificates are no logins.
     */
    default @Nullable String certificateUser() {
      return null;
    }

    /** True if the client has a certificate by which it may try to log in. */
    default boolean mayShowCertificate() {
      return certificateUser() != null;
    }

    /** The network address of the client; null within this process. */
    default @Nullable InetAddress remote() {
      return null;
    }

    /** True if nobody on the way can read what is sent. */
    default boolean isEncrypted() {
      return false;
    }

    /** The client may log in by a token, which is longer than other messages of strangers. */
    default void expectToken() {}

    /** The client is known: it may send large frames, and has kept the deadline for that. */
    default void trust() {}

    /** Does work after some time, never beside {@link ClientConnection#receive}. */
    default void later(Duration delay, Runnable work) {
      throw new UnsupportedOperationException("no login is delayed on this connection");
    }
  }

  /** What a user is told who lacks a right: Tollgate's own state, and two of H2's. */
  private static final Set<String> RIGHTS_MISSING =
      Set.of(SqlState.RIGHT_MISSING.state(), "90096", "90040");

  private final StateAccess state;
  private final ClusterInfo cluster;
  private final Workers workers;
  private final ReplyChannel replies;
  private final ClientProcesses.Visit visit;
  private final Greeting greeting;
  private final SessionRequests sessions;
  private final Heartbeats heartbeats;
  private final HolderWatches watches;
  private final LeaderWatches leaders;
  private final TakeoverWaits takeovers;
  private final StatementRequests statements;
  private final SnapshotSender snapshot;
  private final AuditTrail audit;
  private volatile boolean watching;

  ClientConnection(
      StateAccess state,
      ClusterInfo cluster,
      Workers workers,
      ReplyChannel replies,
      ClientProcesses.Visit visit,
      Greeting greeting,
      SessionRequests sessions,
      Heartbeats heartbeats,
      HolderWatches watches,
      LeaderWatches leaders,
      TakeoverWaits takeovers,
      StatementRequests statements,
      SnapshotSender snapshot,
      AuditTrail audit) {
    this.state = requireNonNull(state, "state");
    this.cluster = requireNonNull(cluster, "cluster");
    this.workers = requireNonNull(workers, "workers");
    this.replies = requireNonNull(replies, "replies");
    this.visit = requireNonNull(visit, "visit");
    this.greeting = requireNonNull(greeting, "greeting");
    this.sessions = requireNonNull(sessions, "sessions");
    this.heartbeats = requireNonNull(heartbeats, "heartbeats");
    this.watches = requireNonNull(watches, "watches");
    this.leaders = requireNonNull(leaders, "leaders");
    this.takeovers = requireNonNull(takeovers, "takeovers");
    this.statements = requireNonNull(statements, "statements");
    this.snapshot = requireNonNull(snapshot, "snapshot");
    this.audit = requireNonNull(audit, "audit");
  }

  /** Takes a frame from the client. Must not wait, because other connections share the thread. */
  public void receive(Frame frame) {
    state.promptly(() -> take(frame));
  }

  private void take(Frame frame) {
    try {
      Request request = Request.read(frame);
      Consumer<Reply> answer = replies.admit(frame, request);
      if (answer == null) {
        return;
      }
      if (request instanceof Request.Hello || !greeting.isOver()) {
        greeting.take(request, answer);
      } else if (!greeting.endIfOutdated(answer)) {
        dispatch(request, frame.losses(), audit.isOn() ? audited(answer) : answer);
      }
    } catch (WireFormatException e) {
      replies.complain("sent what is no request: " + e.getMessage());
      replies.refuse(
          replies.to(frame.requestId()),
          "this is no request of the Tollgate protocol: " + e.getMessage());
    }
  }

  /**
   * True if the connection can be closed without a loss: every request is answered, and no rows are
   * left to be fetched. A wait for the holder of a lock, or for another leader, is none. The
   * transport calls it as it does {@link #receive}.
   */
  boolean owesNothing() {
    return replies.owesNothing() && !statements.hasRows();
  }

  /** True if the client renews leases on this connection. Called as {@link #owesNothing}. */
  boolean keepsLeases() {
    return heartbeats.keepsSomething();
  }

  /**
   * The client has ended the connection, or its process has ended. Its session stays until it
   * expires, for another connection. Its transaction ends soon if the whole process is gone.
   */
  public void left() {
    visit.end(/* byClient= */ true);
    release();
  }

  /**
   * The connection is gone, which says nothing of the client. Its session stays until it expires,
   * for another connection.
   */
  public void disconnected() {
    visit.end(/* byClient= */ false);
    release();
  }

  private void release() {
    greeting.disconnected();
    statements.close();
    snapshot.close();
    heartbeats.disconnected();
    leaders.forget(replies);
    takeovers.forget(replies);
    if (watching) {
      workers.chore(() -> watches.forget(replies));
    }
  }

  /** Has auditors know what is refused for want of a right. */
  private Consumer<Reply> audited(Consumer<Reply> answer) {
    return reply -> {
      answer.accept(reply);
      if (reply instanceof Reply.BatchResult batch) {
        batch.results().forEach(this::audit);
      } else {
        audit(reply);
      }
    };
  }

  private void audit(Reply reply) {
    if (reply instanceof Reply.Failure failure && RIGHTS_MISSING.contains(failure.sqlState())) {
      auditRefusal(failure);
    }
  }

  private void auditRefusal(Reply.Failure failure) {
    audit.accessRefused(
        new Actor(greeting.user(), sessions.sessionOrNull(), greeting.client(), replies.address()),
        failure.message());
  }

  /**
   * Answers with a refusal if the client may not have the data of all users, at each part. Unlike a
   * session, a snapshot does not go on when its user has expired.
   */
  private boolean mayFetchSnapshot(Consumer<Reply> answer) {
    String closed = greeting.closed();
    if (closed != null) {
      Reply.Failure refusal =
          new Reply.Failure(SqlState.LOGIN_REFUSED, "no snapshot is fetched: " + closed);
      answer.accept(refusal);
      auditRefusal(refusal);
      return false;
    }
    boolean may = sessions.isAdministrator(greeting.user()) && !greeting.isLeftOver();
    if (!may) {
      answer.accept(
          new Reply.Failure(
              SqlState.RIGHT_MISSING,
              "a snapshot has the data of all users, and only an administrator may fetch one"));
    }
    return may;
  }

  private void dispatch(Request request, int losses, Consumer<Reply> answer) {
    visit.begin(greeting.user(), greeting.client());
    if (request instanceof Request.Execute execute) {
      sessions.withSession(
          answer,
          attached -> statements.execute(attached, greeting.client(), execute, losses, answer));
    } else if (request instanceof Request.ExecuteSeries series) {
      sessions.withSession(
          answer,
          attached ->
              statements.executeSeries(attached, greeting.client(), series, losses, answer));
    } else if (request instanceof Request.Ping) {
      answer.accept(new Reply.Ok());
    } else if (request instanceof Request.Heartbeat heartbeat) {
      heartbeats.heartbeat(heartbeat, SessionRequests.nameOf(greeting.user()), answer);
    } else if (request instanceof Request.WatchLocks watch) {
      heartbeats.watchLocks(watch, SessionRequests.nameOf(greeting.user()), answer);
    } else if (request instanceof Request.Prepare prepare) {
      sessions.withSession(
          answer, attached -> statements.prepare(attached, prepare, losses, answer));
    } else if (request instanceof Request.Fetch fetch) {
      sessions.withSession(answer, attached -> statements.fetch(attached, fetch, answer));
    } else if (request instanceof Request.CloseCursor close) {
      statements.closeCursor(close.cursorId());
    } else if (request instanceof Request.Metadata metadata) {
      sessions.withSession(
          answer, attached -> statements.metadata(attached, metadata, losses, answer));
    } else if (request instanceof Request.OpenSession open) {
      sessions.open(open, greeting.client(), greeting.proof(), answer);
    } else if (request instanceof Request.AttachSession attach) {
      sessions.attach(attach, greeting.proof(), answer);
    } else if (request instanceof Request.CloseSession) {
      sessions.close(answer);
    } else if (request instanceof Request.ReleaseOwnLease) {
      sessions.releaseOwnLease(answer);
    } else if (request instanceof Request.Cancel cancel) {
      sessions.cancel(cancel, greeting.user(), answer);
    } else if (request instanceof Request.OpenSnapshot open) {
      if (mayFetchSnapshot(answer)) {
        snapshot.open(open, greeting.user(), greeting.client(), answer);
      }
    } else if (request instanceof Request.ReadSnapshot read) {
      if (mayFetchSnapshot(answer)) {
        snapshot.read(read, answer);
      } else {
        // what is left of it is for nobody
        snapshot.forget();
      }
    } else if (request instanceof Request.AwaitHolder await) {
      watching = true;
      watches.await(await, SessionRequests.nameOf(greeting.user()), replies, answer);
    } else if (request instanceof Request.AwaitLeader await) {
      leaders.await(await, replies, answer);
    } else if (request instanceof Request.AskNodeStatus) {
      workers.chore(() -> answer.accept(cluster.nodeStatus()));
    } else {
      throw new WireFormatException("request " + request.type() + " makes no sense here");
    }
  }
}
