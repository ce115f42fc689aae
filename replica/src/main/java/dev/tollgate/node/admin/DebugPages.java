package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.log.LogStatus;
import dev.tollgate.node.audit.Actor;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What helps to find out what a node is doing. Each call is in the audit file. */
final class DebugPages {
  private final NodeParts node;
  private final FigureReader figures;
  private final ReentrantLock dumping = new ReentrantLock();

  DebugPages(NodeParts node, FigureReader figures) {
    this.node = requireNonNull(node, "node");
    this.figures = requireNonNull(figures, "figures");
  }

  List<Route> routes() {
    return List.of(
        new Route(
            "GET",
            "/debug",
            Audience.AUDITORS,
            request -> Answer.text(Answer.OK, "/debug/state\n/debug/threads\n")),
        new Route("GET", "/debug/threads", Audience.AUDITORS, this::threads),
        new Route("GET", "/debug/state", Audience.AUDITORS, this::state));
  }

  private void record(AdminRequest request, String action) {
    if (node.replica().audit().isOn()) {
      node.replica()
          .audit()
          .administered(
              new Actor(
                  request.caller().user(),
                  /* session= */ null,
                  new ClientInfo("admin address", "", ""),
                  request.from().getHostAddress()),
              action,
              "",
              "done");
    }
  }

  /** A dump stops all threads for some milliseconds, so there is one at a time. */
  private Answer threads(AdminRequest request) {
    if (!dumping.tryLock()) {
      return Answer.text(Answer.UNAVAILABLE, "another dump of the threads is being made");
    }
    try {
      record(request, "debug_threads");
      return Answer.text(Answer.OK, dump());
    } finally {
      dumping.unlock();
    }
  }

  private static String dump() {
    StringBuilder text = new StringBuilder();
    ThreadInfo[] all =
        ManagementFactory.getThreadMXBean()
            .dumpAllThreads(
                /* lockedMonitors= */ false, /* lockedSynchronizers= */ false, AdminLimits.FRAMES);
    for (ThreadInfo thread : all) {
      if (text.length() > AdminLimits.DUMP_CHARS) {
        text.append("and more threads, which this dump leaves out\n");
        break;
      }
      append(text, thread);
    }
    return text.toString();
  }

  private static void append(StringBuilder text, ThreadInfo thread) {
    text.append('"').append(thread.getThreadName()).append("\" ").append(thread.getThreadState());
    LockInfo lock = thread.getLockInfo();
    if (lock != null) {
      text.append(" on ").append(lock);
    }
    if (thread.getLockOwnerName() != null) {
      text.append(" of \"").append(thread.getLockOwnerName()).append('"');
    }
    text.append('\n');
    for (StackTraceElement frame : thread.getStackTrace()) {
      text.append("    at ").append(frame).append('\n');
    }
    text.append('\n');
  }

  private Answer state(AdminRequest request) {
    record(request, "debug_state");
    Figures now = figures.read();
    if (now == null) {
      return Answer.text(Answer.UNAVAILABLE, "the node is busy with its first log entry");
    }
    Lines lines = new Lines();
    addNode(lines, now);
    addState(lines, now);
    addTraffic(lines, now);
    addProcess(lines);
    return Answer.text(Answer.OK, lines.toString());
  }

  private void addNode(Lines lines, Figures now) {
    LogStatus status = now.status();
    lines
        .add("node", node.nodeId())
        .add("version", node.version())
        .add("cluster", node.replica().identity().clusterId())
        .add("role", status.role())
        .add("leader", status.leaderId())
        .add("term", status.term())
        .add("commit_index", status.commitIndex())
        .add("applied_index", status.lastAppliedIndex())
        .add("applying_ms", now.node().applyingMillis())
        .add("disk_hung_ms", now.node().diskHungMillis())
        .add("ready", now.node().ready() ? "yes" : "no");
    for (LogStatus.Member member : status.members()) {
      lines.add(
          "member " + member.nodeId(),
          member.raftAddress()
              + ", applied index "
              + (member.appliedIndex() < 0 ? "?" : member.appliedIndex())
              + ", silent for "
              + (member.silentMillis() == null ? "?" : member.silentMillis())
              + " ms"
              + (member.lostEntries() ? ", has lost entries" : ""));
    }
  }

  private static void addState(Lines lines, Figures now) {
    lines
        .add("sessions", now.replica().sessions())
        .add("leases", now.replica().leases())
        .add("held_locks", now.replica().heldLocks())
        .add("waiters", now.replica().waits())
        .add("open_transactions", now.replica().transactions())
        .add("waiting_statements", now.replica().waitingStatements())
        .add("state_age_ms", now.age().toMillis());
  }

  private static void addTraffic(Lines lines, Figures now) {
    lines
        .add("connections", now.connections().clients())
        .add("new_connections", now.connections().strangers())
        .add("queued_commands", now.pipeline().queuedCommands())
        .add("queued_proofs", now.pipeline().barriers())
        .add("waiting_requests", now.clients().waitingRequests())
        .add("running_queries", now.clients().runningQueries());
    now.clients()
        .queued()
        .forEach(
            (kind, count) -> lines.add("queued_" + kind.name().toLowerCase(Locale.ROOT), count));
    lines.add("log_bytes", now.log().logBytes()).add("disk_usable_bytes", now.log().usableBytes());
  }

  private static void addProcess(Lines lines) {
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    lines
        .add("heap_used_bytes", heap.getUsed())
        .add("heap_max_bytes", heap.getMax())
        .add("threads", ManagementFactory.getThreadMXBean().getThreadCount())
        .add(
            "uptime_seconds",
            Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime()).toSeconds())
        .add("java", Runtime.version());
  }

  /** Lines of a name, a colon and a value. */
  private static final class Lines {
    private final StringBuilder text = new StringBuilder();

    Lines add(String name, @Nullable Object value) {
      text.append(name).append(": ").append(value == null ? "unknown" : value).append('\n');
      return this;
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }
}
