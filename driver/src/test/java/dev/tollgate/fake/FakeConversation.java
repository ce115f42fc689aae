package dev.tollgate.fake;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.PasswordVerifier;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.ScramBinding;
import dev.tollgate.wire.ScramException;
import dev.tollgate.wire.ScramServer;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A connection as the node sees it. One thread reads, and answers Ping and Cancel at once; another
 * carries out the rest in order.
 */
final class FakeConversation {
  private final FakeCluster cluster;
  private final FakeNode node;
  private final FakeChannel channel;
  private final ExecutorService worker =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "fake-worker");
            thread.setDaemon(true);
            return thread;
          });
  private volatile FakeSession session;
  private volatile boolean welcome;
  private ScramServer scram;

  /** The id of the request that waits for another leader, or 0. */
  private long leaderRequestId;

  private long knownTerm;
  private volatile ReadConsistency consistency = ReadConsistency.LINEARIZABLE;

  /**
   * @param node null for a cluster in this JVM
   */
  FakeConversation(FakeCluster cluster, FakeNode node, FakeChannel channel) {
    this.cluster = cluster;
    this.node = node;
    this.channel = channel;
  }

  void start(Runnable onEnd) {
    Thread reader =
        new Thread(
            () -> {
              try {
                while (true) {
                  read();
                }
              } catch (IOException | RuntimeException e) {
                // the client closed the connection, or a test did
              } finally {
                close();
                FakeSession last = session;
                if (last != null) {
                  last.ended(this);
                }
                worker.shutdownNow();
                onEnd.run();
              }
            },
            "fake-reader");
    reader.setDaemon(true);
    reader.start();
  }

  private void read() throws IOException {
    Frame frame = channel.read();
    if (node != null && node.turnedAway != null) {
      throw new IOException("turned away");
    }
    if (node != null && node.silent) {
      return;
    }
    Request request = Request.read(frame);
    boolean beginning =
        request instanceof Request.Hello
            || request instanceof Request.BeginLogin
            || request instanceof Request.ContinueLogin;
    if (!beginning && !welcome && cluster.requiresLogin()) {
      if (request instanceof Request.Ping) {
        return;
      }
      cluster.note("no login before " + request.getClass().getSimpleName());
      throw new IOException("no login");
    }
    if (request instanceof Request.Ping) {
      send(frame.requestId(), new Reply.Ok());
    } else if (request instanceof Request.Cancel cancel) {
      cluster.others.add(cancel);
      FakeSession target = cluster.sessions.get(cancel.sessionId());
      boolean ignored = node != null && node.ignoresCancellations;
      if (!ignored && target != null && target.secret == cancel.secret()) {
        target.cancel(cancel.sequence());
      }
      send(frame.requestId(), new Reply.Ok());
    } else if (request instanceof Request.AwaitLeader await) {
      await(frame.requestId(), await);
    } else {
      if (request instanceof Request.Execute
          || request instanceof Request.Prepare
          || request instanceof Request.Metadata) {
        cluster.losses.add(frame.losses());
      }
      worker.execute(() -> answer(frame.requestId(), request));
    }
  }

  private void answer(long requestId, Request request) {
    try {
      Reply reply = handle(request);
      if (reply != null) {
        send(requestId, reply);
      }
    } catch (IOException | SQLException | RuntimeException e) {
      close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Reply handle(Request request) throws IOException, SQLException, InterruptedException {
    if (request instanceof Request.Hello hello) {
      if (node != null && node.refusal != null) {
        return node.refusal;
      }
      if (node != null && cluster.requiresLogin()) {
        return new Reply.LoginRequired(hello.maxVersion(), List.of(ScramBinding.PLAIN));
      }
      return welcome(hello);
    }
    if (request instanceof Request.BeginLogin begin) {
      return challenge(begin);
    }
    if (request instanceof Request.ContinueLogin last) {
      return loggedIn(last);
    }
    if (request instanceof Request.OpenSession open) {
      if (!cluster.leads(node)) {
        return notLeader();
      }
      return attached(cluster.open(open), open.options());
    }
    if (request instanceof Request.AttachSession attach) {
      return attach(attach);
    }
    if (request instanceof Request.Heartbeat heartbeat) {
      return beat(heartbeat);
    }
    if (request instanceof Request.WatchLocks watch) {
      cluster.others.add(watch);
      if (cluster.watchesRefused.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        return new Reply.Failure(SqlState.BUSY, "no room");
      }
      return cluster.leads(node) ? new Reply.LocksLost(List.of(), List.of()) : notLeader();
    }
    return inSession(request);
  }

  private Reply challenge(Request.BeginLogin begin) throws IOException {
    try {
      scram = new ScramServer(begin.mechanism(), null, begin.data());
    } catch (ScramException e) {
      throw new IOException(e);
    }
    PasswordVerifier first =
        cluster.passwordsOf(scram.user()).stream()
            .findFirst()
            .orElseGet(() -> PasswordVerifier.of("x", new byte[16], 4096));
    return new Reply.LoginChallenge(scram.challenge(first.salt(), first.iterations()));
  }

  private Reply loggedIn(Request.ContinueLogin last) throws IOException {
    byte[] proof;
    try {
      proof = scram.verify(last.data(), cluster.passwordsOf(scram.user()));
    } catch (ScramException e) {
      throw new IOException(e);
    }
    cluster.note((proof == null ? "not " : "") + scram.user());
    if (proof == null) {
      return new Reply.Failure(SqlState.LOGIN_REFUSED, "wrong");
    }
    welcome = true;
    return new Reply.LoggedIn(
        node.deceives ? new byte[] {'v', '='} : proof,
        new Reply.Welcome(
            Protocol.LOGIN_VERSION, node.id(), view(), cluster.clusterId, node.term()));
  }

  private Reply welcome(Request.Hello hello) throws InterruptedException {
    welcome = true;
    if (node != null) {
      node.greet();
    }
    return node == null
        ? new Reply.Welcome(hello.maxVersion(), "node", view(), cluster.clusterId, cluster.term())
        : new Reply.Welcome(
            Math.min(hello.maxVersion(), node.newestVersion),
            node.id(),
            view(),
            cluster.clusterId,
            node.term());
  }

  private synchronized void await(long requestId, Request.AwaitLeader request) {
    cluster.others.add(request);
    leaderRequestId = requestId;
    knownTerm = request.knownTerm();
    tellLeader();
  }

  synchronized boolean isWatched() {
    return leaderRequestId != 0;
  }

  void tellLeader() {
    Reply.Leader leader = cluster.servingLeader();
    if (leader != null && node != null && !node.alone) {
      tellIfLater(leader);
    }
  }

  private synchronized void tellIfLater(Reply.Leader leader) {
    if (leader.term() > knownTerm) {
      tellLeader(leader);
    }
  }

  synchronized void tellLeader(Reply.Leader leader) {
    if (leaderRequestId != 0) {
      send(leaderRequestId, leader);
      leaderRequestId = 0;
    }
  }

  private Reply attach(Request.AttachSession attach) {
    cluster.others.add(attach);
    if (attach.leaderOnly() && !cluster.leads(node)) {
      return notLeader();
    }
    FakeSession found = cluster.sessions.get(attach.sessionId());
    if (found == null) {
      return new Reply.Failure(SqlState.SESSION_GONE, "there is no such session");
    }
    if (found.secret != attach.secret()) {
      return new Reply.Failure(SqlState.CONNECTION_REFUSED, "wrong secret");
    }
    if (node != null && node.forgetsOnAttach) {
      cluster.forgetSessions();
    }
    return attached(found, attach.options());
  }

  private Reply attached(FakeSession found, Request.SessionOptions options) {
    session = found;
    found.attach(this);
    consistency = options.readConsistency();
    return new Reply.SessionReady(found.id, found.secret);
  }

  private Reply beat(Request.Heartbeat heartbeat) throws InterruptedException {
    if (!cluster.leads(node)) {
      return notLeader();
    }
    cluster.heartbeats.add(heartbeat);
    if (node != null && node.ignoresHeartbeats) {
      return null;
    }
    if (node != null && node.heartbeatHold != null) {
      node.heartbeatHold.await();
    }
    List<Long> gone =
        heartbeat.sessions().stream().filter(id -> !cluster.sessions.containsKey(id)).toList();
    return new Reply.HeartbeatAck(
        gone, heartbeat.leases().stream().filter(cluster.lostLeases::contains).toList());
  }

  private Reply inSession(Request request) throws IOException, SQLException, InterruptedException {
    FakeSession current = session;
    if (current == null || cluster.sessions.get(current.id) != current) {
      return new Reply.Failure(SqlState.SESSION_GONE, "there is no such session");
    }
    if (request instanceof Request.Execute execute) {
      return execute(current, execute);
    }
    if (request instanceof Request.ExecuteSeries series) {
      return execute(current, series);
    }
    if (!(request instanceof Request.Fetch)) {
      cluster.others.add(request);
    }
    if (request instanceof Request.Prepare prepare) {
      return mayRun(prepare.sql()) ? current.prepare(prepare.sql()) : notLeader();
    }
    if (request instanceof Request.Fetch fetch) {
      return node != null && use(node.dropsFetch) ? broken() : current.fetch(fetch, this);
    }
    if (request instanceof Request.CloseCursor close) {
      current.closeCursor(close.cursorId());
      return null;
    }
    if (request instanceof Request.Metadata metadata) {
      return current.metadata(metadata);
    }
    if (request instanceof Request.CloseSession) {
      cluster.sessions.remove(current.id);
      current.close();
    }
    return new Reply.Ok();
  }

  private Reply execute(FakeSession current, Request.Execute execute)
      throws IOException, InterruptedException {
    cluster.received.add(execute);
    return mayRun(execute.sql())
        ? execute(
            current,
            execute.sequence(),
            () -> current.execute(execute, () -> cluster.executed.add(execute)))
        : notLeader();
  }

  private Reply execute(FakeSession current, Request.ExecuteSeries series)
      throws IOException, InterruptedException {
    if (node != null && node.newestVersion < Protocol.SERIES_VERSION) {
      throw new IOException("a series, and the node is too old for one");
    }
    cluster.receivedSeries.add(series);
    return cluster.leads(node)
        ? execute(
            current,
            series.sequence(),
            () -> current.execute(series, () -> cluster.executedSeries.add(series)))
        : notLeader();
  }

  private Reply execute(FakeSession current, long sequence, Supplier<Reply> execution)
      throws IOException, InterruptedException {
    if (node != null && use(node.dropsBefore)) {
      return broken();
    }
    if (node != null && node.dropsAfter.get() == 0 && use(node.busyFor)) {
      return new Reply.Failure(SqlState.BUSY, "too many requests");
    }
    CountDownLatch hold = node == null ? null : node.hold;
    if (hold != null && !current.hold(hold, sequence)) {
      return new Reply.Failure(SqlState.CANCELLED, "the statement was cancelled");
    }
    Reply reply = execution.get();
    if (node != null && use(node.dropsAfter)) {
      if (node.forgetsOnDrop) {
        cluster.forgetSessions();
      }
      if (node.stepsDownOnDrop) {
        cluster.lead(null);
      }
      return broken();
    }
    if (node != null) {
      node.executed();
    }
    return reply;
  }

  private boolean mayRun(String sql) {
    return cluster.leads(node) || (consistency == ReadConsistency.ANY && sql.startsWith("SELECT"));
  }

  private static boolean use(AtomicInteger switchedOn) {
    return switchedOn.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
  }

  private Reply broken() {
    close();
    return null;
  }

  private Reply notLeader() {
    return new Reply.NotLeader(view());
  }

  private Reply.ClusterView view() {
    Reply.ClusterView known = cluster.view();
    return node != null && node.alone ? new Reply.ClusterView(null, known.addresses()) : known;
  }

  void send(long requestId, Reply reply) {
    WireWriter body = new WireWriter();
    reply.write(body);
    try {
      if (node == null || !node.silent) {
        channel.write(new Frame(reply.type(), requestId, 0, body.toByteArray()));
      }
    } catch (IOException e) {
      close();
    }
  }

  void close() {
    channel.close();
  }
}
