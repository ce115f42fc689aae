package dev.tollgate.tls;

import static java.util.Objects.requireNonNull;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;

/**
 * TLS over a connected blocking socket. One thread at a time reads, any thread writes. Whoever
 * closes the connection closes the socket below, which ends both at once.
 *
 * <p>An SSLSocket of the JDK would do, but for this: its handshake has no deadline, its close()
 * waits for a writer that is stuck, it reads each record with two calls, and it does not tell what
 * bytes came in place of TLS.
 */
public final class TlsSocket {
  private static final int FIRST_RECORD_TYPE = 20;
  private static final int LAST_RECORD_TYPE = 23;
  private static final int HANDSHAKE_RECORD = 22;
  private static final int SHOWN_BYTES = 24;

  /** What is written at once, as records of up to 16 KiB: one write for one frame. */
  private static final int MAX_BATCH_BYTES = 80 << 10;

  private final Socket socket;
  private final SSLEngine engine;
  private final String other;
  private final InputStream rawIn;
  private final OutputStream rawOut;
  private final ReentrantLock writing = new ReentrantLock();
  private final InputStream in = new Decrypted();
  private final OutputStream out = new Encrypted();

  /** Bytes that came and are not decrypted yet, ready to be read. */
  private ByteBuffer received;

  /** Decrypted bytes, ready to be read. */
  private ByteBuffer plain;

  private ByteBuffer records;
  private boolean anythingCame;

