package dev.tollgate.samples.benchmark.measure;

/** A column of a table. */
public enum Metric {
  P50("p50 us", true),
  P99("p99 us", true),
  RELEASE_P50("release p50 us", false),
  RELEASE_P99("release p99 us", false),
  OPERATIONS("ops/s", true),
  /** Attempts that found the lock held; they do not count as operations. */
  REFUSED("refused/s", false),
  SLOWEST("max us", false),
  FEWEST_WINS("fewest wins", false),
  MOST_WINS("most wins", false),
  LEASES_LOST("leases lost", false),
  /** Time of something that takes long enough to be done once a round. */
  TAKES("takes us", true);

  private final String heading;
  private final boolean compared;

  Metric(String heading, boolean compared) {
    this.heading = heading;
    this.compared = compared;
  }

  public String heading() {
    return heading;
  }

  /** Whether tables show the ratio to the other entrants. */
  public boolean isCompared() {
    return compared;
  }
}
