package dev.tollgate.micrometer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockCounts;
import dev.tollgate.lock.LockObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * Metrics of a {@link LockClient}. No name of a lock is a tag, because there may be any number of
 * names; TOLLGATE.LOCKS has them.
 *
 * <p>The gauges fall to zero when the client is closed. A registry that outlives several clients
 * needs tags that tell the clients apart.
 */
public final class TollgateLockMetrics implements MeterBinder {
  private final LockClient client;
  private final Tags tags;

  public TollgateLockMetrics(LockClient client) {
    this(client, Tags.empty());
  }

  /**
   * @param tags for every meter, such as {@code Tags.of("client", "billing")}
   */
  public TollgateLockMetrics(LockClient client, Iterable<Tag> tags) {
    this.client = requireNonNull(client, "client");
    this.tags = Tags.of(tags);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    gauge(registry, "locks.held", "Locks that are held", LockCounts::locks);
    gauge(registry, "leases.alive", "Leases that are renewed", LockCounts::leases);
    gauge(registry, "requests.waiting", "Requests that wait for locks", LockCounts::waiting);
    gauge(registry, "elections.led", "Elections that this process leads", LockCounts::leading);
    client.addObserver(new Events(registry, tags));
  }

  private void gauge(
      MeterRegistry registry, String name, String description, ToIntFunction<LockCounts> count) {
    Gauge.builder(meter(name), client, now -> count.applyAsInt(now.counts()))
        .description(description)
        .tags(tags)
        .register(registry);
  }

  /** Below a prefix of the client: nodes have meters of their own. */
  private static String meter(String name) {
    return "tollgate.client." + name;
  }

  /** Meters that requests and losses drive. All of them exist from the beginning on, at zero. */
  private static final class Events implements LockObserver {
    private final Map<Outcome, Timer> requests = new EnumMap<>(Outcome.class);
    private final Counter lost;

    Events(MeterRegistry registry, Tags tags) {
      for (Outcome outcome : Outcome.values()) {
        requests.put(
            outcome,
            Timer.builder(meter("requests"))
                .description("Requests for locks, with their wait in line")
                .tags(tags.and("outcome", outcome.name().toLowerCase(Locale.ROOT)))
                .register(registry));
      }
      lost =
          Counter.builder(meter("leases.lost"))
              .description("Leases that were lost before they were closed")
              .tags(tags)
              .register(registry);
    }

    @Override
    public void requestEnded(Outcome outcome, Duration took) {
      requireNonNull(requests.get(outcome), "timer").record(took);
    }

    @Override
    public void leaseLost(Lease lease) {
      lost.increment();
    }
  }
}
