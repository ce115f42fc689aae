package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts logins, and passes them on. Thread-safe. */
public final class LoginCounts implements AuthenticationListener {
  private final AuthenticationListener next;
  private final LongAdder done = new LongAdder();
  private final Map<Reason, LongAdder> refused;

  public LoginCounts(AuthenticationListener next) {
    this.next = requireNonNull(next, "next");
    Map<Reason, LongAdder> counters = new EnumMap<>(Reason.class);
    for (Reason reason : Reason.values()) {
      counters.put(reason, new LongAdder());
    }
    refused = Collections.unmodifiableMap(counters);
  }

  @Override
  public void loggedIn(Attempt attempt) {
    done.increment();
    next.loggedIn(attempt);
  }

  @Override
  public void refused(Attempt attempt, Reason reason) {
    requireNonNull(refused.get(reason), "counter").increment();
    next.refused(attempt, reason);
  }

  /** How many clients have logged in. */
  public long done() {
    return done.sum();
  }

  /** How many logins were refused for this reason. */
  public long refused(Reason reason) {
    return requireNonNull(refused.get(reason), "counter").sum();
  }
}
