package dev.tollgate.log.peer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireWriter;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.protocol.RaftPeer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection from this node to another one, and the calls that have no answer yet. Answers come
 * in any order. When the connection ends, every call fails, in the order of the calls. Thread-safe.
 */
final class PeerConnection {
  private static final Logger LOG = LoggerFactory.getLogger(PeerConnection.class);

  static final int READ_BUFFER_BYTES = 64 << 10;

  /** Calls that may have no answer; more are not made. Entries need eight, and a few heartbeats. */
  static final int MAX_CALLS = 256;

  /** How often the thread that reads the answers checks for silence, while nothing comes. */
  private static final int CHECK_MILLIS = 100;

  /** Bytes of calls that the other node has yet to read: 64 MiB. */
  private static final long MAX_QUEUED_BYTES = 64L << 20;

  /** A call without an answer. */
  private record Call(CompletableFuture<Frame> answer, long cost, long beganNanos) {}

  /** Returns the bytes of the frame that makes a call. */
  interface Encoder {
    byte[] frame(int call, int answersRead);
  }

  private final PeerSettings settings;
  private final RaftPeer peer;
  private final Socket socket = new Socket();
  private final ConcurrentHashMap<Integer, Call> calls = new ConcurrentHashMap<>();
  private final HelloToPeer hello;
  private final ReentrantLock identity = new ReentrantLock();
  private final AtomicInteger lastCall = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable DataInputStream in;
  private volatile @Nullable FrameWriter writer;
  private volatile @Nullable PeerCredentials said;
  private volatile long heardNanos = System.nanoTime();
  private final AtomicInteger answersRead = new AtomicInteger();
  private volatile @Nullable IOException reason;

  PeerConnection(PeerSettings settings, RaftPeer peer) {
    this.settings = requireNonNull(settings, "settings");
    this.peer = requireNonNull(peer, "peer");
    this.hello = new HelloToPeer(settings.guard(), peer.getId().toString());
  }

  /** Connects, and says who this node is. Waits, but not forever. */
  void open() throws IOException {
    PeerCredentials credentials = settings.guard().credentialsFor(peer.getId().toString());
    PeerSockets.Streams streams = connect(settings, socket, peer);
    DataInputStream input = input(new Answers(streams.in()));
    HelloToPeer.Welcome welcome =
        hello.say(
            socket, streams, input, credentials, /* joining= */ false, PeerSockets.HELLO_MILLIS);
    String node = peer.getId().toString();
    PeerGuard.Refusal refusal = welcome.refusal();
    if (refusal != null) {
      settings.guard().refusedBy(node, refusal, hello.isProvenMember());
      throw new PeerException(refusal.message());
    }
    String doubt = settings.guard().doubt(node, hello.isProven());
    if (doubt != null) {
      throw new PeerException(doubt);
    }
    settings.guard().acceptedBy(node);
    settings.guard().versions().connected(node, this, welcome.version());
    socket.setSoTimeout(CHECK_MILLIS);
    in = input;
    said = credentials;
    heardNanos = System.nanoTime();
    writer =
        new FrameWriter(
            streams.out(),
            socket.getSendBufferSize(),
            MAX_QUEUED_BYTES,
            "tollgate-" + settings.nodeId() + "-writes-to-" + peer.getId(),
            settings.supervision(),
            this::breakOff);
  }

  private static PeerSockets.Streams connect(PeerSettings settings, Socket socket, RaftPeer peer)
      throws IOException {
    InetSocketAddress node = PeerSockets.resolve(peer.getAddress());
    settings.guard().addresses().calls(peer.getId().toString(), node.getAddress());
    return PeerSockets.connect(socket, peer, node, settings.tls());
  }

  private static DataInputStream input(InputStream in) {
    return new DataInputStream(new BufferedInputStream(in, READ_BUFFER_BYTES));
  }

