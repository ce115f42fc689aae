package dev.tollgate.history;

import dev.tollgate.history.Answer.Refused;
import dev.tollgate.history.Answer.Unknown;
import dev.tollgate.history.Answer.Value;
import dev.tollgate.history.CellRequest.Acquire;
import dev.tollgate.history.CellRequest.ForceRelease;
import dev.tollgate.history.CellRequest.HoldsLock;
import dev.tollgate.history.CellRequest.Read;
import dev.tollgate.history.CellRequest.ReadToken;
import dev.tollgate.history.CellRequest.Release;
import dev.tollgate.history.CellRequest.Renew;
import dev.tollgate.history.CellRequest.Revoke;
import dev.tollgate.history.CellRequest.Write;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client that asks random things of cells, and remembers what it was answered. A patient one has
 * one connection and uses its own lease. An impatient one creates leases, takes them from one
 * connection to the next, renews them by hand, and now and then revokes or forgets one.
 */
final class CellClient {
  /** The cells whose locks are used. */
  static final int LOCKS = 3;

  /** All cells; the others are registers alone. */
  static final int CELLS = 5;

  private static final Duration TTL = Duration.ofSeconds(2);
  private static final long VALUES_PER_CLIENT = 1_000_000;
  private static final int REQUESTS_PER_ABORT = 60;
  private static final int REQUESTS_PER_LEASE = 200;

  private final Patience patience;
  private final Random random;
  private final String name;
  private final List<CellCall> calls = new ArrayList<>();
  private final Map<Long, Long> leaseEnds = new HashMap<>();

  /** The last token that this client was given for a lock, be it current or not. */
  private final Map<Integer, Long> tokens = new HashMap<>();

  private final Map<Integer, Long> values = new HashMap<>();
  private final Set<Integer> held = new HashSet<>();
  private long lease;
  private boolean hasLease;
  private long renewedNanos;
  private long lastValue;

  CellClient(Patience.Connector cluster, long seed, int number) {
    this.patience = new Patience(cluster, number);
    this.random = new Random(seed + number);
    this.name = "C" + number;
    this.lastValue = (number + 1) * VALUES_PER_CLIENT;
    // for the own lease a number that no lease of the cluster has
    this.lease = -1L - number;
    this.hasLease = !patience.isImpatient();
  }

  /**
   * What a client saw.
   *
   * @param leaseEnds as for {@link CellHistory#anomalies}
   */
  record Seen(List<CellCall> calls, Map<Long, Long> leaseEnds) {}

  /** Asks until it is stopped. */
  Seen run(AtomicBoolean stopped, AtomicInteger answered) throws SQLException {
    CellConnection connection = null;
    while (!stopped.get()) {
      if (connection == null) {
        connection = patience.connect().map(CellConnection::new).orElse(null);
      }
      if (connection != null) {
        try {
          perform(connection, answered);
        } catch (SQLException e) {
          if (!patience.isLost(e)) {
            throw e;
          }
          connection.close();
          connection = null;
        }
      }
    }
    if (connection != null) {
      leaseEnds.putIfAbsent(lease, System.nanoTime());
      connection.close();
    }
    return new Seen(calls, leaseEnds);
  }

  private record Choice(int cell, CellRequest request) {}

  /** Asks for one thing; fails if that has cost the connection. */
  private void perform(CellConnection connection, AtomicInteger answered) throws SQLException {
    if (patience.isImpatient()) {
      if (random.nextInt(REQUESTS_PER_ABORT) == 0) {
        Patience.abortSoon(connection.jdbc(), random);
      }
      if (!hasLease || random.nextInt(REQUESTS_PER_LEASE) == 0) {
        createLease(connection);
      }
    }
    Choice choice = choose();
    long sentNanos = System.nanoTime();
    try {
      Answer answer = connection.ask(choice.cell, choice.request);
      remember(choice, answer, sentNanos);
      learn(choice, answer, sentNanos);
      answered.incrementAndGet();
    } catch (SQLException e) {
      // with 08001 the driver says that nothing was changed
      if (!e.getSQLState().equals(SqlState.NO_QUORUM.state())) {
        remember(choice, new Unknown(), sentNanos);
      }
      throw e;
    }
  }

