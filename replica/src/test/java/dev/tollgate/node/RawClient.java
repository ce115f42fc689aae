package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.List;

/** A client that says whatever the test wants. */
final class RawClient implements AutoCloseable {
  private static final byte[] NO_PARAMETERS = {0, 0};
  private static final int READ_TIMEOUT_MILLIS = 20_000;

  private final Socket socket;
  private final DataInputStream in;

  RawClient(InetSocketAddress to) throws IOException {
    this(to, 0);
  }

  /**
   * @param receiveBuffer how many bytes the operating system takes for the client, 0 for as many as
   *     it likes
   */
  RawClient(InetSocketAddress to, int receiveBuffer) throws IOException {
    socket = new Socket();
    if (receiveBuffer > 0) {
      socket.setReceiveBufferSize(receiveBuffer);
    }
    socket.connect(to);
    socket.setSoTimeout(READ_TIMEOUT_MILLIS);
    in = new DataInputStream(socket.getInputStream());
  }

  void hello() throws IOException {
    assertInstanceOf(Reply.Welcome.class, greet());
  }

  /** Says hello, and returns what the node replies. */
  Reply greet() throws IOException {
    return greet("1");
  }

  /** Says hello for a connection of this process. */
  Reply greet(String process) throws IOException {
    return call(new Request.Hello(1, Protocol.VERSION, "app", "host", process));
  }

  Reply call(Request request) throws IOException {
    write(request);
    return receive();
  }

  /** Calls as a client does that has lost so many connections under the request. */
  Reply callAfterLosses(int losses, Request request) throws IOException {
    WireWriter body = new WireWriter();
    request.write(body);
    WireWriter out = new WireWriter();
    new Frame(request.type(), losses, 1, 0, body.toByteArray()).writeHeader(out);
    out.raw(body.array(), 0, body.size());
    send(out.toByteArray());
    return receive();
  }

  /** Sends a request; its answer is to be received. */
  void write(Request request) throws IOException {
    WireWriter body = new WireWriter();
    request.write(body);
    sendFrame(request.type(), body.toByteArray());
  }

  void sendFrame(int type, byte[] body) throws IOException {
    WireWriter out = new WireWriter();
    new Frame(type, 1, 0, body).writeHeader(out);
    out.raw(body, 0, body.length);
    send(out.toByteArray());
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  /** A statement without parameters, in autocommit. */
  static Request.Execute execute(long sequence, String sql) {
    return execute(sequence, TransactionMode.AUTOCOMMIT, sql);
  }

  /** A statement without parameters. */
  static Request.Execute execute(long sequence, TransactionMode mode, String sql) {
    return new Request.Execute(
        sequence,
        /* ownLeaseTrusted= */ true,
        mode,
        /* batch= */ false,
        sql,
        new KeyRequest.None(),
        /* maxRows= */ 0,
        /* pageRows= */ 0,
        List.of(NO_PARAMETERS));
  }

  Reply receive() throws IOException {
    byte[] bytes = new byte[in.readInt()];
    in.readFully(bytes);
    return Reply.read(Frame.read(new WireReader(bytes)));
  }

  boolean hasHeardSomething() throws IOException {
    return in.available() > 0;
  }

  boolean isClosedByNode() throws IOException {
    return in.read() == -1;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
