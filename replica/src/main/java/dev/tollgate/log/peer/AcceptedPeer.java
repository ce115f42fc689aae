package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.NoTlsException;
import dev.tollgate.tls.TlsException;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.JavaUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection from another node to this one. Its thread carries out the calls one after the other,
 * but does not wait for the disk: a call that has to wait goes to a second thread, and so do the
 * calls with entries behind it. So heartbeats are answered meanwhile.
 */
final class AcceptedPeer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AcceptedPeer.class);

  /** Calls under way; a node that makes more does not keep to the protocol. */
  static final int MAX_CALLS = PeerConnection.MAX_CALLS;

  /** Bytes of calls that wait for the log, 64 MiB: a leader has 32 MiB and an entry under way. */
  private static final long MAX_DELAYED_BYTES = 64L << 20;

  /** More than an answer takes of the send buffer; texts in answers are cut. */
  private static final long ANSWER_COST = 2 << 10;

  private static final String SAME_TLS =
      "All nodes of a cluster have to be started with the same --tls-peers, and each with a"
          + " certificate";

  private static final long IDLE_SECONDS = 10;

  /** What this connection belongs to. */
  interface Owner {
    /** A node has said who it is, and is accepted; its connection before is of no more use. */
    void accepted(AcceptedPeer peer, String nodeId);

    /** The other side does not keep to the protocol. */
    void misbehaved(String from, String how);

    /**
     * The connection has ended.
     *
     * @param nodeId null if the other side has not said who it is
     */
    void ended(AcceptedPeer peer, @Nullable String nodeId) throws InterruptedException;
  }

  private final PeerSettings settings;
  private final RaftServer server;
  private final Socket socket;
  private final Owner owner;
  private final Semaphore free = new Semaphore(MAX_CALLS);
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CompletableFuture<Void> greeted = new CompletableFuture<>();
  private final AtomicInteger delayed = new AtomicInteger();
  private final AtomicLong delayedBytes = new AtomicLong();
  private @Nullable ThreadPoolExecutor delay;
  private volatile @Nullable FrameWriter writer;
  private @Nullable HelloOfPeer sender;
  private final AtomicInteger answered = new AtomicInteger();
  private int answersRead;
  private final LeadersState states;

  /** What the last part of a snapshot takes of the send buffer, besides what an answer takes. */
  private long partCost;

  AcceptedPeer(PeerSettings settings, RaftServer server, Socket socket, Owner owner) {
    this.settings = requireNonNull(settings, "settings");
    this.server = requireNonNull(server, "server");
    this.socket = requireNonNull(socket, "socket");
    this.owner = requireNonNull(owner, "owner");
    this.states = new LeadersState(settings, server);
  }

  /** Completes once the other side has said who it is, or the connection has ended. */
  CompletableFuture<Void> greeted() {
    return greeted;
  }

  /** Serves the connection until it ends. */
  void serve() {
    try {
      carryOutAll();
      owner.ended(this, sender == null ? null : sender.credentials().from());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void carryOutAll() throws InterruptedException {
    String from = String.valueOf(socket.getRemoteSocketAddress());
    try {
      PeerSockets.configure(socket);
      PeerSockets.Streams streams = PeerSockets.accept(socket, settings.tls());
      DataInputStream in =
          new DataInputStream(
              new BufferedInputStream(streams.in(), PeerConnection.READ_BUFFER_BYTES));
      if (hello(streams, in)) {
        from = requireNonNull(sender).credentials().from();
        while (true) {
          carryOut(Frame.read(in, settings.maxFrameBytes()));
        }
      }
    } catch (EOFException e) {
      LOG.debug("{}: {} has ended its connection", settings.nodeId(), from);
    } catch (NoTlsException e) {
      owner.misbehaved(from, "it speaks without TLS. " + SAME_TLS);
      refusePlainly();
    } catch (ProtocolException | WireFormatException | TlsException e) {
      owner.misbehaved(from, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      LOG.debug("{}: the connection of {} has broken", settings.nodeId(), from, e);
    } finally {
      close();
    }
  }

  /** Tells a node without TLS why it is refused, in the way that it understands. */
  private void refusePlainly() {
    try {
      socket.getOutputStream().write(Frame.PREFACE);
      socket
          .getOutputStream()
          .write(
              Frame.refused(
                  0,
                  new PeerGuard.Refusal(
                      PeerGuard.Reason.UNNAMED_CLUSTER,
                      "node " + settings.nodeId() + " speaks TLS alone. " + SAME_TLS)));
    } catch (IOException e) {
      LOG.debug("{}: a node without TLS is gone", settings.nodeId(), e);
    }
  }

  /** False if the other side is refused, or has only asked whether this node can be added. */
  private boolean hello(PeerSockets.Streams streams, DataInputStream in) throws IOException {
    PeerGuard guard = settings.guard();
    HelloOfPeer hello = HelloOfPeer.hear(streams, in, guard.self(), socket.getInetAddress());
    PeerGuard.Refusal refusal = hello.isJoining() ? guard.checkJoining(hello) : guard.check(hello);
    if (refusal != null) {
      streams.out().write(Frame.refused(0, refusal));
      return false;
    }
    byte[] welcome =
        Frame.of(Frame.Kind.DONE, 0, 0, guard.versions().own().write(new WireWriter(64)));
    if (hello.isJoining()) {
      streams.out().write(welcome);
      return false;
    }
    String from = hello.credentials().from();
    sender = hello;
    socket.setSoTimeout(0);
    writer =
        new FrameWriter(
            streams.out(),
            socket.getSendBufferSize(),
            MAX_CALLS * ANSWER_COST,
            "tollgate-" + settings.nodeId() + "-answers-" + from,
            settings.supervision(),
            e -> close());
    guard.addresses().calledBy(from, socket.getInetAddress());
    // before the welcome: of two connections of a node the later one replaces the earlier
    owner.accepted(this, from);
    greeted.complete(null);
    streams.out().write(welcome);
    return true;
  }

  private void carryOut(Frame frame) throws IOException, InterruptedException {
    answersWereRead(frame.answersRead());
    if (!free.tryAcquire()) {
      throw new ProtocolException("more than " + MAX_CALLS + " calls without an answer");
    }
    HelloOfPeer caller = requireNonNull(sender);
    if (frame.kind() == Frame.Kind.IDENTITY) {
      answer(Frame.of(Frame.Kind.DONE, frame.call(), 0, caller.renew(frame.body())));
      return;
    }
    PeerGuard.Refusal refusal = settings.guard().check(caller);
    if (refusal != null) {
      answer(Frame.refused(frame.call(), refusal));
      return;
    }
    switch (frame.kind()) {
      case APPEND -> append(frame);
      case SNAPSHOT -> installSnapshot(frame);
      case VOTE -> vote(frame);
      case ELECTION ->
          answer(
              frame,
              () -> {
                settings.requireCaughtUp();
                return server.startLeaderElection(
                    StartLeaderElectionRequestProto.parseFrom(frame.message()));
              });
      case TERM ->
          answer(
              Frame.of(
                  Frame.Kind.DONE,
                  frame.call(),
                  0,
                  new WireWriter(Long.BYTES).i64(settings.service().term())));
      case FORWARD -> forward(frame);
      case LOST -> answerLost(frame);
      case STATE, STATE_PART -> later(frame, () -> answerState(frame));
      default -> throw new ProtocolException("a call of kind " + frame.kind());
    }
  }

  /** Threads of the other node may have counted in another order than they have sent. */
  private void answersWereRead(int count) throws ProtocolException {
    int more = count - answersRead;
    if (more > answered.get() - answersRead) {
      throw new ProtocolException("answers were read that were not given");
    }
    if (more > 0) {
      answersRead = count;
      requireNonNull(writer).read(more * ANSWER_COST);
    }
  }

  /** What Ratis does at once. */
  private interface Work {
    MessageLite run() throws IOException;
  }

  private void answer(Frame frame, Work work) {
    byte[] answer;
    try {
      answer = Frame.of(Frame.Kind.DONE, frame.call(), 0, work.run());
    } catch (IOException | RuntimeException e) {
      answer = failed(frame, e);
    }
    answer(answer);
  }

  private byte[] failed(Frame frame, Throwable failure) {
    Throwable cause = JavaUtils.unwrapCompletionException(failure);
    LOG.debug("{}: a call of kind {} failed", settings.nodeId(), frame.kind(), cause);
    return Frame.failed(frame.call(), String.valueOf(cause.getMessage()));
  }

  private void answer(byte[] answer) {
    answer(answer, ANSWER_COST);
  }

  private void answer(byte[] answer, long cost) {
    Frame.stamp(answer, settings.clocks().ownMicros());
    free.release();
    answered.incrementAndGet();
    try {
      requireNonNull(writer).write(answer, cost);
    } catch (IOException e) {
      close();
    }
  }

  private void vote(Frame frame) throws IOException {
    RequestVoteRequestProto request = RequestVoteRequestProto.parseFrom(frame.message());
    settings.requireReachable(request.getCandidateTerm());
    answer(frame, () -> settings.service().vote(request, server::requestVote));
  }

  private void append(Frame frame) throws IOException {
    AppendEntriesRequestProto request = AppendEntriesRequestProto.parseFrom(frame.message());
    settings.requireReachable(request.getLeaderTerm());
    PeerService.Receiver receiver = checked -> begin(frame, checked);
    PeerService service = settings.service();
    // a heartbeat waits for nothing, and overtakes what waits
    if ((request.getEntriesCount() == 0 || delayed.get() == 0)
        && service.tryAppend(request, receiver)) {
      return;
    }
    later(
        frame,
        () -> {
          try {
            service.append(request, closed::get, receiver);
          } catch (IOException e) {
            answer(failed(frame, e));
          }
        });
  }

  private CompletableFuture<?> begin(Frame frame, AppendEntriesRequestProto request) {
    CompletableFuture<AppendEntriesReplyProto> reply;
    try {
      reply = server.appendEntriesAsync(request);
    } catch (IOException | RuntimeException e) {
      reply = CompletableFuture.failedFuture(e);
    }
    settings
        .supervision()
        .watch(
            "the answer to a leader",
            reply.handle(
                (done, failure) -> {
                  if (failure == null) {
                    answer(frame, () -> settings.service().answer(request, done));
                  } else {
                    answer(failed(frame, failure));
                  }
                  return null;
                }));
    return reply;
  }

  private void answerLost(Frame frame) {
    WireReader body = frame.body();
    long term = body.i64();
    long logIndex = body.i64();
    String leader = requireNonNull(sender).credentials().from();
    boolean lost;
    try {
      lost = settings.service().hasLost(leader, term, logIndex);
    } catch (RuntimeException e) {
      answer(failed(frame, e));
      return;
    }
    if (lost) {
      settings.guard().lost(logIndex);
    }
    answer(Frame.of(Frame.Kind.DONE, frame.call(), 0, new WireWriter(1).flag(lost)));
  }

  private void installSnapshot(Frame frame) throws IOException {
    InstallSnapshotRequestProto request = InstallSnapshotRequestProto.parseFrom(frame.message());
    settings.requireReachable(request.getLeaderTerm());
    later(
        frame,
        () ->
            answer(
                frame, () -> settings.service().installSnapshot(request, server::installSnapshot)));
  }

  /** Runs work that may wait, in the order in which it came. */
  private void later(Frame frame, Runnable work) throws ProtocolException {
    if (delayedBytes.addAndGet(frame.size()) > MAX_DELAYED_BYTES) {
      throw new ProtocolException(delayedBytes.get() + " bytes that wait for the log");
    }
    ThreadPoolExecutor thread = delay;
    if (thread == null) {
      thread =
          new ThreadPoolExecutor(
              1,
              1,
              IDLE_SECONDS,
              TimeUnit.SECONDS,
              new LinkedBlockingQueue<>(),
              settings
                  .supervision()
                  .threads("tollgate-" + settings.nodeId() + "-waits-for-the-log"));
      thread.allowCoreThreadTimeOut(true);
      delay = thread;
    }
    delayed.incrementAndGet();
    thread.execute(
        () -> {
          try {
            if (!closed.get()) {
              work.run();
            }
          } finally {
            delayed.decrementAndGet();
            delayedBytes.addAndGet(-frame.size());
          }
        });
  }

  private void answerState(Frame frame) {
    byte[] answer;
    try {
      answer = states.answer(frame);
    } catch (IOException | RuntimeException e) {
      answer = failed(frame, e);
    }
    long cost = Math.max(ANSWER_COST, FrameWriter.cost(answer));
    // the other side asks for one part after the other, so it has read the part before
    requireNonNull(writer).read(partCost);
    partCost = cost - ANSWER_COST;
    answer(answer, cost);
  }

  /** Has Ratis append a command of another node, if this one leads. */
  private void forward(Frame frame) {
    settings
        .supervision()
        .watch(
            "a command of another node",
            ForwardedCommand.read(frame.body())
                .submitFrom(requireNonNull(sender).credentials().from(), server, settings.group())
                .handle(
                    (rejection, failure) -> {
                      answer(
                          failure == null
                              ? Frame.of(
                                  Frame.Kind.DONE,
                                  frame.call(),
                                  0,
                                  new WireWriter(64).nullableString(rejection))
                              : failed(frame, failure));
                      return null;
                    }));
  }

  @Override
  public void close() {
    greeted.complete(null);
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    // first the socket: a thread that writes has the lock of the writer
    try {
      socket.close();
    } catch (IOException e) {
      LOG.debug("{}: a socket did not close", settings.nodeId(), e);
    }
    FrameWriter frames = writer;
    if (frames != null) {
      frames.close();
    }
  }
}
