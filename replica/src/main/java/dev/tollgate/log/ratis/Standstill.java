package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.log.CommandFailedException;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.peer.PeerTransport;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The command at which this node stands, and the nodes that stand there too. A thread reports this
 * node. While this node leads, for Ratis alone, the thread proposes to skip the command once a
 * majority has reported it, and steps down if no majority does. After {@link
 * Limits#STANDING_MILLIS} the thread fails the node (ADR 0097). Thread-safe.
 */
final class Standstill implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Standstill.class);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final CommandFailedException why;
  private final RaftServer server;
  private final RaftServer.Division division;
  private final PeerTransport transport;
  private final FollowerAppends appends;
  private final Consumer<Throwable> failed;
  private final Thread thread;
  private final Set<String> reported = ConcurrentHashMap.newKeySet();
  private volatile boolean over;

  /**
   * @param failed fails this node
   */
  Standstill(
      CommandFailedException why,
      RaftServer server,
      RaftServer.Division division,
      PeerTransport transport,
      FollowerAppends appends,
      Supervision supervision,
      Consumer<Throwable> failed) {
    this.why = requireNonNull(why, "why");
    this.server = requireNonNull(server, "server");
    this.division = requireNonNull(division, "division");
    this.transport = requireNonNull(transport, "transport");
    this.appends = requireNonNull(appends, "appends");
    this.failed = requireNonNull(failed, "failed");
    this.thread = supervision.thread("tollgate-" + server.getId() + "-stands", this::run);
  }

  void start() {
    appends.electLater();
    thread.start();
  }

  /** The entry with the command. */
  long logIndex() {
    return why.logIndex();
  }

  boolean isAt(long logIndex, int ordinal) {
    return why.logIndex() == logIndex && why.ordinal() == ordinal;
  }

  /** Counts a node that stands at the same command; called by the apply thread, in log order. */
  void reported(Command.ReportFailure report) {
    if (isAt(report.logIndex(), report.ordinal())) {
      reported.add(report.nodeId());
    }
  }

  private boolean isMajority() {
    long stand = 0;
    long members = 0;
    for (RaftPeer member : division.getRaftConf().getCurrentPeers()) {
      members++;
      stand += reported.contains(member.getId().toString()) ? 1 : 0;
    }
    return stand > members / 2;
  }

  private void run() {
    var unused =
        forward(
            new Command.ReportFailure(server.getId().toString(), why.logIndex(), why.ordinal()));
    CompletableFuture<Void> skip = CompletableFuture.completedFuture(null);
    long begun = System.nanoTime();
    long leads = begun;
    while (!over) {
      long now = System.nanoTime();
      DivisionInfo info = division.getInfo();
      if (!info.isLeader() || !info.isLeaderReady()) {
        leads = now;
      } else if (isMajority()) {
        if (skip.isDone()) {
          LOG.error(
              "{}: a majority stands at command {} of log entry {}: it is to be left out",
              server.getId(),
              why.ordinal(),
              why.logIndex());
          skip = forward(new Command.SkipCommand(why.logIndex(), why.ordinal()));
        }
      } else if (isOver(leads, now, Limits.REPORTS_MILLIS)) {
        stepDown();
        leads = now;
        appends.electLater();
      }
      if (isOver(begun, now, Limits.STANDING_MILLIS)) {
        failed.accept(why);
        break;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private static boolean isOver(long since, long now, long millis) {
    return now - since > TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private CompletableFuture<Void> forward(Command command) {
    return transport
        .forward(UnsafeByteOperations.unsafeWrap(EntryCodec.encode(command)))
        .exceptionally(
            failure -> {
              LOG.info("{}: {} was not appended: {}", server.getId(), command, failure.toString());
              return null;
            });
  }

  private void stepDown() {
    LOG.warn(
        "{}: leads, and stands at a command at which no majority stands: it steps down",
        server.getId());
    try {
      RatisLeadership.stepDown(server, division.getGroup().getGroupId());
    } catch (IOException e) {
      LOG.info("{}: does not step down", server.getId(), e);
    }
  }

  /** Ends what the thread does; it does not wait for the thread. */
  @Override
  public void close() {
    over = true;
    LockSupport.unpark(thread);
  }
}
