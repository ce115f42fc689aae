package dev.tollgate.node;

import static org.awaitility.Awaitility.await;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.awaitility.core.ConditionTimeoutException;

/**
 * A connection on which requests are sent without waiting, and which notes what is answered. One
 * thread sends; another, its own, reads.
 */
final class FuzzedClient implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final Duration POLL = Duration.ofMillis(2);
  private static final int EVENT = 0;

  private final Socket socket;
  private final Thread reader;

  /** Requests that still have to be answered, and what they were. */
  private final Map<Long, String> open = new ConcurrentHashMap<>();

  private final Map<Long, Reply> answers = new ConcurrentHashMap<>();
  private final List<String> violations = new ArrayList<>();
  private volatile boolean ended;
  private long lastId;

  FuzzedClient(InetSocketAddress to) throws IOException {
    socket = new Socket(to.getAddress(), to.getPort());
    DataInputStream in = new DataInputStream(socket.getInputStream());
    reader = new Thread(() -> readAll(in), "fuzzed-client");
    reader.setDaemon(true);
    reader.start();
  }

  private void readAll(DataInputStream in) {
    try {
      while (true) {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        Frame frame = Frame.read(new WireReader(bytes));
        note(frame.requestId(), Reply.read(frame));
      }
    } catch (IOException e) {
      ended = true;
    } catch (RuntimeException e) {
      violation("the node sent what is no reply: " + e);
      ended = true;
    }
  }

  private void note(long id, Reply reply) {
    if (reply instanceof Reply.Failure failure && failure.sqlState().equals("XX000")) {
      violation("#" + id + " met a bug of the node: " + failure.message());
    }
    if (id != EVENT && answers.containsKey(id)) {
      violation("#" + id + " was answered twice");
    }
    if (id != EVENT) {
      answers.put(id, reply);
      open.remove(id);
    }
  }

  private void violation(String what) {
    synchronized (violations) {
      violations.add(what);
    }
  }

  /** Sends a request that has to be answered, unless the connection ends; its number. */
  long request(int type, byte[] body, String description) {
    long id = ++lastId;
    open.put(id, description);
    send(frame(type, id, body));
    return id;
  }

  /** Sends a request that need not be answered. */
  void unanswered(int type, byte[] body) {
    send(frame(type, ++lastId, body));
  }

  private static byte[] frame(int type, long id, byte[] body) {
    WireWriter out = new WireWriter();
    new Frame(type, id, 0, body).writeHeader(out);
    out.raw(body, 0, body.length);
    return out.toByteArray();
  }

  /** Sends bytes as they are; what comes after them may make no sense to the node. */
  void send(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
    } catch (IOException e) {
      ended = true;
    }
  }

  /** The answer to a request; null if the connection ended before it came. */
  Reply awaitReply(long id) {
    awaitOrReport(() -> ended || answers.containsKey(id));
    return answers.get(id);
  }

  /** Waits until nothing is open any more; a request without an answer is a violation. */
  void settle() {
    awaitOrReport(() -> ended || open.isEmpty());
  }

  private void awaitOrReport(Callable<Boolean> condition) {
    try {
      await().pollInterval(POLL).atMost(DEADLINE).until(condition);
    } catch (ConditionTimeoutException e) {
      violation("without an answer: " + open);
      open.clear();
    }
  }

  boolean hasEnded() {
    return ended;
  }

  /** What the node did wrong so far. */
  List<String> violations() {
    synchronized (violations) {
      return List.copyOf(violations);
    }
  }

  @Override
  public void close() throws IOException {
    ended = true;
    socket.close();
  }
}