  private void createLease(CellConnection connection) throws SQLException {
    hasLease = false;
    held.clear();
    long sentNanos = System.nanoTime();
    lease = connection.createLease(TTL.toMillis());
    if (leaseEnds.containsKey(lease)) {
      throw new IllegalStateException("lease " + lease + " was created twice");
    }
    hasLease = true;
    renewed(sentNanos);
  }

  private void renewed(long sentNanos) {
    renewedNanos = sentNanos;
    leaseEnds.put(lease, sentNanos + TTL.toNanos());
  }

  private void remember(Choice choice, Answer answer, long sentNanos) {
    calls.add(
        new CellCall(name, choice.cell, choice.request, answer, sentNanos, System.nanoTime()));
  }

  private void learn(Choice choice, Answer answer, long sentNanos) {
    if (answer.equals(new Refused(SqlState.LEASE_GONE.state()))) {
      hasLease = !patience.isImpatient();
      held.clear();
    } else if (choice.request instanceof Renew) {
      renewed(sentNanos);
    } else if (choice.request instanceof Revoke) {
      hasLease = false;
    } else if (choice.request instanceof Acquire && answer instanceof Value token) {
      tokens.put(choice.cell, token.number());
      held.add(choice.cell);
    } else if (choice.request instanceof Release || answer instanceof Refused) {
      held.remove(choice.cell);
    } else if (choice.request instanceof Read && answer instanceof Value value) {
      values.put(choice.cell, value.number());
    }
  }

  private Choice choose() {
    if (patience.isImpatient()) {
      if (System.nanoTime() - renewedNanos > TTL.toNanos() / 3) {
        return new Choice(CellCall.ALL, new Renew(lease));
      }
      if (random.nextInt(REQUESTS_PER_LEASE) == 0) {
        return new Choice(CellCall.ALL, new Revoke(lease));
      }
    }
    int cell = random.nextInt(CELLS);
    int dice = random.nextInt(100);
    if (cell >= LOCKS) {
      return new Choice(cell, dice < 40 ? new Read() : write(cell, OptionalLong.empty()));
    }
    return new Choice(cell, held.contains(cell) ? asHolder(cell, dice) : asOther(cell, dice));
  }

  private CellRequest asHolder(int cell, int dice) {
    if (dice < 45) {
      return fencedWrite(cell);
    }
    if (dice < 75) {
      return new Release(lease);
    }
    return dice < 80 ? new Acquire(lease, dice % 2 == 0) : asAnybody(cell, dice);
  }

  private CellRequest asOther(int cell, int dice) {
    if (dice < 50) {
      return new Acquire(lease, dice % 2 == 0);
    }
    if (dice < 65 && tokens.containsKey(cell)) {
      return fencedWrite(cell);
    }
    return dice < 70 ? new Release(lease) : asAnybody(cell, dice);
  }

  private CellRequest asAnybody(int cell, int dice) {
    if (dice < 88) {
      Long token = tokens.get(cell);
      return token != null && dice % 2 == 0 ? new HoldsLock(token) : new ReadToken();
    }
    return dice < 98 ? new Read() : new ForceRelease();
  }

  private CellRequest fencedWrite(int cell) {
    return write(cell, OptionalLong.of(tokens.get(cell)));
  }

  /** Every other write is a compare-and-set, which expects what the client has read last. */
  private CellRequest write(int cell, OptionalLong token) {
    OptionalLong expected =
        random.nextBoolean() && values.containsKey(cell)
            ? OptionalLong.of(values.get(cell))
            : OptionalLong.empty();
    return new Write(expected, ++lastValue, token);
  }
}
