package dev.tollgate.fake;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** One node of a {@link FakeCluster}, on a port of the loopback interface, with its switches. */
public final class FakeNode implements AutoCloseable {
  private final FakeCluster cluster;
  private final int index;
  private final Set<FakeConversation> conversations = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile ServerSocket server;
  private volatile int port;

  /** The next Execute is not carried out: the connection breaks. */
  final AtomicInteger dropsBefore = new AtomicInteger();

  /** The next Execute is carried out and not answered: the connection breaks. */
  final AtomicInteger dropsAfter = new AtomicInteger();

  /** The next Execute is refused, as the node has no room for it. */
  final AtomicInteger busyFor = new AtomicInteger();

  /** The next Fetch is not answered: the connection breaks. */
  final AtomicInteger dropsFetch = new AtomicInteger();

  /** How many statements are carried out before something happens. */
  private final AtomicInteger statementsBefore = new AtomicInteger();

  private volatile Runnable afterStatements = () -> {};

  volatile boolean forgetsOnAttach;
  volatile boolean forgetsOnDrop;
  volatile boolean stepsDownOnDrop;
  volatile boolean silent;
  volatile boolean deceives;
  volatile boolean deaf;
  volatile boolean alone;
  volatile boolean ignoresHeartbeats;
  volatile boolean ignoresCancellations;
  volatile Reply.Failure refusal;
  volatile Reply.Failure turnedAway;
  volatile int newestVersion = Protocol.VERSION;
  private volatile long lastTerm = Long.MAX_VALUE;
  private volatile String reachedAt;
  volatile CountDownLatch hold;
  volatile CountDownLatch heartbeatHold;
  private volatile CountDownLatch helloHold;
  private final AtomicInteger greeting = new AtomicInteger();
  private final AtomicInteger mostGreeting = new AtomicInteger();

  FakeNode(FakeCluster cluster, int index) throws IOException {
    this.cluster = cluster;
    this.index = index;
    start();
  }

  FakeCluster cluster() {
    return cluster;
  }

  String id() {
    return "node" + index;
  }

  /** The term of which this node knows. */
  long term() {
    return Math.min(lastTerm, cluster.term());
  }

  public String address() {
    return reachedAt == null ? "127.0.0.1:" + port : reachedAt;
  }

  /** What the cluster says where this node is. */
  void reachedAt(String address) {
    reachedAt = address;
  }

