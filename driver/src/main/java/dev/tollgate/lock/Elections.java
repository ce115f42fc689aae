package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.HolderWatch;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The elections in which a client stands, and its listeners for holders. An election is known until
 * its candidate has returned, also if it was closed before: its lock is not to be released.
 * Thread-safe.
 */
final class Elections {
  private final LockClient client;
  private final Set<LeaderElection> elections = ConcurrentHashMap.newKeySet();
  private boolean closed;
  private final Set<HolderWatch> watches = ConcurrentHashMap.newKeySet();

  Elections(LockClient client) {
    this.client = requireNonNull(client, "client");
  }

  LeaderElection stand(String name, String candidate, Duration ttl, Candidate work) {
    LeaderElection election = new LeaderElection(client, name, candidate, ttl, work);
    boolean begun = false;
    try {
      begin(election);
      begun = true;
      return election;
    } finally {
      if (!begun) {
        election.discard();
      }
    }
  }

  /** Begins the election, unless the elections of the client have ended meanwhile. */
  private synchronized void begin(LeaderElection election) {
    if (closed) {
      throw new IllegalStateException("the lock client is closed");
    }
    election.start();
    elections.add(election);
  }

  void forget(LeaderElection election) {
    elections.remove(election);
  }

  int countLed() {
    return (int) elections.stream().filter(LeaderElection::isLeader).count();
  }

  Watch watch(String lock, Consumer<Optional<Leader>> listener) {
    if (watches.size() >= LockLimits.LISTENERS) {
      throw new LockException(
          SqlState.TOO_MANY.state(),
          "this client has "
              + LockLimits.LISTENERS
              + " listeners for the holders of locks (LockLimits.LISTENERS)");
    }
    ListenerLane lane =
        client.threads().listeners().open("a listener for the holder of lock '" + lock + "'");
    LeaderWatch told = new LeaderWatch(lane, listener);
    boolean begun = false;
    try {
      HolderWatch watch = client.calls().call(connection -> told.begin(connection, lock));
      begin(watch);
      begun = true;
      return () -> {
        watches.remove(watch);
        watch.close();
        lane.end();
      };
    } catch (SQLException e) {
      throw LockException.of("the holder of lock '" + lock + "' is not watched", e);
    } finally {
      if (!begun) {
        lane.end();
      }
    }
  }

  /** Keeps the watch, unless the client was closed meanwhile. */
  private void begin(HolderWatch watch) {
    boolean late;
    synchronized (this) {
      late = closed;
      if (!late) {
        watches.add(watch);
      }
    }
    if (late) {
      watch.close();
      throw new IllegalStateException("the lock client is closed");
    }
  }

  private synchronized List<LeaderElection> closeForNew() {
    closed = true;
    return List.copyOf(elections);
  }

  /**
   * Ends all candidacies at once, and waits until the terms have ended: for each at most its ttl
   * after it was told to end, and not at all if the calling thread leads.
   *
   * @return the leases of the leaders that have not returned: their locks are not to be released
   */
  Set<Lease> close() {
    List<LeaderElection> ending = closeForNew();
    watches.forEach(HolderWatch::close);
    ending.forEach(LeaderElection::end);
    Set<Lease> stillLed = new HashSet<>();
    for (LeaderElection election : ending) {
      election.awaitEnd().ifPresent(term -> stillLed.add(term.lock().lease()));
    }
    return stillLed;
  }
}
