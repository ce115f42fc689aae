package dev.tollgate.samples.torture.cluster;

/**
 * What nodes did with snapshots.
 *
 * @param written when their log had grown; the log before the last but one is dropped then
 * @param restored at a start, their own
 * @param takenOver from the leader, which had no longer the entries that they lacked
 */
public record Snapshots(long written, long restored, long takenOver) {
  public static final Snapshots NONE = new Snapshots(0, 0, 0);

  /** Of this line that a node wrote. */
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
