package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Text;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.log.CountedAddress;
import dev.tollgate.log.Supervision;
import dev.tollgate.seal.DataKeys;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What happens on this node and in the log that auditors want to know. Callers hand events over and
 * go on; a thread for each stream makes lines of them and writes them ({@link AuditWriter}). A full
 * queue loses events, and counts them ({@link AuditQueue}). Thread-safe.
 *
 * <p>Events of the log are the same on every node, and every node writes all of them. The others
 * are of this node alone: logins, refused requests, calls of administrators, downloads.
 */
public final class AuditTrail implements AutoCloseable {
  private static final AuditTrail OFF = new AuditTrail("", Clock.systemUTC(), () -> 0);

  private final String nodeId;
  private final Clock clock;
  private final LongSupplier term;
  private final LineShares failures = new LineShares("login_failures", "address");
  private final LineShares logins = new LineShares("logins", "user");
  private final LineShares refusals = new LineShares("accesses_refused", "user");
  private final LineShares pages = new LineShares("pages_refused", "address");
  private final LineShares peers = new LineShares("nodes_refused", "address");

  /** Those that write, by their streams; empty if nothing is written. */
  private final Map<AuditStream, Outlet> outlets = new EnumMap<>(AuditStream.class);

  private final List<AuditFile> files = new ArrayList<>();
  private @Nullable SyslogSender syslog;

