package dev.tollgate.transport;

import dev.tollgate.value.Parameter;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.TransactionMode;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.h2.value.Value;

/** What tests of this package have in common: short waits, and statements as text. */
final class Client {
  /** A tenth of what the driver uses. */
  static final Timing QUICK =
      new Timing(
          Duration.ofMillis(100),
          Duration.ofMillis(300),
          Duration.ofMillis(50),
          Duration.ofSeconds(2),
          Duration.ofMillis(300),
          Duration.ofMillis(300),
          Duration.ofMillis(200));

  private Client() {}

  static ClusterRegistry registry(LongSupplier clock) {
    return new ClusterRegistry(new Timekeeping(clock, QUICK), Cluster::installedProviders);
  }

  /** Where a clock that jumps is not to look like a node that is silent. */
  static ClusterRegistry patientRegistry(LongSupplier clock) {
    return registry(clock, Duration.ofHours(1), QUICK.tick());
  }

  /** Where the control thread does not look around unless something happens. */
  static ClusterRegistry sleepyRegistry() {
    return registry(System::nanoTime, Duration.ofHours(1), Duration.ofHours(1));
  }

  private static ClusterRegistry registry(LongSupplier clock, Duration silence, Duration tick) {
    Timing timing =
        new Timing(
            silence,
            silence.multipliedBy(3),
            tick,
            tick.multipliedBy(40),
            QUICK.cancelAgain(),
            QUICK.closeWait(),
            QUICK.renewWait());
    return new ClusterRegistry(new Timekeeping(clock, timing), Cluster::installedProviders);
  }

  /** With the waits that the driver uses: for what may not happen when the machine stalls. */
  static ClusterRegistry standardRegistry() {
    return new ClusterRegistry(
        new Timekeeping(System::nanoTime, Timing.STANDARD), Cluster::installedProviders);
  }

  static ClusterRegistry registry() {
    return registry(System::nanoTime);
  }

  static SessionSettings settings(ReadConsistency consistency, Duration failover) {
    return new SessionSettings(
        Duration.ofSeconds(60),
        Duration.ofSeconds(15),
        Duration.ofSeconds(10),
        failover,
        Duration.ofSeconds(1),
        Duration.ZERO,
        consistency,
        "test");
  }

  static SessionSettings settings(Duration failover) {
    return settings(ReadConsistency.LINEARIZABLE, failover);
  }

  static SessionSettings withLease(Duration lease) {
    SessionSettings usual = settings(Duration.ofSeconds(5));
    return new SessionSettings(
        usual.session(),
        lease,
        usual.lockWait(),
        usual.failover(),
        usual.connect(),
        usual.network(),
        usual.readConsistency(),
        usual.application());
  }

  static SessionSettings in(String timeZone, SessionSettings usual) {
    return new SessionSettings(
        usual.session(),
        usual.lease(),
        usual.lockWait(),
        usual.failover(),
        usual.connect(),
        usual.network(),
        usual.readConsistency(),
        usual.application(),
        usual.credentials(),
        timeZone);
  }

  static ClusterTarget target(String... addresses) {
    return new ClusterTarget.Remote(Arrays.stream(addresses).map(NodeAddress::parse).toList());
  }

  static ClusterSession.Statement statement(String sql, Duration timeout) {
    return new ClusterSession.Statement(
        sql,
        TransactionMode.AUTOCOMMIT,
        false,
        new KeyRequest.None(),
        0,
        0,
        List.of(Parameter.encodeValues(List.of())),
        timeout);
  }

  static Reply run(ClusterSession session, String sql) throws TransportException {
    return session.run(statement(sql, Duration.ZERO)).reply();
  }

  static long update(ClusterSession session, String sql) throws TransportException {
    Reply.Result result = (Reply.Result) run(session, sql);
    return ((StatementResult.Updated) StatementResult.read(result.body(), null)).count();
  }

  static String query(ClusterSession session, String sql) throws TransportException {
    Reply.Result result = (Reply.Result) run(session, sql);
    List<Value[]> rows =
        ((StatementResult.Rows) StatementResult.read(result.body(), null)).rows().page().rows();
    return rows.get(0)[0].getString();
  }

  /** A clock that stands still until it is moved. */
  static final class ManualClock implements LongSupplier {
    private final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);

    @Override
    public long getAsLong() {
      return nanos.get();
    }

    void advance(Duration by) {
      nanos.addAndGet(by.toNanos());
    }
  }
}
