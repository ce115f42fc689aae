package dev.tollgate.fake;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The node's end of a connection. */
interface FakeChannel {
  Frame read() throws IOException;

  void write(Frame frame) throws IOException;

  void close();

  /** Framing written apart from the driver's, so that both are checked. */
  final class OverSocket implements FakeChannel {
    private static final int PIECE = 8192;

    /** A tenth of what nodes use, as all times of these tests. */
    private static final long SIGN_OF_LIFE_NANOS = 50_000_000;

    private final Socket socket;
    private final BooleanSupplier deaf;
    private final DataInputStream in;

    /**
     * @param deaf true while nothing is to be read, not even the rest of a frame
     */
    OverSocket(Socket socket, BooleanSupplier deaf) throws IOException {
      this.socket = socket;
      this.deaf = deaf;
      this.in = new DataInputStream(socket.getInputStream());
    }

    @Override
    public Frame read() throws IOException {
      byte[] bytes = new byte[in.readInt()];
      long said = System.nanoTime();
      for (int at = 0; at < bytes.length; at += PIECE) {
        while (deaf.getAsBoolean()) {
          LockSupport.parkNanos(10_000_000);
        }
        in.readFully(bytes, at, Math.min(PIECE, bytes.length - at));
        if (System.nanoTime() - said > SIGN_OF_LIFE_NANOS) {
          said = System.nanoTime();
          write(new Frame(0x87, 0, 0, new byte[0]));
        }
      }
      return Frame.read(new WireReader(bytes));
    }

    @Override
    public synchronized void write(Frame frame) throws IOException {
      WireWriter header = new WireWriter();
      frame.writeHeader(header);
      // in two writes, so that the reader has to put the parts together
      socket.getOutputStream().write(header.toByteArray());
      socket.getOutputStream().write(frame.body());
    }

    @Override
    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        // closed is closed
      }
    }
  }
}
