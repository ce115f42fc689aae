package dev.tollgate.node.replica;

import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.Supervision;
import java.util.function.LongSupplier;

/** A time keeper without its thread: it looks at the clock when it is told to. */
public final class SteppedTimeKeeper {
  private final TimeKeeper keeper;

  public SteppedTimeKeeper(
      String nodeId, CommandPipeline pipeline, Supervision supervision, LongSupplier nanoTime) {
    keeper = new TimeKeeper(nodeId, pipeline, supervision, () -> false, new LeaseClock(nanoTime));
  }

  public TimeKeeper keeper() {
    return keeper;
  }

  public void tick() {
    keeper.tick();
  }
}
