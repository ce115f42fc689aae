package dev.tollgate.core;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.RandomSeed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the replicas have agreed upon about their own work: with what statements are computed, which
 * commands were skipped, and how the last comparison of them goes.
 */
final class Agreement {
  private RandomSeed randomSeed = RandomSeed.NONE;
  private Computing computing = Computing.ANYWHERE;
  private @Nullable ReplicaCheck check;
  private final List<StateRecord.SkippedCommand> skipped = new ArrayList<>();

  /** What random numbers follow from besides the position. */
  RandomSeed randomSeed() {
    return randomSeed;
  }

  void setRandomSeed(RandomSeed seed) {
    randomSeed = seed;
  }

  Computing computing() {
    return computing;
  }

  void setComputing(Computing changed) {
    computing = changed;
  }

  /** The last comparison of the replicas, or null if there was none. */
  @Nullable ReplicaCheck check() {
    return check;
  }

  /** Begins a comparison at a log index; false if one has begun there before. */
  boolean beginCheck(long logIndex, List<String> nodes) {
    ReplicaCheck last = check;
    if (last != null && last.logIndex() == logIndex) {
      return false;
    }
    check = new ReplicaCheck(logIndex, nodes);
    return true;
  }

  /** Takes what a node answers to a comparison; false if it is too late or nobody asked it. */
  boolean report(Command.ReportChecksum answer) {
    ReplicaCheck current = check;
    return current != null
        && current.logIndex() == answer.checkIndex()
        && current.report(answer.nodeId(), answer.checksum());
  }

  void restore(StateRecord.CheckState state) {
    check = new ReplicaCheck(state);
  }

  /** The commands that were refused without being carried out: replicas that skip others differ. */
  List<StateRecord.SkippedCommand> skipped() {
    return Collections.unmodifiableList(skipped);
  }

  void skip(StateRecord.SkippedCommand command) {
    skipped.add(command);
  }
}
