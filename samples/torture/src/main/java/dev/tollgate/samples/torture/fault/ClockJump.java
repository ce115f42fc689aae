package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Wall clocks that are off by half a minute or an hour, and set right again. */
final class ClockJump implements Fault {
  private static final List<Duration> OFFSETS =
      List.of(
          Duration.ofSeconds(30),
          Duration.ofSeconds(-30),
          Duration.ofHours(1),
          Duration.ofHours(-1));

  private static final double SEVERAL = 0.4;

  @Override
  public Injury inflict(Scene scene) throws IOException {
    List<Node> victims = scene.victims(SEVERAL);
    Duration offset = OFFSETS.get(scene.random().nextInt(OFFSETS.size()));
    for (Node victim : victims) {
      victim.offsetClock(offset);
    }
    return Injury.of(
        "clock of "
            + scene.names(victims)
            + (offset.isNegative() ? " back by " : " ahead by ")
            + offset.abs().toSeconds()
            + " s",
        victims,
        true,
        () -> {
          for (Node victim : victims) {
            victim.offsetClock(Duration.ZERO);
          }
        });
  }
}