  /**
   * Reads answers, and ends the connection if the node is silent. The thread that reads does this
   * because no caller has to wait until the silence is long enough: Ratis interrupts the threads
   * that ask for votes at the end of each election.
   */
  private final class Answers extends InputStream {
    private final InputStream socketIn;
    private boolean suspected;

    Answers(InputStream socketIn) {
      this.socketIn = socketIn;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    /** After a pause of this process, answers may be there that the second attempt reads. */
    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
      while (true) {
        try {
          int count = socketIn.read(bytes, from, length);
          suspected = false;
          heardNanos = System.nanoTime();
          return count;
        } catch (SocketTimeoutException e) {
          if (writer == null) {
            // there was no hello in time
            throw e;
          }
          boolean silent = isSilent();
          if (silent && suspected) {
            throw new IOException(
                "it has said nothing for "
                    + TimeUnit.NANOSECONDS.toMillis(settings.silenceNanos())
                    + " ms",
                e);
          }
          suspected = silent;
        }
      }
    }
  }

  /** See {@link PeerTransport#askToJoin}. */
  static PeerGuard.@Nullable Refusal askToJoin(PeerSettings settings, RaftPeer peer, int millis)
      throws IOException {
    PeerCredentials credentials = settings.guard().credentialsFor(peer.getId().toString());
    try (Socket socket = new Socket()) {
      PeerSockets.Streams streams = connect(settings, socket, peer);
      socket.setSoTimeout(millis);
      HelloToPeer.Welcome welcome =
          new HelloToPeer(settings.guard(), peer.getId().toString())
              .say(socket, streams, input(streams.in()), credentials, /* joining= */ true, millis);
      return welcome.refusal() != null
          ? welcome.refusal()
          : settings.guard().versions().checkJoining(welcome.version());
    } catch (SocketTimeoutException e) {
      throw new IOException("silent for " + millis + " ms", e);
    }
  }

  /**
   * Makes a call, and does not wait.
   *
   * @return completed by the thread that reads the answers; exceptionally if the call failed, was
   *     refused, or has no answer when the connection ends
   */
  CompletableFuture<Frame> call(Encoder encoder) {
    FrameWriter frames = requireNonNull(writer, "a connection is opened first");
    sayWhoThisIs(frames);
    return send(frames, encoder);
  }

  private CompletableFuture<Frame> send(FrameWriter frames, Encoder encoder) {
    if (calls.size() >= MAX_CALLS) {
      return CompletableFuture.failedFuture(
          new IOException(calls.size() + " calls wait for an answer of node " + peer.getId()));
    }
    int id = lastCall.incrementAndGet();
    byte[] frame = encoder.frame(id, answersRead.get());
    Call call = new Call(new CompletableFuture<>(), FrameWriter.cost(frame), System.nanoTime());
    calls.put(id, call);
    try {
      frames.write(frame);
    } catch (IOException e) {
      breakOff(e);
    }
    if (closed.get() && calls.remove(id) != null) {
      call.answer().completeExceptionally(new IOException("the connection has ended"));
    }
    return call.answer();
  }

  /** Asks the node for its term, which it answers at once whatever it is busy with. */
  CompletableFuture<Frame> term() {
    return call((call, read) -> Frame.of(Frame.Kind.TERM, call, read, new WireWriter(0)));
  }

  /**
   * Says so if this node, or the other, is known by more than at the hello, before the next call.
   */
  private void sayWhoThisIs(FrameWriter frames) {
    if (settings.guard().credentialsFor(peer.getId().toString()).equals(said)) {
      return;
    }
    identity.lock();
    try {
      PeerCredentials now = settings.guard().credentialsFor(peer.getId().toString());
      if (!now.equals(said)) {
        byte[] bytes = now.toBytes();
        settings
            .supervision()
            .watch(
                "the proof of another node",
                send(
                        frames,
                        (call, read) ->
                            Frame.of(Frame.Kind.IDENTITY, call, read, hello.identity(bytes)))
                    .handle((answer, failure) -> heard(bytes, answer)));
        said = now;
      }
    } finally {
      identity.unlock();
    }
  }

