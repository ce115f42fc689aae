package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Text;
import dev.tollgate.node.replica.StateAccess;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of one client: reads requests, and hands each to the class that knows its subject.
 * Knows who the client is, which the client says first. The transport hands frames over one at a
 * time; replies may come from any thread.
 */
public final class ClientConnection {
  private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);

  /** All clients are one user. */
  private static final String USER = "";

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
  }

  private final StateAccess state;
  private final ClusterInfo cluster;
  private final Workers workers;
  private final ReplyChannel replies;
  private final SessionRequests sessions;
  private final Heartbeats heartbeats;
  private final HolderWatches watches;
  private final LeaderWatches leaders;
  private final StatementRequests statements;
  private final SnapshotSender snapshot;
  private @Nullable ClientInfo client;
  private volatile boolean watching;

  ClientConnection(
      StateAccess state,
      ClusterInfo cluster,
      Workers workers,
      ReplyChannel replies,
      SessionRequests sessions,
      Heartbeats heartbeats,
      HolderWatches watches,
      LeaderWatches leaders,
      StatementRequests statements,
      SnapshotSender snapshot) {
    this.state = requireNonNull(state, "state");
    this.cluster = requireNonNull(cluster, "cluster");
    this.workers = requireNonNull(workers, "workers");
    this.replies = requireNonNull(replies, "replies");
    this.sessions = requireNonNull(sessions, "sessions");
    this.heartbeats = requireNonNull(heartbeats, "heartbeats");
    this.watches = requireNonNull(watches, "watches");
    this.leaders = requireNonNull(leaders, "leaders");
    this.statements = requireNonNull(statements, "statements");
    this.snapshot = requireNonNull(snapshot, "snapshot");
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
      if (request instanceof Request.Hello hello) {
        hello(hello, answer);
      } else if (client == null) {
        replies.refuse(replies.to(frame.requestId()), "the first request has to be a hello");
      } else {
        dispatch(request, answer, client);
      }
    } catch (WireFormatException e) {
      LOG.warn(
          "{}: {} sent what is no request: {}", cluster.nodeId(), replies.client(), e.getMessage());
      replies.refuse(
          replies.to(frame.requestId()),
          "this is no request of the Tollgate protocol: " + e.getMessage());
    }
  }

  /**
   * Releases what the gone client used. Its session stays until it expires, for another connection.
   */
  public void disconnected() {
    statements.close();
    snapshot.close();
    heartbeats.disconnected();
    leaders.forget(replies);
    if (watching) {
      workers.chore(() -> watches.forget(replies));
    }
  }

  private void hello(Request.Hello hello, Consumer<Reply> answer) {
    if (hello.minVersion() > Protocol.VERSION || hello.maxVersion() < 1) {
      replies.refuse(
          answer,
          "this node speaks version 1 to "
              + Protocol.VERSION
              + " of the protocol, the client "
              + hello.minVersion()
              + " to "
              + hello.maxVersion());
      return;
    }
    if (!Text.isWellFormed(hello.application() + ' ' + hello.host() + ' ' + hello.process())) {
      replies.refuse(
          answer, "the client's description of itself has half of a character, a lone surrogate");
      return;
    }
    String noRoom = replies.introduced(USER);
    if (noRoom != null) {
      LOG.warn("{}: {} is one client too many", cluster.nodeId(), replies.client());
      replies.refuse(answer, new Reply.Failure(SqlState.TOO_MANY, noRoom));
      return;
    }
    client =
        new ClientInfo(
            Text.first(hello.application(), Limits.DESCRIPTION_CHARS),
            Text.first(hello.host(), Limits.DESCRIPTION_CHARS),
            Text.first(hello.process(), Limits.DESCRIPTION_CHARS));
    answer.accept(
        new Reply.Welcome(
            Math.min(Protocol.VERSION, hello.maxVersion()),
            cluster.nodeId(),
            cluster.view(),
            cluster.clusterId(),
            cluster.term()));
  }

  private void dispatch(Request request, Consumer<Reply> answer, ClientInfo self) {
    if (request instanceof Request.Execute execute) {
      sessions.withSession(answer, attached -> statements.execute(attached, self, execute, answer));
    } else if (request instanceof Request.ExecuteSeries series) {
      sessions.withSession(answer, attached -> statements.executeSeries(attached, series, answer));
    } else if (request instanceof Request.Ping) {
      answer.accept(new Reply.Ok());
    } else if (request instanceof Request.Heartbeat heartbeat) {
      heartbeats.heartbeat(heartbeat, answer);
    } else if (request instanceof Request.Prepare prepare) {
      sessions.withSession(answer, attached -> statements.prepare(attached, prepare, answer));
    } else if (request instanceof Request.Fetch fetch) {
      statements.fetch(fetch, answer);
    } else if (request instanceof Request.CloseCursor close) {
      statements.closeCursor(close.cursorId());
    } else if (request instanceof Request.Metadata metadata) {
      sessions.withSession(answer, attached -> statements.metadata(attached, metadata, answer));
    } else if (request instanceof Request.OpenSession open) {
      sessions.open(open, self, answer);
    } else if (request instanceof Request.AttachSession attach) {
      sessions.attach(attach, answer);
    } else if (request instanceof Request.CloseSession) {
      sessions.close(answer);
    } else if (request instanceof Request.ReleaseOwnLease) {
      sessions.releaseOwnLease(answer);
    } else if (request instanceof Request.Cancel cancel) {
      sessions.cancel(cancel, answer);
    } else if (request instanceof Request.OpenSnapshot open) {
      snapshot.open(open, answer);
    } else if (request instanceof Request.ReadSnapshot read) {
      snapshot.read(read, answer);
    } else if (request instanceof Request.AwaitHolder await) {
      watching = true;
      watches.await(await, replies, answer);
    } else if (request instanceof Request.AwaitLeader await) {
      leaders.await(await, replies, answer);
    } else if (request instanceof Request.AskNodeStatus) {
      workers.chore(() -> answer.accept(cluster.nodeStatus()));
    } else {
      throw new WireFormatException("request " + request.type() + " makes no sense here");
    }
  }
}
