package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Wall clocks that are off by half a minute or an hour, or one that is years off, and set right
 * again.
 */
final class ClockJump implements Fault {
  private static final List<Duration> OFFSETS =
      List.of(
          Duration.ofSeconds(30),
          Duration.ofSeconds(-30),
          Duration.ofHours(1),
          Duration.ofHours(-1));

  /** With TLS, certificates are not valid then: for that node alone. */
  private static final List<Duration> YEARS =
      List.of(Duration.ofDays(50 * 365), Duration.ofDays(-20 * 365));

  private static final double YEARS_OFF = 0.3;
  private static final double SEVERAL = 0.4;

  @Override
  public Injury inflict(Scene scene) throws IOException {
    boolean yearsOff = scene.random().nextDouble() < YEARS_OFF;
    List<Node> victims = yearsOff ? List.of(scene.victim()) : scene.victims(SEVERAL);
    List<Duration> offsets = yearsOff ? YEARS : OFFSETS;
    Duration offset = offsets.get(scene.random().nextInt(offsets.size()));
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
