package dev.tollgate.transport;

import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.NoTlsException;
import dev.tollgate.tls.TlsSettings;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Frames over a blocking TCP socket, encrypted or not: one write per frame of up to 64 KiB, no
 * frame read in parts by the caller.
 */
final class SocketFrameChannel implements FrameChannel {
  private static final int LENGTH_BYTES = 4;

  private static final int SHOWN_BYTES = 24;
  private static final char DELETE = 0x7F;

  private static final byte TLS_ALERT = 21;
  private static final byte TLS_HANDSHAKE = 22;
  private static final byte TLS_MAJOR_VERSION = 3;

  /**
   * A frame of up to this size is one write. It fits every socket's buffers, so the write returns.
   */
  private static final int CHUNK_BYTES = 64 << 10;

  /** Closing it ends a read and a write at once; a TLS layer would first wait for the writer. */
  private final Socket socket;

  private final @Nullable TlsSocket tls;
  private final boolean unverified;
  private final InputStream in;
  private final OutputStream out;
  private final SendWatch watch;
  private final Timekeeping environment;
  private WireWriter writer = new WireWriter(1024);
  private volatile long lastProgressNanos;
  private int heardBytes;

  /** Received bytes; the bytes from {@code start} to {@code end} are not used yet. */
  private byte[] buffer = new byte[8192];

  private int start;
  private int end;
  private long arrivedBytes;

  private SocketFrameChannel(
      Socket socket,
      @Nullable TlsSocket tls,
      boolean unverified,
      SendWatch watch,
      Timekeeping environment)
      throws IOException {
    this.socket = socket;
    this.tls = tls;
    this.unverified = unverified;
    this.in = tls == null ? socket.getInputStream() : tls.in();
    this.out = tls == null ? socket.getOutputStream() : tls.out();
    this.watch = watch;
    this.environment = environment;
  }

  /** Connects without TLS. */
  static SocketFrameChannel connect(
      NodeAddress address, Duration timeout, SendWatch watch, Timekeeping environment)
      throws IOException {
    return connect(address, new ClusterTls(TlsSettings.OFF), timeout, watch, environment);
  }

  /**
   * Connects, and shakes hands.
   *
   * @param timeout longest time for each of the two
   */
  static SocketFrameChannel connect(
      NodeAddress address,
      ClusterTls tls,
      Duration timeout,
      SendWatch watch,
      Timekeeping environment)
      throws IOException {
    InetSocketAddress resolved = new InetSocketAddress(address.host(), address.port());
    if (resolved.isUnresolved()) {
      throw new UnknownHostException("no address is known for host '" + address.host() + "'");
    }
    SocketThreads.Work<SocketFrameChannel> connecting =
        () -> connect(resolved, address, tls, timeout, watch, environment);
    try {
      return SocketThreads.run(connecting);
    } catch (NoTlsException e) {
      if (!tls.doWithout(address)) {
        throw e;
      }
      return SocketThreads.run(connecting);
    }
  }

