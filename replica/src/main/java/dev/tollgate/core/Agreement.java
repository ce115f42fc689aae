package dev.tollgate.core;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.RandomSeed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the replicas have agreed upon about their own work: the environment of statements, the
 * feature level, the skipped commands, and the last comparison of the replicas.
 */
final class Agreement {
  private RandomSeed randomSeed = RandomSeed.NONE;
  private Computing computing = Computing.ANYWHERE;
  private int featureLevel = FeatureLevels.FIRST;
  private @Nullable ReplicaCheck check;
  private final List<StateRecord.SkippedCommand> skipped = new ArrayList<>();

  /** What random numbers follow from besides the log position. */
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

  /** The level of the commands that may be in the log. */
  int featureLevel() {
    return featureLevel;
  }

  /** Raises the feature level; returns false if the cluster has this level or a higher one. */
  boolean raiseFeatureLevel(int level) {
    boolean raises = level > featureLevel;
    featureLevel = Math.max(featureLevel, level);
    return raises;
  }

  /** The last comparison of the replicas, or null if there was none. */
  @Nullable ReplicaCheck check() {
    return check;
  }

  /** Begins a comparison at a log index; returns false if one has already begun at that index. */
  boolean beginCheck(long logIndex, List<String> nodes) {
    ReplicaCheck last = check;
    if (last != null && last.logIndex() == logIndex) {
      return false;
    }
    check = new ReplicaCheck(logIndex, nodes);
    return true;
  }

  /** Records a node's answer to a comparison; returns false if it is too late or unrequested. */
  boolean report(Command.ReportChecksum answer) {
    ReplicaCheck current = check;
    return current != null
        && current.logIndex() == answer.checkIndex()
        && current.report(answer.nodeId(), answer.checksum());
  }

  void restore(StateRecord.CheckState state) {
    check = new ReplicaCheck(state);
  }

  /**
   * The commands that were refused without being carried out: replicas that skip different commands
   * differ.
   */
  List<StateRecord.SkippedCommand> skipped() {
    return Collections.unmodifiableList(skipped);
  }

  boolean hasSkipped(long logIndex, int ordinal) {
    return skipped.contains(new StateRecord.SkippedCommand(logIndex, ordinal));
  }

  void skip(StateRecord.SkippedCommand command) {
    skipped.add(command);
  }
}