  private TlsSocket(Socket socket, SSLEngine engine, String other) throws IOException {
    this.socket = requireNonNull(socket, "socket");
    this.engine = requireNonNull(engine, "engine");
    this.other = requireNonNull(other, "other");
    this.rawIn = socket.getInputStream();
    this.rawOut = socket.getOutputStream();
    int record = engine.getSession().getPacketBufferSize();
    this.received = ByteBuffer.allocate(2 * record).flip();
    this.plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).flip();
    this.records = ByteBuffer.allocate(record);
  }

  /**
   * Shakes hands. Afterwards the socket has the timeout that it had before.
   *
   * @param other the other side, for messages
   * @param millis the longest time for all of it, however slowly bytes come
   * @throws TlsException if the two sides do not agree
   * @throws IOException if the connection breaks, or the time is over
   */
  public static TlsSocket handshake(Socket socket, SSLEngine engine, String other, long millis)
      throws IOException {
    TlsSocket tls = new TlsSocket(socket, engine, other);
    int timeout = socket.getSoTimeout();
    tls.handshake(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis));
    socket.setSoTimeout(timeout);
    return tls;
  }

  private void handshake(long deadlineNanos) throws IOException {
    try {
      engine.beginHandshake();
      HandshakeStatus status = engine.getHandshakeStatus();
      while (status != HandshakeStatus.FINISHED && status != HandshakeStatus.NOT_HANDSHAKING) {
        status = step(status, deadlineNanos);
      }
      // a server says more to a client of TLS 1.3: what it needs to begin another session
      if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
        writeHandshake();
      }
    } catch (SSLException e) {
      sayWhy();
      throw TlsException.of(e, other);
    }
  }

  private HandshakeStatus step(HandshakeStatus status, long deadlineNanos) throws IOException {
    return switch (status) {
      case NEED_TASK -> runTasks();
      case NEED_WRAP -> writeHandshake();
      default -> {
        SSLEngineResult result = unwrap();
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
          throw new EOFException(other + " ended the handshake");
        }
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
          limitWait(deadlineNanos);
          if (!receive()) {
            throw new EOFException(other + " closed the connection during the TLS handshake");
          }
        }
        yield result.getHandshakeStatus();
      }
    };
  }

  private void limitWait(long deadlineNanos) throws IOException {
    long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    if (left <= 0) {
      throw new SocketTimeoutException(other + " did not finish the TLS handshake in time");
    }
    socket.setSoTimeout((int) Math.min(left, Integer.MAX_VALUE));
  }

  private HandshakeStatus runTasks() {
    for (Runnable task = engine.getDelegatedTask(); task != null; ) {
      task.run();
      task = engine.getDelegatedTask();
    }
    return engine.getHandshakeStatus();
  }

  /** Sends what the engine has to say besides data. */
  private HandshakeStatus writeHandshake() throws IOException {
    writing.lock();
    try {
      HandshakeStatus status = HandshakeStatus.NEED_WRAP;
      while (status == HandshakeStatus.NEED_WRAP) {
        records.clear();
        SSLEngineResult result = engine.wrap(ByteBuffer.allocate(0), records);
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
          growRecords(2 * records.capacity());
          continue;
        }
        rawOut.write(records.array(), 0, records.position());
        status = result.getHandshakeStatus();
        if (result.bytesProduced() == 0) {
          break;
        }
      }
      return status;
    } finally {
      writing.unlock();
    }
  }

  /** Sends the alert that tells the other side why this one gives up, or that it ends too. */
  private void sayWhy() {
    try {
      if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
        writeHandshake();
      }
    } catch (IOException e) {
      // it is gone, or has said why itself
    }
  }

  private SSLEngineResult unwrap() throws IOException {
    plain.clear();
    try {
      SSLEngineResult result = engine.unwrap(received, plain);
      while (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
        plain = ByteBuffer.allocate(2 * plain.capacity());
        result = engine.unwrap(received, plain);
      }
      return result;
    } finally {
      plain.flip();
    }
  }

  /** Waits for more bytes; false if none will come. A timeout loses nothing. */
  private boolean receive() throws IOException {
    received.compact();
    try {
      if (!received.hasRemaining()) {
        received = ByteBuffer.allocate(2 * received.capacity()).put(received.flip());
      }
      int count = rawIn.read(received.array(), received.position(), received.remaining());
      if (count < 0) {
        return false;
      }
      received.position(received.position() + count);
    } finally {
      received.flip();
    }
    if (!anythingCame && received.hasRemaining()) {
      anythingCame = true;
      requireTls();
    }
    return true;
  }

  private void requireTls() throws TlsException {
    int type = received.get(received.position());
    if (type < FIRST_RECORD_TYPE || type > LAST_RECORD_TYPE) {
      StringBuilder text = new StringBuilder();
      for (int i = received.position(); i < received.limit() && text.length() < SHOWN_BYTES; i++) {
        char c = (char) received.get(i);
        text.append(c >= ' ' && c < 0x7F ? c : '.');
      }
      throw new NoTlsException(other + " does not speak TLS, but sent '" + text + "'");
    }
  }

  /**
   * Refuses another handshake, which TLS 1.2 allows: its certificates would not be those that were
   * looked at, and each costs this side a signature. What comes begins with a whole record.
   */
  private void requireNoRenegotiation() throws IOException {
    if (received.hasRemaining()
        && received.get(received.position()) == HANDSHAKE_RECORD
        && engine.getSession().getProtocol().equals("TLSv1.2")) {
      socket.close();
      throw new TlsException(other + " wants to renegotiate TLS, which is refused");
    }
  }

  private void growRecords(int bytes) {
    ByteBuffer larger = ByteBuffer.allocate(bytes);
    larger.put(records.flip());
    records = larger;
  }

  /**
   * Says that this side sends nothing more, and goes on reading (RFC 8446, 6.1).
   *
   * @throws IOException if the connection breaks
   */
  public void endOutput() throws IOException {
    engine.closeOutbound();
    writeHandshake();
  }

  /**
   * True once the other side has said that it sends nothing more. Without that, the end of the
   * bytes is only that of a connection, which anybody on the way can make.
   */
  public boolean isEndedByOther() {
    return engine.isInboundDone();
  }

  /** Returns the decrypted bytes. A read ends by the timeout of the socket, and loses nothing. */
  public InputStream in() {
    return in;
  }

  /** Returns where to write. What one call writes goes out in as few records as it fits in. */
  public OutputStream out() {
    return out;
  }

  /** The certificate of the other side, or null if it has shown none. */
  public @Nullable X509Certificate peerCertificate() {
    return peerCertificate(engine);
  }

  /** The certificate that the other side has shown to this engine, or null. */
  public static @Nullable X509Certificate peerCertificate(SSLEngine engine) {
    try {
      return first(engine.getSession().getPeerCertificates());
    } catch (SSLPeerUnverifiedException e) {
      return null;
    }
  }

  /** The certificate that this engine has shown, or null. */
  public static @Nullable X509Certificate ownCertificate(SSLEngine engine) {
    return first(engine.getSession().getLocalCertificates());
  }

  private static @Nullable X509Certificate first(Certificate @Nullable [] chain) {
    return chain != null && chain.length > 0 && chain[0] instanceof X509Certificate own
        ? own
        : null;
  }

  private final class Decrypted extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      while (!plain.hasRemaining()) {
        if (!decrypt()) {
          return -1;
        }
      }
      int count = Math.min(length, plain.remaining());
      plain.get(to, offset, count);
      return count;
    }

    private boolean decrypt() throws IOException {
      requireNoRenegotiation();
      try {
        SSLEngineResult result = unwrap();
        if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
          runTasks();
        }
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
          sayWhy();
          return false;
        }
        if (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
          writeHandshake();
        }
        return result.getStatus() != SSLEngineResult.Status.BUFFER_UNDERFLOW || receive();
      } catch (SSLException e) {
        throw TlsException.of(e, other);
      }
    }

    @Override
    public int available() throws IOException {
      return plain.remaining() + rawIn.available();
    }
  }

  private final class Encrypted extends OutputStream {
    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
      ByteBuffer data = ByteBuffer.wrap(from, offset, length);
      writing.lock();
      try {
        records.clear();
        int record = engine.getSession().getPacketBufferSize();
        while (data.hasRemaining()) {
          if (records.remaining() < record) {
            makeRoom(record);
          }
          SSLEngineResult result = engine.wrap(data, records);
          if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
            throw new IOException(other + " closed the connection");
          }
          if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
            makeRoom(record);
          }
        }
        flushRecords();
      } catch (SSLException e) {
        throw TlsException.of(e, other);
      } finally {
        writing.unlock();
      }
    }

    private void makeRoom(int record) throws IOException {
      if (records.capacity() < MAX_BATCH_BYTES) {
        growRecords(records.capacity() + 2 * record);
      } else {
        flushRecords();
      }
    }

    private void flushRecords() throws IOException {
      rawOut.write(records.array(), 0, records.position());
      records.clear();
    }
  }
}
