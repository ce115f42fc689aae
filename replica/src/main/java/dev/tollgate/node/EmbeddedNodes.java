package dev.tollgate.node;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.transport.EmbeddedNode;
import dev.tollgate.transport.EmbeddedNodeProvider;
import dev.tollgate.transport.FrameChannel;
import dev.tollgate.wire.Frame;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Starts nodes in this JVM for the driver, which finds this class by ServiceLoader. */
public final class EmbeddedNodes implements EmbeddedNodeProvider {
  private static final Duration READY_WITHIN = Duration.ofSeconds(30);

  public EmbeddedNodes() {}

  @Override
  public EmbeddedNode open(Path directory) throws IOException {
    Files.createDirectories(directory);
    return started(
        new Node(NodeSettings.embedded("embedded", RaftSettings.alone("embedded", directory))));
  }

  @Override
  public EmbeddedNode openInMemory(String name) throws IOException {
    return started(new Node(NodeSettings.embedded(name.isEmpty() ? "memory" : name, null)));
  }

  private static EmbeddedNode started(Node node) throws IOException {
    try {
      node.start();
      awaitLeadership(node);
    } catch (IOException | RuntimeException e) {
      node.close();
      throw e;
    }
    return new RunningNode(node);
  }

  /** A node alone elects itself, which takes an election timeout. */
  private static void awaitLeadership(Node node) throws IOException {
    try {
      if (!node.awaitLeadership(READY_WITHIN)) {
        throw new IOException(
            "the node did not become ready within " + READY_WITHIN, node.failure());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the node started", e);
    }
  }

  private static final class RunningNode implements EmbeddedNode {
    private final Node node;
    private final Set<Pipe> pipes = ConcurrentHashMap.newKeySet();

    RunningNode(Node node) {
      this.node = node;
    }

    @Override
    public FrameChannel connect() throws IOException {
      Throwable failure = node.failure();
      if (failure != null) {
        throw new IOException("the node in this JVM has stopped", failure);
      }
      Pipe pipe = new Pipe(node.service(), pipes);
      pipes.add(pipe);
      return pipe;
    }

    @Override
    public void close() {
      pipes.forEach(Pipe::close);
      node.close();
    }
  }

  /** A connection that never leaves the JVM: a request is a call, an answer waits in a queue. */
  private static final class Pipe implements FrameChannel {
    private static final Frame END = new Frame(0, 0, 0, new byte[0]);

    private final ClientConnection connection;
    private final Set<Pipe> pipes;
    private final LinkedBlockingQueue<Frame> answers = new LinkedBlockingQueue<>();
    private final ReentrantLock requests = new ReentrantLock();
    private boolean closed;

    Pipe(ClientService service, Set<Pipe> pipes) {
      this.connection = new ClientConnection(service, new Link());
      this.pipes = pipes;
    }

    private final class Link implements ClientConnection.Link {
      @Override
      public void send(Frame frame) {
        answers.add(frame);
      }

      @Override
      public void close() {
        answers.add(END);
      }

      @Override
      public String client() {
        return "a connection in this JVM";
      }
    }

    @Override
    public void send(Frame frame) throws IOException {
      requests.lock();
      try {
        if (closed) {
          throw new IOException("the connection is closed");
        }
        connection.receive(frame);
      } finally {
        requests.unlock();
      }
    }

    @Override
    public Optional<Frame> receive(Duration timeout) throws IOException {
      Frame frame = poll(timeout);
      if (frame == END) {
        answers.add(END);
        throw new IOException("the connection is closed");
      }
      return Optional.ofNullable(frame);
    }

    private @Nullable Frame poll(Duration timeout) {
      long end = System.nanoTime() + timeout.toNanos();
      boolean interrupted = false;
      try {
        while (true) {
          try {
            return answers.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
          } catch (InterruptedException e) {
            interrupted = true;
          }
        }
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    @Override
    public void close() {
      answers.add(END);
      requests.lock();
      try {
        if (!closed) {
          closed = true;
          connection.disconnected();
          pipes.remove(this);
        }
      } finally {
        requests.unlock();
      }
    }
  }
}