  private static SocketFrameChannel connect(
      InetSocketAddress resolved,
      NodeAddress address,
      ClusterTls tls,
      Duration timeout,
      SendWatch watch,
      Timekeeping environment)
      throws IOException {
    Socket socket = new Socket();
    try {
      socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
      socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
      socket.connect(resolved, positiveMillis(timeout));
      TlsSocket secured = tls.secure(socket, address, timeout);
      return new SocketFrameChannel(
          socket, secured, tls.isUnverified(socket, secured), watch, environment);
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  @Override
  public void send(Frame frame) throws IOException {
    SocketThreads.run(
        () -> {
          write(frame);
          return frame;
        });
  }

  private synchronized void write(Frame frame) throws IOException {
    writer.clear();
    frame.writeHeader(writer);
    writer.raw(frame.body(), 0, frame.body().length);
    if (writer.size() <= CHUNK_BYTES) {
      out.write(writer.array(), 0, writer.size());
      return;
    }
    lastProgressNanos = environment.nanos();
    watch.begin(this);
    try {
      for (int sent = 0; sent < writer.size(); sent += CHUNK_BYTES) {
        out.write(writer.array(), sent, Math.min(CHUNK_BYTES, writer.size() - sent));
        lastProgressNanos = environment.nanos();
      }
    } finally {
      watch.end(this);
      writer = new WireWriter(1024);
    }
  }

  /**
   * When the node last took bytes of the frame that is being sent, or reported that some arrived.
   * The operating system buffers megabytes for a slow network, and takes no more until a good part
   * of them is gone. Called by one thread at a time.
   */
  long lastProgressNanos() {
    int waiting = waitingBytes();
    if (waiting != heardBytes) {
      heardBytes = waiting;
      lastProgressNanos = environment.nanos();
    }
    return lastProgressNanos;
  }

  /** Received bytes that no thread has read: a thread that sends does not receive meanwhile. */
  private int waitingBytes() {
    try {
      return in.available();
    } catch (IOException e) {
      return heardBytes;
    }
  }

  @Override
  public Optional<Frame> receive(Duration timeout) throws IOException {
    return SocketThreads.run(() -> read(timeout));
  }

  private Optional<Frame> read(Duration timeout) throws IOException {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (true) {
      int missing = missingBytes();
      if (missing == 0) {
        return Optional.of(takeFrame());
      }
      Duration left = Duration.ofNanos(deadline - System.nanoTime());
      if (left.isNegative() || left.isZero()) {
        return Optional.empty();
      }
      makeRoom(missing);
      socket.setSoTimeout(positiveMillis(left));
      try {
        int count = in.read(buffer, end, buffer.length - end);
        if (count < 0) {
          throw new EOFException("the node closed the connection");
        }
        end += count;
        arrivedBytes += count;
      } catch (SocketTimeoutException e) {
        return Optional.empty();
      }
    }
  }

  @Override
  public long arrivedBytes() {
    return arrivedBytes;
  }

  @Override
  public byte @Nullable [] channelBinding() {
    X509Certificate node = tls == null ? null : tls.peerCertificate();
    return node == null ? null : Certificates.serverEndPoint(node);
  }

  @Override
  public boolean isUnverified() {
    return unverified;
  }

  @Override
  public boolean isVerified() {
    return tls != null && !unverified;
  }

  /** How many bytes are missing to complete the next frame, or its length field. */
  private int missingBytes() throws IOException {
    int have = end - start;
    if (have < LENGTH_BYTES) {
      return LENGTH_BYTES - have;
    }
    return Math.max(0, LENGTH_BYTES + frameLength() - have);
  }

  private int frameLength() throws IOException {
    int length = new WireReader(buffer, start, LENGTH_BYTES).i32();
    if (length < Protocol.HEADER_BYTES || length > Protocol.MAX_FRAME_BYTES) {
      throw new ForeignProtocolException(arrivedText());
    }
    return length;
  }

  private Frame takeFrame() throws IOException {
    int length = frameLength();
    try {
      Frame frame = Frame.read(new WireReader(buffer, start + LENGTH_BYTES, length));
      if (frame.losses() != 0) {
        throw new WireFormatException("a reply with " + frame.losses() + " losses");
      }
      start += LENGTH_BYTES + length;
      if (start == end) {
        start = 0;
        end = 0;
        if (buffer.length > CHUNK_BYTES) {
          buffer = new byte[8192];
        }
      }
      return frame;
    } catch (WireFormatException e) {
      throw new ForeignProtocolException(arrivedText(), e);
    }
  }

  /** The first bytes that arrived, for a reader who knows the protocol to which they belong. */
  private String arrivedText() {
    StringBuilder text = new StringBuilder();
    for (int i = start; i < end && text.length() < SHOWN_BYTES; i++) {
      boolean printable = buffer[i] >= ' ' && buffer[i] < DELETE;
      text.append(printable ? (char) buffer[i] : '.');
    }
    if (isTlsRecord()) {
      return "'" + text + "', which is TLS: set sslMode=verify-full in the URL";
    }
    return "'" + text + "'";
  }

  /** True if an alert or a handshake of TLS came, as from a node that speaks nothing else. */
  private boolean isTlsRecord() {
    return tls == null
        && end - start > 1
        && (buffer[start] == TLS_ALERT || buffer[start] == TLS_HANDSHAKE)
        && buffer[start + 1] == TLS_MAJOR_VERSION;
  }

  /** Makes room at the end of the buffer; it grows only as fast as bytes really arrive. */
  private void makeRoom(int missing) {
    if (start > 0 && buffer.length - end < missing) {
      System.arraycopy(buffer, start, buffer, 0, end - start);
      end -= start;
      start = 0;
    }
    if (end == buffer.length) {
      buffer = Arrays.copyOf(buffer, Math.min(buffer.length * 2, end + missing));
    }
  }

  private static int positiveMillis(Duration timeout) {
    return (int) Math.max(1, Math.min(timeout.toMillis(), Integer.MAX_VALUE));
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // the socket is of no use either way
    }
  }

  @Override
  public String toString() {
    return String.valueOf(socket.getRemoteSocketAddress());
  }
}
