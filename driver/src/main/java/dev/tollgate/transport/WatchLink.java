package dev.tollgate.transport;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The one connection of a process to a node that does not lead, and its thread. That node pushes
 * which node leads. So this process learns of a new leader while the former one is silent, and long
 * before that silence would tell.
 *
 * <p>Without such a node the process notices a silent leader by its silence alone. Single use.
 */
final class WatchLink implements AutoCloseable {
  private static final Logger LOG = System.getLogger("dev.tollgate.transport");
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 10_000;

  private final NodeFinder finder;
  private final Timekeeping environment;
  private final Thread thread;
  private volatile @Nullable NodeConnection node;
  private volatile boolean closed;
  private long pauseMillis = FIRST_PAUSE_MILLIS;

  WatchLink(String name, NodeFinder finder, Timekeeping environment) {
    this.finder = finder;
    this.environment = environment;
    this.thread = DaemonThreads.serving(this::run, "tollgate-watch-" + name);
  }

  void start() {
    thread.start();
  }

  @Override
  public void close() {
    closed = true;
    NodeConnection current = node;
    if (current != null) {
      current.close();
    }
    // wakes a pause; an interrupt ends nothing else
    thread.interrupt();
  }

  private void run() {
    while (!closed) {
      long changes = finder.map().changes();
      List<String> others = finder.map().besidesLeader();
      boolean asked = false;
      for (int i = 0; i < others.size() && !asked && !closed; i++) {
        asked = watch(others.get(i));
      }
      pause(changes, others.isEmpty());
    }
  }

  /**
   * Watches at one node until that node leads or ends.
   *
   * @return false if the node is not one to ask
   */
  private boolean watch(String address) {
    boolean asked = false;
    try (NodeConnection current = finder.openMember(address)) {
      node = current;
      asked = current.version() >= Protocol.LEADER_VERSION && !finder.news().isLeader(current);
      if (asked) {
        serve(current);
      }
    } catch (IOException e) {
      if (asked) {
        finder.map().doubt(address);
      }
      LOG.log(Level.DEBUG, () -> thread.getName() + ": " + e.getMessage());
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, thread.getName() + ": not told of leaders until the next try", e);
    } finally {
      node = null;
    }
    return asked;
  }

  private void serve(NodeConnection current) throws IOException {
    while (!closed) {
      long knownTerm = finder.news().term();
      long requestId = current.newRequestId();
      current.send(requestId, new Request.AwaitLeader(knownTerm), 0);
      Reply reply = await(current, requestId);
      if (!(reply instanceof Reply.Leader leader) || leader.term() <= knownTerm) {
        throw new IOException(
            current.address() + " tells of no leader after term " + knownTerm + ": " + reply);
      }
      learn(leader, current.address());
      if (leader.nodeId().equals(current.met().nodeId())) {
        return;
      }
      pauseMillis = FIRST_PAUSE_MILLIS;
    }
  }

  /**
   * The wait has no end: {@link NodeConnection} pings the node, and gives it up if it is silent.
   */
  private Reply await(NodeConnection current, long requestId) throws IOException {
    while (true) {
      Optional<NodeConnection.Arrival> arrival = current.receive(environment.timing().tick());
      if (closed) {
        throw new IOException("closed");
      }
      if (arrival.isPresent() && arrival.get().requestId() == requestId) {
        return arrival.get().reply();
      }
    }
  }

  private void learn(Reply.Leader said, String saidBy) {
    String address = said.cluster().leaderAddress();
    if (address == null) {
      return;
    }
    // first, because the threads that are woken look there for the leader
    finder.map().learn(said.cluster(), saidBy);
    int ended = finder.news().learn(new LeaderNews.Leader(said.term(), said.nodeId(), address));
    LOG.log(
        Level.DEBUG,
        () ->
            thread.getName()
                + ": "
                + said.nodeId()
                + " at "
                + address
                + " leads in term "
                + said.term()
                + "; "
                + ended
                + " connections waited for another node");
  }

  /** Ends early when nodes become known; has no other end while there is no other node. */
  private void pause(long changes, boolean alone) {
    try {
      if (!closed) {
        finder.map().awaitChange(changes, alone ? 0 : pauseMillis);
        pauseMillis = Math.min(pauseMillis * 2, LONGEST_PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      // by close(), which has said so before, or by foreign code, which ends this pause alone
    }
  }
}
