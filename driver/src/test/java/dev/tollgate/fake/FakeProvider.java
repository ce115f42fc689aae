package dev.tollgate.fake;

import dev.tollgate.transport.EmbeddedNode;
import dev.tollgate.transport.EmbeddedNodeProvider;
import dev.tollgate.transport.FrameChannel;
import dev.tollgate.wire.Frame;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Fake nodes inside this JVM, found by ServiceLoader as a real one would be. */
public final class FakeProvider implements EmbeddedNodeProvider {
  /** What was started, by directory or name, and what of it was closed. */
  private static final List<String> STARTED = new CopyOnWriteArrayList<>();

  private static final List<String> CLOSED = new CopyOnWriteArrayList<>();

  public static List<String> started() {
    return STARTED;
  }

  public static List<String> closed() {
    return CLOSED;
  }

  @Override
  public EmbeddedNode open(Path directory, @Nullable Path dataKeyFile) throws IOException {
    if (directory.endsWith("locked")) {
      throw new IOException("another process has " + directory);
    }
    return new Node(directory.toString());
  }

  @Override
  public EmbeddedNode openInMemory(String name) throws IOException {
    return new Node("mem:" + name);
  }

  private static final class Node implements EmbeddedNode {
    private final String name;
    private final FakeCluster cluster;

    Node(String name) throws IOException {
      this.name = name;
      try {
        this.cluster = FakeCluster.embedded();
      } catch (SQLException e) {
        throw new IOException(e);
      }
      STARTED.add(name);
    }

    @Override
    public FrameChannel connect() {
      BlockingQueue<Optional<Frame>> toNode = new LinkedBlockingQueue<>();
      BlockingQueue<Optional<Frame>> toClient = new LinkedBlockingQueue<>();
      new FakeConversation(cluster, null, new NodeEnd(toNode, toClient)).start(() -> {});
      return new ClientEnd(toNode, toClient);
    }

    @Override
    public void close() {
      CLOSED.add(name);
      try {
        cluster.close();
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** An empty element in a queue says that the other side is closed. */
  private record NodeEnd(
      BlockingQueue<Optional<Frame>> toNode, BlockingQueue<Optional<Frame>> toClient)
      implements FakeChannel {
    @Override
    public Frame read() throws IOException {
      try {
        return toNode.take().orElseThrow(() -> new IOException("closed"));
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }

    @Override
    public void write(Frame frame) {
      toClient.add(Optional.of(frame));
    }

    @Override
    public void close() {
      toNode.add(Optional.empty());
      toClient.add(Optional.empty());
    }
  }

  private record ClientEnd(
      BlockingQueue<Optional<Frame>> toNode, BlockingQueue<Optional<Frame>> toClient)
      implements FrameChannel {
    @Override
    public void send(Frame frame) {
      toNode.add(Optional.of(frame));
    }

    @Override
    public Optional<Frame> receive(Duration timeout) throws IOException {
      boolean interrupted = false;
      try {
        while (true) {
          try {
            Optional<Frame> frame = toClient.poll(timeout.toNanos(), TimeUnit.NANOSECONDS);
            if (frame == null) {
              return Optional.empty();
            }
            if (frame.isEmpty()) {
              toClient.add(frame);
              throw new IOException("closed");
            }
            return frame;
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
      toNode.add(Optional.empty());
      toClient.add(Optional.empty());
    }
  }
}
