package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.admin.Presence;
import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.node.client.LoginProof;
import dev.tollgate.store.PlainResult;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireWriter;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection within this process and its session, for one user. What a script requests takes the
 * same way through the node as a request of the driver. The session gets no heartbeats: it is used
 * for less than it lives. One thread at a time.
 */
final class ScriptConnection implements AutoCloseable {
  /** Where the client is, as a text that SESSIONS and the audit file show. */
  private static final String APPLICATION = "http";

  /** The lease of its own that a session has, and that no script can use. */
  private static final long OWN_LEASE_MILLIS = 15_000;

  private static final Frame END = new Frame(0, 0, 0, new byte[0]);

  /** Has a wait for a reply look whether the client is still there. */
  private static final Frame LOOK = new Frame(0, 0, 0, new byte[0]);

  private final ClientConnection connection;
  private final BlockingQueue<Frame> replies = new ArrayBlockingQueue<>(ScriptLimits.REPLIES);
  private final String from;
  private final long openedNanos = System.nanoTime();
  private long lastRequestId;
  private long lastSequence;
  private Reply.@Nullable SessionReady session;
  private @Nullable Presence client;
  private boolean broken;
  private boolean ended;

  /**
   * Opens a session.
   *
   * @param login that was admitted; null on a cluster without users
   */
  static ScriptConnection open(ClientService clients, @Nullable LoginProof login, InetAddress from)
      throws ScriptRefusal, LeaderMovedException {
    ScriptConnection opened = new ScriptConnection(clients, login, from);
    try {
      opened.greet();
      return opened;
    } catch (ScriptRefusal | LeaderMovedException | RuntimeException | Error e) {
      opened.broken = true;
      opened.close();
      throw e;
    }
  }

  private ScriptConnection(ClientService clients, @Nullable LoginProof login, InetAddress from) {
    this.from = from.getHostAddress();
    this.connection = clients.connect(new Link(), login);
  }

  private final class Link implements ClientConnection.Link {
    @Override
    public void send(Frame frame) {
      // there is one for each request, and few requests: a reply that finds no room is not awaited
      var unused = replies.offer(frame);
    }

    @Override
    public void close() {
      // a full queue has a reply to the request that is waited for
      var unused = replies.offer(END);
    }

    @Override
    public String client() {
      return "a script at " + from;
    }

    @Override
    public String address() {
      return from;
    }
  }

  private void greet() throws ScriptRefusal, LeaderMovedException {
    Reply welcome =
        ask(
            new Request.Hello(Protocol.VERSION, Protocol.VERSION, APPLICATION, from, ""),
            ScriptLimits.ANSWER);
    if (welcome instanceof Reply.LoginRequired) {
      throw ScriptRefusal.of(
          SqlState.BUSY, "the cluster has got its first users just now: log in, and try again");
    }
    requireSuccess(welcome);
    Reply ready =
        ask(
            new Request.OpenSession(
                ScriptLimits.SESSION.toMillis(),
                OWN_LEASE_MILLIS,
                new Request.SessionOptions(ReadConsistency.LINEARIZABLE, /* lockWaitMillis= */ 0)),
            ScriptLimits.ANSWER);
    if (ready instanceof Reply.NotLeader) {
      throw new LeaderMovedException(/* maybeDone= */ false);
    }
    requireSuccess(ready);
    if (!(ready instanceof Reply.SessionReady opened)) {
      throw ScriptRefusal.of(
          SqlState.NO_QUORUM,
          "the cluster did not open a session within "
              + ScriptLimits.ANSWER.toSeconds()
              + " s: no majority of its nodes answers");
    }
    session = opened;
  }

  private static void requireSuccess(@Nullable Reply reply) throws ScriptRefusal {
    if (reply instanceof Reply.Failure failure) {
      throw ScriptRefusal.of(failure);
    }
  }

  /** For how long the session has been there. */
  Duration age() {
    return Duration.ofNanos(System.nanoTime() - openedNanos);
  }