  /** Ends a connection to a node that has to prove who it is by now, and does not. */
  private @Nullable Void heard(byte[] credentials, @Nullable Frame answer) {
    @Nullable String doubt = "it does not take new credentials";
    if (answer != null) {
      try {
        hello.hear(credentials, ClusterProof.read(answer.body()));
        doubt = settings.guard().doubt(peer.getId().toString(), hello.isProven());
      } catch (WireFormatException e) {
        doubt = "a proof that cannot be read: " + e.getMessage();
      }
    }
    if (doubt != null) {
      breakOff(new IOException(doubt));
    }
    return null;
  }

  /** Reads answers until the connection ends; returns why it has ended. */
  IOException readAnswers() {
    try {
      while (true) {
        answered(Frame.read(requireNonNull(in), settings.maxFrameBytes()));
      }
    } catch (IOException e) {
      IOException why = reason;
      if (why == null) {
        why = e instanceof EOFException ? new IOException("that node has ended it", e) : e;
      }
      close(why);
      return why;
    }
  }

  private void answered(Frame frame) throws IOException {
    Call call = calls.remove(frame.call());
    if (call == null) {
      throw new ProtocolException("an answer to a call that nobody has made");
    }
    answersRead.incrementAndGet();
    requireNonNull(writer).read(call.cost());
    String node = peer.getId().toString();
    settings.clocks().said(node, frame.wallMicros(), call.beganNanos());
    switch (frame.kind()) {
      case DONE -> {
        settings.guard().acceptedBy(node);
        call.answer().complete(frame);
      }
      case FAILED -> call.answer().completeExceptionally(new PeerException(text(frame)));
      case REFUSED -> {
        PeerGuard.Refusal refusal = HelloToPeer.refusal(frame);
        settings.guard().refusedBy(node, refusal, hello.isProvenMember());
        call.answer().completeExceptionally(new PeerException(refusal.message()));
      }
      default -> {
        ProtocolException strange = new ProtocolException("an answer of kind " + frame.kind());
        call.answer().completeExceptionally(strange);
        throw strange;
      }
    }
  }

  private static String text(Frame frame) throws ProtocolException {
    try {
      return frame.body().string();
    } catch (WireFormatException e) {
      throw new ProtocolException("a text that cannot be read: " + e.getMessage());
    }
  }

  /** True if calls have had no answer for long, and nothing else has come or gone meanwhile. */
  private boolean isSilent() {
    long silence = settings.silenceNanos();
    long now = System.nanoTime();
    long quiet = Math.min(now - heardNanos, now - requireNonNull(writer).wroteNanos());
    return quiet > silence
        && calls.values().stream().anyMatch(call -> now - call.beganNanos() > silence);
  }

  boolean isClosed() {
    return closed.get() || writer == null;
  }

  /** Has the thread that reads the answers end the connection. Does not wait for that. */
  void breakOff(IOException why) {
    reason = why;
    closeSocket();
  }

  private void closeSocket() {
    try {
      socket.close();
    } catch (IOException e) {
      LOG.debug("{}: the socket to {} did not close", settings.nodeId(), peer.getId(), e);
    }
  }

  /**
   * Ends the connection, on the thread that opened it. Whoever waits for an answer is told in the
   * order of the calls.
   */
  void close(IOException why) {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    settings.guard().versions().disconnected(peer.getId().toString(), this);
    // first the socket: a thread that writes has the lock of the writer
    closeSocket();
    FrameWriter frames = writer;
    if (frames != null) {
      frames.close();
    }
    SortedMap<Integer, Call> unanswered = new TreeMap<>(calls);
    for (Integer id : unanswered.keySet()) {
      Call call = calls.remove(id);
      if (call != null) {
        call.answer().completeExceptionally(why);
      }
    }
  }
}
