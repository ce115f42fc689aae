package dev.tollgate.log.peer;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.ratis.util.NetUtils;

/**
 * A way to a node that loses, delays, reorders and repeats what it carries, until it is repaired.
 * Connections break in the middle of a frame, or stay and carry nothing any more.
 */
public final class FaultyWay implements AutoCloseable {
  /** A fault, on average, once in this many chunks of requests or frames of answers. */
  private static final int ONE_IN = 40;

  private static final int MOST_HELD_BACK = 4;

  /** How long an answer waits for one that may overtake it. */
  private static final long HOLD_NANOS = 10_000_000;

  private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final String target;
  private final Random random;
  private final List<Socket> sockets = Collections.synchronizedList(new ArrayList<>());
  private volatile boolean faulty = true;

  /** Faults that have happened, by kind: breaks, silences, reorderings, repetitions. */
  public final AtomicInteger breaks = new AtomicInteger();

  public final AtomicInteger silences = new AtomicInteger();
  public final AtomicInteger reorderings = new AtomicInteger();
  public final AtomicInteger repetitions = new AtomicInteger();

  public FaultyWay(String target, long seed) throws IOException {
    this.target = target;
    this.random = new Random(seed);
    start(
        () -> {
          while (true) {
            Socket from = listener.accept();
            Socket to = new Socket();
            sockets.add(from);
            sockets.add(to);
            try {
              to.connect(NetUtils.createSocketAddr(target));
            } catch (IOException e) {
              from.close();
              continue;
            }
            from.setTcpNoDelay(true);
            to.setTcpNoDelay(true);
            start(() -> requests(from, to));
            start(() -> answers(to, from));
          }
        });
  }

  public String address() {
    return "127.0.0.1:" + listener.getLocalPort();
  }

  /** What a thread of a way does until its connection ends. */
  interface Work {
    void run() throws IOException;
  }

  private void start(Work work) {
    start("faulty-way-to-" + target, work);
  }

  /** Starts a thread that nobody waits for. */
  static void start(String name, Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                // the connection has ended, as it may here
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  private synchronized boolean happens() {
    return faulty && random.nextInt(ONE_IN) == 0;
  }

  private synchronized int choose(int bound) {
    return random.nextInt(bound);
  }

  private void requests(Socket from, Socket to) throws IOException {
    byte[] chunk = new byte[64 << 10];
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    boolean silent = false;
    for (int length = in.read(chunk); length > 0; length = in.read(chunk)) {
      if (happens()) {
        if (choose(3) == 0) {
          silences.incrementAndGet();
          silent = true;
        } else {
          breaks.incrementAndGet();
          out.write(chunk, 0, choose(length + 1));
          from.close();
          to.close();
          return;
        }
      }
      if (!silent) {
        out.write(chunk, 0, length);
      }
    }
    to.close();
  }

  private void answers(Socket from, Socket to) throws IOException {
    DataInputStream in = new DataInputStream(from.getInputStream());
    DataOutputStream out = new DataOutputStream(to.getOutputStream());
    out.write(in.readNBytes(Frame.PREFACE.length));
    out.write(frame(in));
    List<byte[]> held = new ArrayList<>();
    while (true) {
      byte[] frame = frame(in);
      held.add(frame);
      if (happens()) {
        switch (choose(3)) {
          case 0 -> {
            breaks.incrementAndGet();
            out.write(frame, 0, choose(frame.length));
            from.close();
            to.close();
            return;
          }
          case 1 -> {
            repetitions.incrementAndGet();
            held.add(frame);
          }
          default -> {
            LockSupport.parkNanos(HOLD_NANOS);
            if (held.size() < MOST_HELD_BACK && in.available() > 0) {
              reorderings.incrementAndGet();
              continue;
            }
          }
        }
      }
      Collections.reverse(held);
      for (byte[] answer : held) {
        out.write(answer);
      }
      held.clear();
    }
  }

  /** Returns the bytes of a frame, its length included. */
  static byte[] frame(DataInputStream in) throws IOException {
    int length = in.readInt();
    byte[] frame = new byte[Integer.BYTES + length];
    ByteBuffer.wrap(frame).putInt(length);
    in.readFully(frame, Integer.BYTES, length);
    return frame;
  }

  /** From now on nothing goes wrong; connections that carry nothing any more stay so. */
  public void repair() {
    faulty = false;
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : List.copyOf(sockets)) {
      socket.close();
    }
  }
}
