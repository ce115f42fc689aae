package dev.tollgate.core;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.TableName;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts what happened to locks, leases and fenced writes on this replica, for operators. No part
 * of the state: nothing is decided by it, and no snapshot has it. It allocates nothing but for the
 * first refused write of a table. Not thread-safe: the apply thread counts, and others read between
 * two entries.
 *
 * <p>Commands that are older than the process are not counted. A node that starts applies the end
 * of its log again, and would count a second time what it counted before.
 */
public final class LockTallies {
  /** Where the refused writes of further tables are counted. */
  public static final String OTHER_TABLES = "(others)";

  /** Where refused writes are counted that no fenced table demanded a token for. */
  public static final String NO_TABLE = "(none)";

  private static final long SECOND = 1_000_000;

  /** Bounds of waits and holds, in microseconds of log time. */
  private static final long[] BOUNDS = {
    1_000,
    5_000,
    25_000,
    100_000,
    500_000,
    SECOND,
    5 * SECOND,
    30 * SECOND,
    2 * 60 * SECOND,
    10 * 60 * SECOND,
    60 * 60 * SECOND
  };

  /**
   * What was counted so far.
   *
   * @param grants for each {@link AuditEvent.GrantWay} that there was
   * @param losses locks that were lost with their lease, for each {@link AuditEvent.LossReason}
   * @param forced holds that were ended by force
   * @param waits how long granted requests had waited, in microseconds
   * @param endedWaits requests that waited and were not granted
   * @param holds how long locks were held that are held no more, in microseconds
   * @param expiredLeases leases that were not renewed in time
   * @param expiredSessions sessions that were not heard from in time
   * @param refusedWrites writes and commits that a fence refused, by table; at most {@link
   *     Limits#TALLIED_TABLES} tables, and {@link #OTHER_TABLES}
   */
  public record Counts(
      Map<AuditEvent.GrantWay, Long> grants,
      Map<AuditEvent.LossReason, Long> losses,
      long forced,
      Tally.Count waits,
      long endedWaits,
      Tally.Count holds,
      long expiredLeases,
      long expiredSessions,
      List<TableCount> refusedWrites) {
    public Counts {
      grants = Map.copyOf(grants);
      losses = Map.copyOf(losses);
      refusedWrites = List.copyOf(refusedWrites);
      requireNonNull(waits, "waits");
      requireNonNull(holds, "holds");
    }

    public long grants(AuditEvent.GrantWay way) {
      return grants.getOrDefault(way, 0L);
    }

    public long losses(AuditEvent.LossReason reason) {
      return losses.getOrDefault(reason, 0L);
    }
  }

  /** The refused writes of a table. */
  public record TableCount(String table, long refused) {
    public TableCount {
      requireNonNull(table, "table");
    }
  }

  /** A number that changes without an allocation. */
  private static final class Counter {
    private long count;
  }

  private final long fromMicros;
  private final Map<AuditEvent.GrantWay, Counter> grants =
      counters(AuditEvent.GrantWay.class, AuditEvent.GrantWay.values());
  private final Map<AuditEvent.LossReason, Counter> losses =
      counters(AuditEvent.LossReason.class, AuditEvent.LossReason.values());
  private final Tally waits = new Tally(BOUNDS);
  private final Tally holds = new Tally(BOUNDS);
  private final Map<String, Long> refusedWrites = new LinkedHashMap<>();
  private long forced;
  private long endedWaits;
  private long expiredLeases;
  private long expiredSessions;
  private boolean counting;

  /**
   * @param fromMicros log time from which on commands are counted, microseconds since 1970
   */
  public LockTallies(long fromMicros) {
    this.fromMicros = fromMicros;
  }

  /** Goes on to a command with this log time. */
  void begin(long nowMicros) {
    counting = nowMicros >= fromMicros;
  }

  void granted(AuditEvent.GrantWay way) {
    add(grants.get(way), 1);
  }

  /** A request was granted after this wait; less than nothing if the time was set back. */
  void waited(long micros) {
    if (counting) {
      waits.add(Math.max(0, micros));
    }
  }

  void endedWait() {
    endedWaits += counting ? 1 : 0;
  }

  /** A hold has ended that lasted this long; less than nothing if the time was set back. */
  void held(long micros) {
    if (counting) {
      holds.add(Math.max(0, micros));
    }
  }

  void lost(AuditEvent.LossReason reason, int locks) {
    add(losses.get(reason), locks);
  }

  void forced(int locks) {
    forced += counting ? locks : 0;
  }

  void leaseExpired() {
    expiredLeases += counting ? 1 : 0;
  }

  void sessionExpired() {
    expiredSessions += counting ? 1 : 0;
  }

  void refusedWrite(@Nullable TableName table) {
    if (counting) {
      String name = table == null ? NO_TABLE : table.toString();
      boolean known =
          refusedWrites.containsKey(name) || refusedWrites.size() < Limits.TALLIED_TABLES;
      refusedWrites.merge(known ? name : OTHER_TABLES, 1L, Long::sum);
    }
  }

  /** What was counted so far, which stays as it is. */
  public Counts counts() {
    List<TableCount> tables = new ArrayList<>(refusedWrites.size());
    refusedWrites.forEach((table, count) -> tables.add(new TableCount(table, count)));
    return new Counts(
        numbers(grants),
        numbers(losses),
        forced,
        waits.count(),
        endedWaits,
        holds.count(),
        expiredLeases,
        expiredSessions,
        tables);
  }

  private void add(@Nullable Counter counter, int more) {
    if (counting && counter != null) {
      counter.count += more;
    }
  }

  private static <E extends Enum<E>> Map<E, Counter> counters(Class<E> type, E[] values) {
    Map<E, Counter> counters = new EnumMap<>(type);
    for (E value : values) {
      counters.put(value, new Counter());
    }
    return counters;
  }

  private static <E extends Enum<E>> Map<E, Long> numbers(Map<E, Counter> counters) {
    Map<E, Long> numbers = new LinkedHashMap<>();
    counters.forEach((value, counter) -> numbers.put(value, counter.count));
    return numbers;
  }
}
