package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.Text;
import dev.tollgate.log.entry.Proposal;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireWriter;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of one client: says hello, has a session, answers requests. The transport hands
 * frames over one at a time; replies may come from any thread.
 */
public final class ClientConnection {
  private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);
  private static final SecureRandom SECRETS = new SecureRandom();

  /** The way back to the client. Thread-safe. */
  public interface Link {
    void send(Frame frame);

    /** Closes the connection once the sent frames are gone. */
    void close();

    /** Where the client is, for log messages. */
    String client();
  }

  /** A session as this connection uses it. */
  record Attached(SessionId id, long secret, Request.SessionOptions options) {
    Attached {
      requireNonNull(id, "id");
      requireNonNull(options, "options");
    }
  }

  private final ClientService service;
  private final Link link;
  private final QueryRunner statements;
  private final SnapshotSender snapshot;
  private @Nullable ClientInfo client;
  private volatile @Nullable Attached session;
  private final AtomicInteger unanswered = new AtomicInteger();
  private boolean keeps;

  public ClientConnection(ClientService service, Link link) {
    this.service = requireNonNull(service, "service");
    this.link = requireNonNull(link, "link");
    this.statements = new QueryRunner(service);
    this.snapshot = new SnapshotSender(service);
  }

  /** Takes a frame from the client. Must not wait, because other connections share the thread. */
  public void receive(Frame frame) {
    service.replica().promptly(() -> take(frame));
  }

  private void take(Frame frame) {
    try {
      Request request = Request.read(frame);
      Consumer<Reply> answer = counted(frame, request);
      if (answer == null) {
        return;
      }
      if (request instanceof Request.Hello hello) {
        hello(hello, answer);
      } else if (client == null) {
        refuse(frame.requestId(), "the first request has to be a hello");
      } else {
        dispatch(request, answer, client);
      }
    } catch (WireFormatException e) {
      LOG.warn(
          "{}: {} sent what is no request: {}", service.nodeId(), link.client(), e.getMessage());
      refuse(frame.requestId(), "this is no request of the Tollgate protocol: " + e.getMessage());
    }
  }

  /**
   * Returns the way back for a request, which counts until it is answered. Returns null if the
   * request was refused because the node has no room for it. A cancel makes room, and a ping takes
   * none.
   */
  private @Nullable Consumer<Reply> counted(Frame frame, Request request) {
    long id = frame.requestId();
    if (request instanceof Request.CloseCursor
        || request instanceof Request.Cancel
        || request instanceof Request.Ping) {
      return reply -> send(id, reply);
    }
    int bytes = frame.body().length;
    Reply.Failure full = full();
    if (full == null) {
      full = service.traffic().admit(bytes);
    }
    if (full != null) {
      send(id, full);
      return null;
    }
    unanswered.incrementAndGet();
    AtomicBoolean counts = new AtomicBoolean(true);
    return reply -> {
      send(id, reply);
      if (counts.getAndSet(false)) {
        service.traffic().answered(bytes);
        unanswered.decrementAndGet();
      }
    };
  }

  private Reply.@Nullable Failure full() {
    int most = service.traffic().limits().requestsPerConnection();
    return unanswered.get() < most
        ? null
        : new Reply.Failure(
            SqlState.BUSY,
            "the connection has "
                + most
                + " requests that are not answered yet, as many as may be: nothing was done; wait"
                + " for an answer");
  }

  /** Sends the client an event that it did not request. */
  void push(Reply event) {
    send(0, event);
  }

  /**
   * Releases what the gone client used. Its session stays until it expires, for another connection.
   */
  public void disconnected() {
    statements.close();
    snapshot.close();
    if (keeps) {
      service.workers().chore(() -> service.forget(this));
    }
  }

  private void hello(Request.Hello hello, Consumer<Reply> answer) {
    if (hello.minVersion() > Protocol.VERSION || hello.maxVersion() < 1) {
      refuseWith(
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
      refuseWith(
          answer, "the client's description of itself has half of a character, a lone surrogate");
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
            service.nodeId(),
            service.clusterView(),
            service.clusterId()));
  }

  private void dispatch(Request request, Consumer<Reply> answer, ClientInfo self) {
    if (request instanceof Request.Execute execute) {
      withSession(answer, attached -> statements.execute(attached, self, execute, answer));
    } else if (request instanceof Request.Ping) {
      answer.accept(new Reply.Ok());
    } else if (request instanceof Request.Heartbeat heartbeat) {
      heartbeat(heartbeat, answer);
    } else if (request instanceof Request.Prepare prepare) {
      withSession(answer, attached -> statements.prepare(attached, prepare, answer));
    } else if (request instanceof Request.Fetch fetch) {
      statements.fetch(fetch, answer);
    } else if (request instanceof Request.CloseCursor close) {
      statements.closeCursor(close.cursorId());
    } else if (request instanceof Request.Metadata metadata) {
      withSession(answer, attached -> statements.metadata(attached, metadata, answer));
    } else if (request instanceof Request.OpenSession open) {
      openSession(open, self, answer);
    } else if (request instanceof Request.AttachSession attach) {
      attachSession(attach, answer);
    } else if (request instanceof Request.CloseSession) {
      closeSession(answer);
    } else if (request instanceof Request.ReleaseOwnLease) {
      releaseOwnLease(answer);
    } else if (request instanceof Request.Cancel cancel) {
      cancel(cancel, answer);
    } else if (request instanceof Request.OpenSnapshot open) {
      snapshot.open(open, answer);
    } else if (request instanceof Request.ReadSnapshot read) {
      snapshot.read(read, answer);
    } else if (request instanceof Request.AskNodeStatus) {
      service.workers().chore(() -> answer.accept(service.nodeStatus()));
    } else {
      throw new WireFormatException("request " + request.type() + " makes no sense here");
    }
  }

  private void withSession(Consumer<Reply> answer, Consumer<Attached> work) {
    Attached attached = session;
    if (attached == null) {
      answer.accept(
          new Reply.Failure(
              SqlState.CONNECTION_REFUSED, "the connection has no session: open or attach one"));
    } else {
      work.accept(attached);
    }
  }

  private void openSession(Request.OpenSession open, ClientInfo self, Consumer<Reply> answer) {
    String wrong = wrongWith(open);
    if (wrong != null) {
      answer.accept(new Reply.Failure(SqlState.INVALID_ARGUMENT, wrong));
      return;
    }
    long secret = SECRETS.nextLong();
    service
        .pipeline()
        .submit(
            new Command.OpenSession(self, secret, open.ttlMillis(), open.leaseTtlMillis()),
            new Proposal.Listener() {
              @Override
              public void applied(Outcome outcome) {
                if (outcome instanceof Outcome.Refused refused) {
                  answer.accept(Replies.of(refused));
                  return;
                }
                SessionId id = ((Outcome.SessionOpened) outcome).session();
                session = new Attached(id, secret, open.options());
                answer.accept(new Reply.SessionReady(id.value(), secret));
              }

              @Override
              public void unknown() {
                answer.accept(notLeader());
              }

              @Override
              public void refused(String why) {
                answer.accept(new Reply.Failure(SqlState.BUSY, why));
              }
            });
  }

  private static @Nullable String wrongWith(Request.OpenSession open) {
    if (open.ttlMillis() < Limits.SESSION_TTL_MIN_MILLIS
        || open.ttlMillis() > Limits.SESSION_TTL_MAX_MILLIS) {
      return "session timeout is " + open.ttlMillis() + " ms: it has to be 1 s to 24 hours";
    }
    if (open.leaseTtlMillis() < Limits.LEASE_TTL_MIN_MILLIS
        || open.leaseTtlMillis() > Limits.LEASE_TTL_MAX_MILLIS) {
      return "lease is " + open.leaseTtlMillis() + " ms: it has to be 100 ms to 24 hours";
    }
    return wrongWith(open.options());
  }

  private static @Nullable String wrongWith(Request.SessionOptions options) {
    long wait = options.lockWaitMillis();
    return wait < 0 || wait > Limits.LOCK_WAIT_MAX_MILLIS
        ? "lockWait is " + wait + " ms: it has to be 0 to one hour"
        : null;
  }

  private void attachSession(Request.AttachSession attach, Consumer<Reply> answer) {
    String wrong = wrongWith(attach.options());
    if (attach.sessionId() <= 0 || wrong != null) {
      answer.accept(
          new Reply.Failure(
              SqlState.INVALID_ARGUMENT,
              wrong == null ? "session " + attach.sessionId() + " does not exist" : wrong));
    } else if (attach.leaderOnly() && !service.replica().isLeading()) {
      answer.accept(notLeader());
    } else if (!tryAttach(attach, answer)) {
      // a node that lags behind, or has lost leadership, cannot know that a session is gone
      service.awaitState(
          leads -> {
            if (!leads) {
              answer.accept(notLeader());
            } else if (!tryAttach(attach, answer)) {
              answer.accept(
                  new Reply.Failure(
                      SqlState.SESSION_GONE,
                      "session "
                          + attach.sessionId()
                          + " has expired, because the cluster did not hear of it for its timeout,"
                          + " or was closed: open a new connection"));
            }
          });
    }
  }

  /** Attaches or refuses a session that this node knows; returns false if it does not know it. */
  private boolean tryAttach(Request.AttachSession attach, Consumer<Reply> answer) {
    SessionId id = new SessionId(attach.sessionId());
    Facts.SessionFacts known = service.replica().facts().session(id);
    if (known == null) {
      return false;
    }
    if (known.secret() != attach.secret()) {
      LOG.warn(
          "{}: {} does not know the secret of session {}", service.nodeId(), link.client(), id);
      answer.accept(
          new Reply.Failure(SqlState.CONNECTION_REFUSED, "session " + id + " is another client's"));
    } else {
      session = new Attached(id, attach.secret(), attach.options());
      answer.accept(new Reply.SessionReady(id.value(), attach.secret()));
    }
    return true;
  }

  private void closeSession(Consumer<Reply> answer) {
    withSession(
        answer,
        attached ->
            propose(
                new Command.CloseSession(attached.id()),
                answer,
                outcome -> {
                  session = null;
                  answer.accept(new Reply.Ok());
                }));
  }

  private void releaseOwnLease(Consumer<Reply> answer) {
    withSession(
        answer,
        attached ->
            propose(
                new Command.ReleaseOwnLease(attached.id()),
                answer,
                outcome ->
                    answer.accept(
                        outcome instanceof Outcome.Refused refused
                            ? Replies.of(refused)
                            : new Reply.Ok())));
  }

  private void cancel(Request.Cancel cancel, Consumer<Reply> answer) {
    if (cancel.sessionId() <= 0 || cancel.sequence() <= 0) {
      throw new WireFormatException("cancel of session " + cancel.sessionId());
    }
    SessionId id = new SessionId(cancel.sessionId());
    Facts.SessionFacts known = service.replica().facts().session(id);
    if (known == null || known.secret() != cancel.secret()) {
      answer.accept(
          service.replica().isLeading()
              ? new Reply.Failure(SqlState.SESSION_GONE, "there is no session " + id)
              : notLeader());
      return;
    }
    service.cancelQuery(id);
    propose(
        new Command.EndWait(id, cancel.sequence(), Command.WaitEnd.CANCELLED),
        answer,
        outcome -> answer.accept(new Reply.Ok()));
  }

  private void heartbeat(Request.Heartbeat heartbeat, Consumer<Reply> answer) {
    long arrived = service.timeKeeper().now();
    List<SessionId> sessions = new ArrayList<>(heartbeat.sessions().size());
    heartbeat.sessions().forEach(id -> sessions.add(new SessionId(requirePositive(id))));
    List<LeaseId> leases = new ArrayList<>(heartbeat.leases().size());
    heartbeat.leases().forEach(id -> leases.add(new LeaseId(requirePositive(id))));
    keeps = true;
    service.keptBy(sessions, leases, this);
    renew(sessions, leases, arrived, outcome -> {});
    service.proveLeadership(leads -> acknowledge(leads, sessions, leases, arrived, answer));
  }

  private static long requirePositive(long id) {
    if (id <= 0) {
      throw new WireFormatException("id " + id);
    }
    return id;
  }

  private void acknowledge(
      boolean leads,
      List<SessionId> sessions,
      List<LeaseId> leases,
      long arrived,
      Consumer<Reply> answer) {
    if (!leads) {
      answer.accept(notLeader());
      return;
    }
    Set<TimeKeeper.Renewal> outcomes = EnumSet.noneOf(TimeKeeper.Renewal.class);
    Reply.HeartbeatAck ack = renew(sessions, leases, arrived, outcomes::add);
    if (outcomes.contains(TimeKeeper.Renewal.NOT_HERE)) {
      answer.accept(notLeader());
    } else if (outcomes.contains(TimeKeeper.Renewal.WITHOUT_OWN_LEASE)
        || outcomes.contains(TimeKeeper.Renewal.NOT_YET)) {
      service.awaitEntry(
          still ->
              service.workers().chore(() -> acknowledge(still, sessions, leases, arrived, answer)));
    } else {
      answer.accept(ack);
    }
  }

  private Reply.HeartbeatAck renew(
      List<SessionId> sessions,
      List<LeaseId> leases,
      long arrived,
      Consumer<TimeKeeper.Renewal> outcomes) {
    List<Long> lostSessions = new ArrayList<>();
    for (SessionId id : sessions) {
      TimeKeeper.Renewal outcome = service.timeKeeper().renew(id, arrived);
      outcomes.accept(outcome);
      if (outcome == TimeKeeper.Renewal.GONE) {
        lostSessions.add(id.value());
      }
      if (outcome == TimeKeeper.Renewal.GONE || outcome == TimeKeeper.Renewal.NOT_HERE) {
        service.forget(id);
      }
    }
    List<Long> lostLeases = new ArrayList<>();
    for (LeaseId id : leases) {
      TimeKeeper.Renewal outcome = service.timeKeeper().renew(id, arrived);
      outcomes.accept(outcome);
      if (outcome == TimeKeeper.Renewal.GONE) {
        lostLeases.add(id.value());
      }
      if (outcome == TimeKeeper.Renewal.GONE || outcome == TimeKeeper.Renewal.NOT_HERE) {
        service.forget(id);
      }
    }
    return new Reply.HeartbeatAck(lostSessions, lostLeases);
  }

  private void propose(Command command, Consumer<Reply> answer, Consumer<Outcome> then) {
    service
        .pipeline()
        .submit(
            command,
            new Proposal.Listener() {
              @Override
              public void applied(Outcome outcome) {
                then.accept(outcome);
              }

              @Override
              public void unknown() {
                answer.accept(notLeader());
              }
            });
  }

  private Reply.NotLeader notLeader() {
    return new Reply.NotLeader(service.clusterView());
  }

  private void refuse(long requestId, String why) {
    refuseWith(reply -> send(requestId, reply), why);
  }

  private void refuseWith(Consumer<Reply> answer, String why) {
    answer.accept(new Reply.Failure(SqlState.CONNECTION_REFUSED, why));
    link.close();
  }

  private void send(long requestId, Reply reply) {
    byte[] body = bodyOf(reply);
    if (body.length <= Protocol.MAX_FRAME_BYTES - Protocol.HEADER_BYTES) {
      link.send(new Frame(reply.type(), requestId, 0, body));
      if (reply instanceof Reply.Failure failure
          && failure.sqlState().equals(SqlState.PROTOCOL_VIOLATION.state())) {
        link.close();
      }
    } else {
      Reply tooLarge =
          new Reply.Failure(
              SqlState.TOO_LARGE,
              "the answer has " + body.length + " bytes, more than fit into a frame");
      link.send(new Frame(tooLarge.type(), requestId, 0, bodyOf(tooLarge)));
    }
  }

  private static byte[] bodyOf(Reply reply) {
    WireWriter out = new WireWriter();
    reply.write(out);
    return out.toByteArray();
  }
}
