package dev.tollgate.node;

import dev.tollgate.log.PrivateFiles;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.node.client.ClientConnection;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyFile;
import dev.tollgate.transport.EmbeddedNode;
import dev.tollgate.transport.EmbeddedNodeProvider;
import dev.tollgate.transport.FrameChannel;
import dev.tollgate.wire.Frame;
import java.io.IOException;
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

  /** The name of a node whose directory is new. */
  private static final String FIRST_NAME = "embedded";

  public EmbeddedNodes() {}

  @Override
  public EmbeddedNode open(Path directory, @Nullable Path dataKeyFile) throws IOException {
    DataKeys keys = dataKeyFile == null ? DataKeys.off() : DataKeys.read(new KeyFile(dataKeyFile));
    PrivateFiles.createDirectories(directory);
    // the server may have created the directory, under any name
    String id = NodeDirectory.owner(directory, keys).orElse(FIRST_NAME);
    return started(NodeSettings.embedded(id, RaftSettings.alone(id, directory).withKeys(keys)));
  }

  @Override
  public EmbeddedNode openInMemory(String name) throws IOException {
    return started(NodeSettings.embedded(name.isEmpty() ? "memory" : name, null));
  }

  private static EmbeddedNode started(NodeSettings settings) throws IOException {
    Node node;
    try {
      node = new Node(settings);
    } catch (IllegalStateException e) {
      throw new IOException(e.getMessage(), e);
    }
    try {
      node.start();
      requireAlone(node, settings);
      awaitLeadership(node);
    } catch (IOException | RuntimeException e) {
      node.close();
      throw e;
    }
    return new RunningNode(node);
  }

  /**
   * Rejects a member of a larger cluster: it would wait here for the others, which it cannot reach.
   */
  private static void requireAlone(Node node, NodeSettings settings) throws IOException {
    RaftSettings raft = settings.raft();
    int members = node.status().members().size();
    if (raft != null && members > 1) {
      throw new IOException(
          raft.directory()
              + " is the data directory of node "
              + settings.nodeId()
              + " in a cluster of "
              + members
              + " nodes, which cannot be opened in an application: start the node with `tollgate"
              + " server --id "
              + settings.nodeId()
              + "`, and connect to the cluster with jdbc:tollgate://host:port/");
    }
  }

  /** Waits until the node has elected itself, which takes an election timeout. */
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

  /** A connection that never leaves the JVM: a request is a call, a reply waits in a queue. */
  private static final class Pipe implements FrameChannel {
    private static final Frame END = new Frame(0, 0, 0, new byte[0]);

    private final ClientConnection connection;
    private final Set<Pipe> pipes;
    private final LinkedBlockingQueue<Frame> answers = new LinkedBlockingQueue<>();
    private final ReentrantLock requests = new ReentrantLock();
    private boolean closed;

    Pipe(ClientService service, Set<Pipe> pipes) {
      this.connection = service.connect(new Link());
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
