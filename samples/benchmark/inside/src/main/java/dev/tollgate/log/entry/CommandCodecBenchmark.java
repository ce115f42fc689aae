package dev.tollgate.log.entry;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.wire.WireReader;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A command on its way into the log and out of it. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CommandCodecBenchmark {
  private final Command acquire =
      new Command.Perform(
          new SessionId(12),
          345,
          new Operation.AcquireLock(
              new LockName("nightly-report"), null, LockMode.EXCLUSIVE, 10_000));

  private final byte[] encoded = EntryCodec.encode(acquire);

  /** Encodes a command to bytes. */
  @Benchmark
  public byte[] encode() {
    return EntryCodec.encode(acquire);
  }

  /** Decodes a command from bytes. */
  @Benchmark
  public Object decode() {
    return CommandCodec.read(new WireReader(encoded));
  }
}