  /** A connection to the node, whatever the cluster says where it is. */
  Socket dial() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), port);
  }

  /** Listens, on the same port as before if it was stopped. */
  public void start() throws IOException {
    ServerSocket socket = bind(port);
    port = socket.getLocalPort();
    server = socket;
    Thread thread = new Thread(() -> accept(socket), "fake-node-" + index);
    thread.setDaemon(true);
    thread.start();
  }

  /** A connection that a client makes may have this port for a moment. */
  private static ServerSocket bind(int port) throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        return new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
      } catch (BindException e) {
        if (attempt == 500) {
          throw e;
        }
        LockSupport.parkNanos(10_000_000);
      }
    }
  }

  private void accept(ServerSocket socket) {
    while (true) {
      try {
        Socket client = socket.accept();
        if (socket.isClosed()) {
          // the system may hand one over while the port is being closed
          client.close();
          return;
        }
        client.setTcpNoDelay(true);
        accepted.incrementAndGet();
        serve(new FakeChannel.OverSocket(client, () -> deaf));
      } catch (IOException e) {
        return;
      }
    }
  }

  private void serve(FakeChannel channel) {
    FakeConversation conversation = new FakeConversation(cluster, this, channel);
    conversations.add(conversation);
    if (turnedAway != null) {
      conversation.send(0, turnedAway);
    }
    conversation.start(() -> conversations.remove(conversation));
  }

  /** Dies: the port is closed and connections break. */
  public void stop() throws IOException {
    server.close();
    conversations.forEach(FakeConversation::close);
  }

  @Override
  public void close() {
    try {
      stop();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  public void dropBeforeExecuting(int times) {
    dropsBefore.set(times);
  }

  public void beBusyAfterDrop(int times) {
    busyFor.set(times);
  }

  public void dropAfterExecuting(int times) {
    dropsAfter.set(times);
  }

  /** Has something happen when so many statements more were carried out, before the answer. */
  public void afterExecuting(int statements, Runnable work) {
    afterStatements = work;
    statementsBefore.set(statements);
  }

  void executed() {
    if (statementsBefore.getAndUpdate(n -> Math.max(0, n - 1)) == 1) {
      afterStatements.run();
    }
  }

  /** Where a connection breaks after a statement was carried out, the sessions are gone too. */
  public void loseSessionsAfterDrop(boolean on) {
    forgetsOnDrop = on;
  }

  /** Sessions end right after they were attached. */
  public void forgetSessionsOnAttach(boolean on) {
    forgetsOnAttach = on;
  }

  /** Where a connection breaks after a statement was carried out, nobody leads any more. */
  public void stepDownAfterDrop(boolean on) {
    stepsDownOnDrop = on;
  }

  public void dropInsteadOfFetching(int times) {
    dropsFetch.set(times);
  }

  /** Says that a login is done, and proves nothing. */
  public void deceive(boolean on) {
    deceives = on;
  }

  /** Reads and says nothing any more, not even to Ping: as if the process were stopped. */
  public void fallSilent(boolean on) {
    silent = on;
  }

  /** Does not even read any more, so that the buffers in between fill up. */
  public void goDeaf(boolean on) {
    deaf = on;
  }

  /** Hears no other node: it does not know who leads. */
  public void isolate() {
    alone = true;
    lastTerm = cluster.term();
  }

  /** Speaks no later version of the protocol from now on. */
  public void beOfVersion(int version) {
    newestVersion = version;
  }

  public void ignoreHeartbeats(boolean on) {
    ignoresHeartbeats = on;
  }

  /** Heartbeats are acknowledged when the latch opens. */
  public CountDownLatch holdHeartbeats() {
    heartbeatHold = new CountDownLatch(1);
    return heartbeatHold;
  }

  /** Hello is answered when {@link #releaseHellos} is called. */
  public void holdHellos() {
    helloHold = new CountDownLatch(1);
  }

  public void releaseHellos() {
    CountDownLatch latch = helloHold;
    helloHold = null;
    latch.countDown();
  }

  void greet() throws InterruptedException {
    int now = greeting.incrementAndGet();
    mostGreeting.accumulateAndGet(now, Math::max);
    CountDownLatch latch = helloHold;
    if (latch != null) {
      latch.await();
    }
    greeting.decrementAndGet();
  }

  /** How many connections wait for the answer to hello. */
  public int greeting() {
    return greeting.get();
  }

  /** How many ever did at the same time. */
  public int mostGreeting() {
    return mostGreeting.get();
  }

  public void ignoreCancellations(boolean on) {
    ignoresCancellations = on;
  }

  /** Answers hello with this from now on. */
  public void refuse(Reply.Failure failure) {
    refusal = failure;
  }

  /** Says this to whoever connects, without waiting for hello. */
  public void turnAway(Reply.Failure failure) {
    turnedAway = failure;
  }

  /** Statements wait, as for a lock, until the latch opens or they are cancelled. */
  public CountDownLatch holdStatements() {
    hold = new CountDownLatch(1);
    return hold;
  }

  /** Statements wait no more. */
  public void holdNothing() {
    hold = null;
  }

  /** Lets those go on that wait, and later ones too. */
  public void release() {
    CountDownLatch latch = hold;
    hold = null;
    latch.countDown();
  }

  void tellLost(List<Long> sessions, List<Long> leases) {
    conversations.forEach(c -> c.send(0, new Reply.Lost(sessions, leases)));
  }

  void tell(Reply.LocksLost event) {
    conversations.forEach(c -> c.send(0, event));
  }

  void tellLeader() {
    conversations.forEach(FakeConversation::tellLeader);
  }

  /** Whether a client waits here for news of the leader. */
  public boolean isWatched() {
    return conversations.stream().anyMatch(FakeConversation::isWatched);
  }

  /** Sends this to whoever waits here for news of the leader, as if it were news. */
  public void tell(Reply.Leader leader) {
    conversations.forEach(c -> c.tellLeader(leader));
  }

  /** How many connections were ever made to this node. */
  public int accepted() {
    return accepted.get();
  }

  public int openConnections() {
    return conversations.size();
  }

  /** Breaks all connections and goes on. */
  public void breakConnections() {
    conversations.forEach(FakeConversation::close);
  }
}
