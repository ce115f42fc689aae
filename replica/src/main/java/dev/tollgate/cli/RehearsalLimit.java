package dev.tollgate.cli;

import java.time.Duration;

/**
 * Reads the value of {@code --rehearsal}. Zero stands for "off". A supervisor that waits for a node
 * gives up after some minutes at most.
 */
final class RehearsalLimit extends TimeOrOff {
  RehearsalLimit() {
    super(
        "([0-9]{1,6})(s|ms)",
        Duration.ofSeconds(60),
        "5s, 500ms or off",
        "from 1ms to 60s; off for no rehearsal");
  }
}