  private AuditTrail(String nodeId, Clock clock, LongSupplier term) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.clock = requireNonNull(clock, "clock");
    this.term = requireNonNull(term, "term");
  }

  /** What waits for a stream, and where it goes. */
  private record Outlet(AuditQueue queue, AuditWriter writer) {}

  /** Returns a trail that forgets everything. */
  public static AuditTrail off() {
    return OFF;
  }

  /**
   * Opens the files of a node.
   *
   * @param incarnation of the data directory, or null if the node keeps its log in memory
   * @param lastIndex the last entry that the data directory has; no line is about a later one
   * @param keys encrypt the files, if there are any
   * @param term the term of this node, as far as it knows
   * @throws IOException if a file cannot be written: a node that is to be audited does not start
   *     without its files
   */
  public static AuditTrail open(
      String nodeId,
      AuditSettings settings,
      @Nullable UniqueId incarnation,
      long lastIndex,
      DataKeys keys,
      Clock clock,
      LongSupplier term,
      Supervision supervision)
      throws IOException {
    AuditTrail trail = new AuditTrail(nodeId, clock, term);
    String directory = incarnation == null ? "" : incarnation.toString();
    try {
      for (AuditStream stream : AuditStream.values()) {
        AuditSettings its = stream == AuditStream.SECURITY ? settings : settings.ofActivity();
        AuditFile file = new AuditFile(its, keys, new OwnLog(directory, lastIndex));
        trail.files.add(file);
        trail.add(
            stream, file, directory, new AuditQueue(nodeId, Limits.AUDIT_EVENTS), supervision);
        trail.copy(its, file, supervision);
      }
    } catch (IOException e) {
      trail.close();
      throw e;
    }
    return trail;
  }

  private void copy(AuditSettings settings, AuditFile file, Supervision supervision)
      throws IOException {
    SyslogSettings server = settings.syslog();
    if (server != null) {
      SyslogSender sender = new SyslogSender(nodeId, server, clock);
      sender.start(settings, file, supervision);
      syslog = sender;
    }
  }

  static AuditTrail open(String nodeId, Clock clock, LongSupplier term) {
    return new AuditTrail(nodeId, clock, term);
  }

  /** Writes the lines of a stream there from now on. */
  void add(
      AuditStream stream,
      AuditTarget target,
      String directory,
      AuditQueue queue,
      Supervision supervision)
      throws IOException {
    List<LineShares> shares =
        stream == AuditStream.SECURITY
            ? List.of(failures, logins, refusals, pages, peers)
            : List.of();
    AuditWriter writer = new AuditWriter(nodeId, stream, target, directory, queue, shares, clock);
    writer.start(supervision);
    outlets.put(stream, new Outlet(queue, writer));
  }

  /** False if nobody reads what this is told, so it need not be told. */
  public boolean isOn() {
    return !outlets.isEmpty();
  }

  /** How many events were lost because the disk did not keep up. */
  public long lostEvents() {
    return outlets.values().stream().mapToLong(outlet -> outlet.queue().lostEvents()).sum();
  }

  /** How many lines were deleted with their file before the syslog server had confirmed them. */
  public long unsentLines() {
    SyslogSender sender = syslog;
    return sender == null ? 0 : sender.droppedLines();
  }

  /** The names of the keys with which files are encrypted that are there. */
  public Set<String> keysInUse() {
    Set<String> used = new LinkedHashSet<>();
    files.forEach(file -> used.addAll(file.keysInUse()));
    return used;
  }

  /**
   * A command was applied. Called by the apply thread, in log order.
   *
   * @param position with the time of the log
   * @param events what the core says of it
   */
  public void applied(
      LogPosition position, Command command, Outcome outcome, List<AuditEvent> events) {
    if (!isOn()) {
      return;
    }
    AuditEvent administered = CommandEvents.of(command, outcome);
    if (events.isEmpty() && administered == null) {
      return;
    }
    Map<AuditStream, List<AuditWork.Numbered>> all = new EnumMap<>(AuditStream.class);
    int number = 0;
    for (AuditEvent event : events) {
      add(all, number++, event);
    }
    if (administered != null) {
      add(all, number, administered);
    }
    LineTime time = timeOf(position);
    all.forEach(
        (stream, its) ->
            queue(stream).offerOfLog(new AuditWork.OfCommand(nodeId, position, time, its)));
  }

  private static void add(
      Map<AuditStream, List<AuditWork.Numbered>> all, int number, AuditEvent event) {
    all.computeIfAbsent(AuditStream.of(event), any -> new ArrayList<>())
        .add(new AuditWork.Numbered(number, event));
  }

  private AuditQueue queue(AuditStream stream) {
    return requireNonNull(outlets.get(stream), "outlet").queue();
  }

  private LineTime timeOf(LogPosition position) {
    return LineTime.of(position, position.timeMicros() > 0 ? 0 : nowMicros());
  }

  /** A snapshot was begun after this command. Called by the apply thread. */
  public void copied(LogPosition last) {
    if (last.logIndex() > 0) {
      for (Outlet outlet : outlets.values()) {
        outlet.queue().offerOfLog(new AuditWork.Copied(nodeId, last, timeOf(last)));
      }
    }
  }

  /** A snapshot has replaced the state. Called by the apply thread. */
  public void restored(LogPosition last) {
    if (last.logIndex() > 0) {
      for (Outlet outlet : outlets.values()) {
        outlet.queue().offerOfLog(new AuditWork.Restored(nodeId, last, timeOf(last)));
      }
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
    if (isOn() && failures.takesLine(address, nowMicros())) {
      tell(AuditStream.SECURITY, login("login_failed", user, address, mechanism, reason));
    }
  }

  /**
   * A client has proved that it is this user. If a user logs in often in a minute, the rest of the
   * lines are among those of activity.
   */
  public void loginSucceeded(@Nullable String user, String address, @Nullable String mechanism) {
    if (isOn()) {
      boolean first = logins.takesLine(user == null ? "" : user, nowMicros());
      tell(
          first ? AuditStream.SECURITY : AuditStream.ACTIVITY,
          login("login", user, address, mechanism, "done"));
    }
  }

  private JsonLine login(
      String event,
      @Nullable String user,
      String address,
      @Nullable String mechanism,
      String outcome) {
    return local(event)
        .text("outcome", outcome)
        .text("user", user == null ? null : Text.first(user, Limits.USER_NAME_CHARS))
        .text("address", address)
        .text(
            "mechanism", mechanism == null ? null : Text.first(mechanism, Limits.USER_NAME_CHARS));
  }

  /**
   * This node has refused a client something for want of a right. If there are many in a minute,
   * the rest of them have one line together.
   *
   * @param reason what the client was told
   */
  public void accessRefused(Actor by, String reason) {
    if (isOn() && refusals.takesLine(by.user() == null ? "" : by.user(), nowMicros())) {
      tell(
          AuditStream.SECURITY,
          by.describe(
              local("access_refused")
                  .text("outcome", "refused")
                  .text("reason", Text.first(reason, Limits.AUDITED_REASON_CHARS))));
    }
  }

  /**
   * This node has refused a page of its admin address, and no {@link #loginFailed} says so. If an
   * address asks often in a minute, the rest of them have one line together. Addresses of IPv6
   * count by their network.
   *
   * @param user that lacks a right; null for a client that has not logged in
   * @param page method and path, as the client has sent them
   * @param reason what the client was told
   */
  public void pageRefused(InetAddress from, @Nullable String user, String page, String reason) {
    if (isOn() && pages.takesLine(CountedAddress.of(from), nowMicros())) {
      tell(
          AuditStream.SECURITY,
          local("page_refused")
              .text("outcome", "refused")
              .text("reason", Text.first(reason, Limits.AUDITED_REASON_CHARS))
              .text("user", user)
              .text("address", from.getHostAddress())
              .text("page", Text.first(page, Limits.AUDITED_REASON_CHARS)));
    }
  }

  /**
   * This node has refused a message on its port for nodes. If there are many from an address in a
   * minute, the rest of them have one line together. Addresses of IPv6 count by their network.
   *
   * @param peer as the caller calls itself, of any length
   * @param reason a constant
   */
  public void nodeRefused(InetAddress from, String peer, String reason) {
    if (isOn() && peers.takesLine(CountedAddress.of(from), nowMicros())) {
      tell(
          AuditStream.SECURITY,
          local("node_refused")
              .text("outcome", "refused")
              .text("reason", reason)
              .text("peer", Text.first(peer, Limits.USER_NAME_CHARS))
              .text("address", from.getHostAddress()));
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
    if (isOn()) {
      tell(
          AuditStream.SECURITY,
          by.describe(
              local("administration")
                  .text("outcome", outcome)
                  .text("action", action)
                  .text("object", object)));
    }
  }

  private void tell(AuditStream stream, JsonLine line) {
    queue(stream).offerOfNode(new AuditWork.OfNode(line.toString()));
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
    outlets.values().forEach(outlet -> outlet.writer().close());
    if (syslog != null) {
      syslog.close();
    }
  }
}
