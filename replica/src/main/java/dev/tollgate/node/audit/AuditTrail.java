package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What happens on this node and in the log that auditors want to know. Callers hand events over and
 * go on; a thread of its own makes lines of them and writes them ({@link AuditWriter}). A full
 * queue loses events, and counts them ({@link AuditQueue}). Thread-safe.
 *
 * <p>Events of the log are the same on every node, and every node writes all of them. The others
 * are of this node alone: logins, calls of administrators, downloads.
 */
public final class AuditTrail implements AutoCloseable {
  private static final AuditTrail OFF =
      new AuditTrail("", null, new LoginFailures(), Clock.systemUTC(), () -> 0, null);

  private final String nodeId;
  private final @Nullable AuditQueue queue;
  private final LoginFailures failures;
  private final Clock clock;
  private final LongSupplier term;
  private final @Nullable AuditWriter writer;

  private AuditTrail(
      String nodeId,
      @Nullable AuditQueue queue,
      LoginFailures failures,
      Clock clock,
      LongSupplier term,
      @Nullable AuditWriter writer) {
    this.nodeId = nodeId;
    this.queue = queue;
    this.failures = failures;
    this.clock = clock;
    this.term = term;
    this.writer = writer;
  }

  /** Returns a trail that forgets everything. */
  public static AuditTrail off() {
    return OFF;
  }

  /**
   * Opens the file of a node.
   *
   * @param incarnation of the data directory, or null if the node keeps its log in memory
   * @param term the term of this node, as far as it knows
   * @throws IOException if the file cannot be written: a node that is to be audited does not start
   *     without its file
   */
  public static AuditTrail open(
      String nodeId,
      AuditSettings settings,
      @Nullable UniqueId incarnation,
      Clock clock,
      LongSupplier term,
      Supervision supervision)
      throws IOException {
    return open(
        nodeId,
        new AuditFile(settings),
        incarnation == null ? "" : incarnation.toString(),
        new AuditQueue(nodeId, AuditQueue.MOST_EVENTS),
        clock,
        term,
        supervision);
  }

  static AuditTrail open(
      String nodeId,
      AuditTarget target,
      String directory,
      AuditQueue queue,
      Clock clock,
      LongSupplier term,
      Supervision supervision)
      throws IOException {
    requireNonNull(nodeId, "nodeId");
    LoginFailures failures = new LoginFailures();
    AuditWriter writer = new AuditWriter(nodeId, target, directory, queue, failures, clock);
    writer.start(supervision);
    return new AuditTrail(nodeId, queue, failures, clock, term, writer);
  }

  /** False if nobody reads what this is told, so it need not be told. */
  public boolean isOn() {
    return queue != null;
  }

  /** How many events were lost because the disk did not keep up. */
  public long lostEvents() {
    return queue == null ? 0 : queue.lostEvents();
  }

  /**
   * A command was applied. Called by the apply thread, in log order.
   *
   * @param events what the core says of it
   */
  public void applied(
      LogPosition position, Command command, Outcome outcome, List<AuditEvent> events) {
    if (queue == null) {
      return;
    }
    AuditEvent administered = CommandEvents.of(command, outcome);
    List<AuditEvent> all = events;
    if (administered != null) {
      all = new ArrayList<>(events);
      all.add(administered);
    }
    if (!all.isEmpty()) {
      queue.offerOfLog(new AuditWork.OfCommand(nodeId, position, all));
    }
  }

  /** A snapshot was begun after this command. Called by the apply thread. */
  public void copied(LogPosition last) {
    if (queue != null && last.logIndex() > 0) {
      queue.offerOfLog(new AuditWork.Copied(nodeId, last));
    }
  }

  /** A snapshot has replaced the state. Called by the apply thread. */
  public void restored(LogPosition last) {
    if (queue != null && last.logIndex() > 0) {
      queue.offerOfLog(new AuditWork.Restored(nodeId, last));
    }
  }

  /**
   * A client has not proved that it is this user. If there are many in a minute, the rest of them
   * have one line together.
   *
   * @param user as the client says, of any length; null if it has named none
   * @param address where the connection comes from
   * @param mechanism such as SCRAM-SHA-256; null if the client has named none
   * @param reason a constant, which clients are not told
   */
  public void loginFailed(
      @Nullable String user, String address, @Nullable String mechanism, String reason) {
    if (queue != null && failures.takesLine(address, nowMicros())) {
      login("login_failed", user, address, mechanism, reason);
    }
  }

  /** A client has proved that it is this user. */
  public void loginSucceeded(@Nullable String user, String address, @Nullable String mechanism) {
    login("login", user, address, mechanism, "done");
  }

  private void login(
      String event,
      @Nullable String user,
      String address,
      @Nullable String mechanism,
      String outcome) {
    if (queue != null) {
      JsonLine line =
          local(event)
              .text("outcome", outcome)
              .text("user", user)
              .text("address", address)
              .text("mechanism", mechanism);
      queue.offerOfNode(new AuditWork.OfNode(line.toString()));
    }
  }

  /**
   * An administrator has asked this node for something.
   *
   * @param action a constant, such as {@code add_node}
   * @param object what it was about; empty if the action says it all
   * @param outcome {@code done}, or why not
   */
  public void administered(Actor by, String action, String object, String outcome) {
    if (queue != null) {
      JsonLine line =
          local("administration")
              .text("outcome", outcome)
              .text("action", action)
              .text("object", object);
      queue.offerOfNode(new AuditWork.OfNode(by.describe(line).toString()));
    }
  }

  private long nowMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
  }

  private JsonLine local(String event) {
    long known = term.getAsLong();
    return EventLines.local(nodeId, nowMicros(), event, known == 0 ? null : (Long) known);
  }

  /** Writes what is queued, as far as the disk takes it within some seconds. */
  @Override
  public void close() {
    if (writer != null) {
      writer.close();
    }
  }
}