  /** True if nothing further can be requested. */
  boolean isBroken() {
    return broken;
  }

  /**
   * Serves a request from now on: once its client is gone, the statement under way is canceled and
   * no further one begins. Nothing else would end the wait of a client that no answer can reach.
   */
  void serve(Presence presence) {
    client = presence;
    presence.whenGone(
        () -> {
          // without room there is a reply to be read, after which nobody waits for long
          var unused = replies.offer(LOOK);
        });
  }

  /** Begins statements whether or not a client is there: they clean up, or serve nobody. */
  void serveNobody() {
    client = null;
  }

  /** True if the client of the request is gone. */
  boolean isClientGone() {
    Presence served = client;
    return served != null && served.isGone();
  }

  /** Requires that the client is there, and that its login counts. */
  void requireClient() throws ScriptRefusal {
    requireLogin();
    if (isClientGone()) {
      throw ScriptRefusal.of(
          SqlState.CANCELLED, "the client has closed its connection: nothing more was done");
    }
  }

  private void requireLogin() throws ScriptRefusal {
    Presence served = client;
    String end = served == null ? null : served.loginEnd();
    if (end != null) {
      throw ScriptRefusal.of(SqlState.LOGIN_REFUSED, end + "; nothing more was done");
    }
  }

  /** Calls a function that does not wait and is safe to call again, and returns its value. */
  @Nullable Object call(String sql, List<SqlValue> arguments)
      throws ScriptRefusal, LeaderMovedException {
    return call(sql, Repeat.SAFE, Duration.ZERO, arguments);
  }

  /**
   * Calls a function and returns its value.
   *
   * @param wait how long the function may wait, beside the time for an answer
   */
  @Nullable Object call(String sql, Repeat repeat, Duration wait, List<SqlValue> arguments)
      throws ScriptRefusal, LeaderMovedException {
    PlainResult result = execute(sql, repeat, arguments, 1, wait.plus(ScriptLimits.ANSWER));
    return result.rows().get(0).get(0);
  }

  /**
   * Runs a statement as a transaction of its own.
   *
   * @param repeat what the client is told if the outcome is unknown
   * @param maxRows of the result; 0 for all
   * @param patience after which the statement is canceled
   * @throws LeaderMovedException if the statement may have taken effect, and the client may send it
   *     again to the next leader
   */
  PlainResult execute(
      String sql, Repeat repeat, List<SqlValue> parameters, int maxRows, Duration patience)
      throws ScriptRefusal, LeaderMovedException {
    requireClient();
    Request.Execute request =
        new Request.Execute(
            ++lastSequence,
            /* ownLeaseTrusted= */ false,
            TransactionMode.AUTOCOMMIT,
            /* batch= */ false,
            sql,
            new KeyRequest.None(),
            maxRows,
            /* pageRows= */ 0,
            List.of(SqlValue.encodeFirst(parameters, parameters.size())));
    long id = send(request);
    Reply reply = await(id, patience);
    if (reply == null && !broken) {
      cancel();
      reply = await(id, ScriptLimits.CANCELED, /* heedsClient= */ false);
    }
    if (reply instanceof Reply.Failure canceled
        && canceled.sqlState().equals(SqlState.CANCELLED.state())) {
      requireLogin();
    }
    if (reply instanceof Reply.NotLeader) {
      broken = true;
      if (repeat == Repeat.UNSAFE) {
        throw ScriptRefusal.unknown(repeat, "this node has lost leadership");
      }
      throw new LeaderMovedException(/* maybeDone= */ true);
    }
    if (reply instanceof Reply.Failure failure && failure.sqlState().startsWith("08")) {
      broken = true;
      if (failure.sqlState().equals(SqlState.OUTCOME_UNKNOWN.state())) {
        throw ScriptRefusal.unknown(repeat, failure.message());
      }
    }
    return PlainResult.read(body(reply, repeat, "the cluster did not answer in time"));
  }

