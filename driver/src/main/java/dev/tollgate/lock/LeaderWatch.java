package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.transport.ClusterSession;
import dev.tollgate.transport.HolderWatch;
import dev.tollgate.transport.TransportException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tells a listener who leads, one leader after the other. A slow listener may miss some. */
final class LeaderWatch implements HolderWatch.Listener {
  private final ListenerLane lane;
  private final Consumer<Optional<Leader>> listener;
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private volatile Optional<Leader> latest = Optional.empty();
  private Optional<Leader> told = Optional.empty();
  private boolean toldAny;

  LeaderWatch(ListenerLane lane, Consumer<Optional<Leader>> listener) {
    this.lane = requireNonNull(lane, "lane");
    this.listener = requireNonNull(listener, "listener");
  }

  /**
   * Asks the cluster from now on, whatever becomes of the connection.
   *
   * @throws SQLException if the user may not learn who holds the lock
   */
  HolderWatch begin(Connection connection, String lock) throws SQLException {
    try (PreparedStatement asked = connection.prepareStatement("SELECT lock_token(?)")) {
      asked.setString(1, lock);
      asked.executeQuery().close();
    }
    try {
      return connection.unwrap(ClusterSession.class).watchHolder(lock, this);
    } catch (TransportException e) {
      throw new SQLException(e.getMessage(), e.failure().sqlState(), e);
    }
  }

  @Override
  public void holds(long token, @Nullable String owner) {
    latest = owner == null ? Optional.empty() : Optional.of(new Leader(owner, token));
    if (scheduled.compareAndSet(false, true)) {
      lane.execute(this::tell);
    }
  }

  /** Its lane makes one call after the other, each of which sees what the one before has set. */
  private void tell() {
    scheduled.set(false);
    Optional<Leader> now = latest;
    if (!toldAny || !now.equals(told)) {
      toldAny = true;
      told = now;
      listener.accept(now);
    }
  }
}
