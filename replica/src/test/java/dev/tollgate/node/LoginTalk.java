package dev.tollgate.node;

import dev.tollgate.tls.Certificates;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * One connection to the port for clients, on which a test says what it wants. Each reply has to be
 * one that strangers may get, until the test says that the client has logged in. Not thread-safe.
 */
final class LoginTalk implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 45_000;

  /** A node gives strangers ten seconds. */
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(8);

  private static final int MOST_BYTES = 1 << 20;

  /** Why strangers are refused: logins, the protocol, and a node without the time or the room. */
  private static final Set<String> REFUSALS = Set.of("28000", "08004", "08P01", "08001", "53300");

  private static final Pattern INSIDE =
      Pattern.compile("Exception|\\.java:|dev\\.tollgate|com\\.nimbusds|java\\.|io\\.netty|/tmp/");

  private final Socket raw;
  private final Socket open;
  private final DataInputStream in;
  private final OutputStream out;
  private final byte @Nullable [] binding;
  private final long begunNanos = System.nanoTime();
  private boolean ended;
  private boolean known;
  private boolean anyId;

  private LoginTalk(Socket raw, Socket open, byte @Nullable [] binding) throws IOException {
    this.raw = raw;
    this.open = open;
    this.in = new DataInputStream(open.getInputStream());
    this.out = open.getOutputStream();
    this.binding = binding;
  }

  /** A connection from an address of this host. */
  static Socket connect(InetSocketAddress to, InetAddress from) throws IOException {
    Socket socket = new Socket();
    socket.bind(new InetSocketAddress(from, 0));
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(PATIENCE_MILLIS);
    socket.connect(to);
    return socket;
  }

  static LoginTalk plain(InetSocketAddress to, InetAddress from) throws IOException {
    Socket socket = connect(to, from);
    return new LoginTalk(socket, socket, null);
  }

  static LoginTalk encrypted(InetSocketAddress to, InetAddress from, SSLContext context)
      throws IOException, GeneralSecurityException {
    Socket socket = connect(to, from);
    SSLSocket tls =
        (SSLSocket)
            context.getSocketFactory().createSocket(socket, "127.0.0.1", to.getPort(), true);
    tls.startHandshake();
    X509Certificate node = (X509Certificate) tls.getSession().getPeerCertificates()[0];
    return new LoginTalk(socket, tls, Certificates.serverEndPoint(node));
  }

  byte @Nullable [] binding() {
    return binding;
  }

  static byte[] frame(Request request) {
    WireWriter body = new WireWriter();
    request.write(body);
    return frame(request.type(), body.toByteArray());
  }

  static byte[] frame(int type, byte[] body) {
    WireWriter out = new WireWriter();
    new Frame(type, 1, 0, body).writeHeader(out);
    out.raw(body, 0, body.length);
    return out.toByteArray();
  }

  /** Sends bytes as they are. The node may have ended the connection before. */
  void send(byte[] bytes) {
    try {
      if (!ended) {
        out.write(bytes);
        out.flush();
      }
    } catch (IOException e) {
      ended = true;
    }
  }

  /** Sends bytes below TLS. */
  void sendBelow(byte[] bytes) {
    try {
      raw.getOutputStream().write(bytes);
    } catch (IOException e) {
      ended = true;
    }
  }

  /** Ends this direction: without TLS at once, with TLS by saying so. */
  void sayNoMore() throws IOException {
    try {
      open.shutdownOutput();
    } catch (SocketException e) {
      ended = true; // the node was faster
    }
  }

  /** Sends a request and reads what comes next; null if that is the end. */
  @Nullable Reply call(Request request) {
    send(frame(request));
    return next();
  }

  /** What is sent may have a changed number. */
  void expectsAnyId() {
    anyId = true;
  }

  /** True if the node may have closed the connection because no login came. */
  boolean isLate() {
    return System.nanoTime() - begunNanos > SILENCE_NANOS;
  }

  /** From now on the node may serve this client. */
  void isKnown() {
    known = true;
  }

  /** The next reply, or null at the end of the connection. */
  @Nullable Reply next() {
    byte[] bytes;
    try {
      int length = in.readInt();
      require(length >= 0 && length < MOST_BYTES, "a frame of " + length + " bytes");
      bytes = new byte[length];
      in.readFully(bytes);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("neither an answer nor an end", e);
    } catch (EOFException e) {
      return null;
    } catch (IOException e) {
      return null; // reset
    }
    Frame frame = Frame.read(new WireReader(bytes));
    require(
        anyId || frame.requestId() == 0 || frame.requestId() == 1,
        "an answer to " + frame.requestId());
    Reply reply = Reply.read(frame);
    if (!known) {
      check(reply);
    }
    return reply;
  }

  private static void check(Reply reply) {
    if (reply instanceof Reply.Failure failure) {
      require(REFUSALS.contains(failure.sqlState()), "no documented refusal: " + failure);
      require(!INSIDE.matcher(failure.message()).find(), "shows the inside: " + failure);
    } else {
      require(
          reply instanceof Reply.LoginRequired
              || reply instanceof Reply.LoginChallenge
              || reply instanceof Reply.LoggedIn,
          "a stranger is served: " + reply);
    }
  }

  /** Reads until the node ends the connection. */
  void awaitEnd() {
    for (Reply more = next(); more != null; more = next()) {
      require(more instanceof Reply.Failure, "more than a refusal: " + more);
    }
  }

  private static void require(boolean right, String wrong) {
    if (!right) {
      throw new AssertionError(wrong);
    }
  }

  @Override
  public void close() throws IOException {
    raw.close();
  }
}