  /** Returns the body of a result: a page, which is small unless a row in it is large. */
  private byte[] body(@Nullable Reply reply, Repeat repeat, String missing) throws ScriptRefusal {
    requireSuccess(reply);
    if (!(reply instanceof Reply.Result result)) {
      broken = true;
      throw ScriptRefusal.unknown(repeat, missing);
    }
    if (result.body().length > ScriptLimits.ROW_BYTES) {
      throw ScriptRefusal.of(
          SqlState.TOO_LARGE,
          "the statement was carried out, but a row of its result has "
              + result.body().length
              + " bytes: over HTTP at most "
              + ScriptLimits.ROW_BYTES
              + ". Select less of it");
    }
    return result.body();
  }

  /**
   * Returns the first rows of a query. A definition ends the queries that it would have to wait
   * for; the query is then run again, because no request of its client conflicts with anything.
   *
   * @param most how many
   */
  List<List<@Nullable Object>> rows(String sql, List<SqlValue> parameters, int most)
      throws ScriptRefusal, LeaderMovedException {
    long end = System.nanoTime() + ScriptLimits.ANSWER.toNanos();
    while (true) {
      try {
        return rowsAtOnce(sql, parameters, most);
      } catch (ScriptRefusal refusal) {
        if (!refusal.isConflict()) {
          throw refusal;
        }
        if (System.nanoTime() - end >= 0) {
          throw ScriptRefusal.of(SqlState.BUSY, String.valueOf(refusal.getMessage()));
        }
      }
    }
  }

  private List<List<@Nullable Object>> rowsAtOnce(String sql, List<SqlValue> parameters, int most)
      throws ScriptRefusal, LeaderMovedException {
    PlainResult page = execute(sql, Repeat.SAFE, parameters, most, ScriptLimits.ANSWER);
    List<List<@Nullable Object>> rows = new ArrayList<>(page.rows());
    while (page.cursorId() != 0) {
      page = fetch(page, Repeat.SAFE, ScriptLimits.ANSWER);
      rows.addAll(page.rows());
    }
    return rows;
  }

  private void cancel() {
    Reply.SessionReady opened = requireNonNull(session, "session");
    var unused = send(new Request.Cancel(opened.sessionId(), opened.secret(), lastSequence));
  }

  /** Fetches further rows of a result. */
  PlainResult fetch(PlainResult former, Repeat repeat, Duration patience) throws ScriptRefusal {
    requireClient();
    Reply reply = ask(new Request.Fetch(former.cursorId(), /* pageRows= */ 0), patience);
    return former.next(body(reply, repeat, "the rest of the rows did not come"));
  }

  private @Nullable Reply ask(Request request, Duration patience) {
    return await(send(request), patience);
  }

  private long send(Request request) {
    long id = ++lastRequestId;
    WireWriter body = new WireWriter();
    request.write(body);
    connection.receive(new Frame(request.type(), id, 0, body.toByteArray()));
    return id;
  }

  /** Waits for the reply to a request, and drops those to former ones; null if it does not come. */
  private @Nullable Reply await(long id, Duration patience) {
    return await(id, patience, /* heedsClient= */ true);
  }

  /**
   * @param heedsClient whether the wait ends once the client is gone
   */
  private @Nullable Reply await(long id, Duration patience, boolean heedsClient) {
    long end = System.nanoTime() + patience.toNanos();
    try {
      while (!broken) {
        Frame frame = replies.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (frame == null) {
          return null;
        }
        if (frame == LOOK) {
          if (heedsClient && isClientGone()) {
            return null;
          }
        } else if (frame == END) {
          broken = true;
          ended = true;
        } else if (frame.requestId() == id) {
          return Reply.read(frame);
        }
      }
      return null;
    } catch (InterruptedException e) {
      // the node stops
      Thread.currentThread().interrupt();
      broken = true;
      return null;
    }
  }

  /** Ends the session, without waiting: a lock request under way leaves the queue with it. */
  @Override
  public void close() {
    if (session != null && !ended) {
      var unused = send(new Request.CloseSession());
    }
    connection.disconnected();
  }
}
