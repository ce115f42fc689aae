package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.HolderWatch;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The elections in which a client stands, and its listeners for holders. Thread-safe. */
final class Elections {
  private final LockClient client;
  private final Set<LeaderElection> elections = ConcurrentHashMap.newKeySet();
  private final Set<HolderWatch> watches = ConcurrentHashMap.newKeySet();

  Elections(LockClient client) {
    this.client = requireNonNull(client, "client");
  }

  LeaderElection stand(String name, String candidate, Duration ttl, Candidate work) {
    LeaderElection election = new LeaderElection(client, name, candidate, ttl, work);
    elections.add(election);
    election.start();
    return election;
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
    LeaderWatch told = new LeaderWatch(client.threads().listeners(), listener);
    try {
      HolderWatch watch = client.calls().call(connection -> told.begin(connection, lock));
      watches.add(watch);
      return () -> {
        watches.remove(watch);
        watch.close();
      };
    } catch (SQLException e) {
      throw LockException.of("the holder of lock '" + lock + "' is not watched", e);
    }
  }

  void close() {
    watches.forEach(HolderWatch::close);
    List.copyOf(elections).forEach(LeaderElection::close);
  }
}
