package dev.tollgate.core;

import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A lock that is acquired and released while other locks are held. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xmx2g"})
public class LockTableBenchmark {
  private static final RequestId REQUEST = new RequestId(new SessionId(1), 1);
  private static final LockName LOCK = new LockName("job");

  /** The number of locks held by another lease. */
  @Param({"0", "1000", "1000000"})
  public int held;

  private final LockTable locks = new LockTable(Capacity.STANDARD);
  private final LockGrants grants =
      new LockGrants(
          locks,
          Capacity.STANDARD,
          new EventRecorder(new SessionTable(Capacity.STANDARD), locks),
          new LockGrants.Listener() {
            @Override
            public void completed(RequestId request, Outcome outcome) {}

            @Override
            public void dropped(Hold hold) {}
          });
  private final Lease lease = lease(1);

  private static Lease lease(long id) {
    return new Lease(
        new LeaseId(id), "owner", 15_000, 0, null, LeaseKind.CLIENT, UserName.ANONYMOUS);
  }

  /** Acquires the other locks. */
  @Setup(Level.Trial)
  public void hold() {
    Lease other = lease(2);
    for (int i = 0; i < held; i++) {
      grants.acquire(new LockName("held-" + i), other, LockMode.EXCLUSIVE, 0, REQUEST, 0);
    }
  }

  /** One exclusive hold. */
  @Benchmark
  public boolean acquireAndRelease() {
    grants.acquire(LOCK, lease, LockMode.EXCLUSIVE, 0, REQUEST, 0);
    return grants.release(LOCK, lease, 0);
  }
}
