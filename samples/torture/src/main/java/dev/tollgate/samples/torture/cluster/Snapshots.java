package dev.tollgate.samples.torture.cluster;

/**
 * What nodes did with snapshots.
 *
 * @param written snapshots written because the log had grown; the log before the last snapshot but
 *     one is dropped then
 * @param restored own snapshots restored at a start
 * @param takenOver snapshots from the leader, which no longer had the entries that the node lacked
 */
public record Snapshots(long written, long restored, long takenOver) {
  public static final Snapshots NONE = new Snapshots(0, 0, 0);

  /** Returns what one line that a node wrote tells of snapshots. */
  static Snapshots told(String line) {
    return new Snapshots(
        line.contains(": snapshot at log index ") ? 1 : 0,
        line.contains(": restored the snapshot at log index ") ? 1 : 0,
        line.contains(": took over the leader's snapshot at log index ") ? 1 : 0);
  }

  Snapshots plus(Snapshots other) {
    return new Snapshots(
        written + other.written, restored + other.restored, takenOver + other.takenOver);
  }
}
