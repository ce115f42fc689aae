package dev.tollgate.simulation;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.log.entry.EntryBytes;

/**
 * Two versions of the product, of which the later knows a kind of command that the earlier one does
 * not: {@link Command.LimitTransactions} plays that part. Nodes begin with the earlier version, and
 * are upgraded one after the other.
 */
final class Levels {
  static final int EARLIER = 1;
  static final int LATER = 2;

  private static final FeatureLevels OF_LATER =
      new FeatureLevels(LATER, command -> isNew(command) ? LATER : EARLIER);

  private Levels() {}

  /** What a node of such a version knows. */
  static FeatureLevels of(int known) {
    return known == LATER ? OF_LATER : FeatureLevels.STANDARD;
  }

  private static boolean isNew(Command command) {
    return command instanceof Command.LimitTransactions;
  }

  /** False for a command that a version does not have. */
  static boolean knows(int known, Command command) {
    boolean beyond =
        isNew(command)
            || (command instanceof Command.RaiseFeatureLevel raise && raise.level() > EARLIER);
    return known == LATER || !beyond;
  }

  /** A node that is given what it does not know stops, and its cluster has been broken. */
  static void requireKnown(String node, int known, byte[] entry) {
    for (Command command : EntryBytes.read(entry).commands()) {
      if (!knows(known, command)) {
        throw new Violation("levels", node + " does not know " + command);
      }
    }
  }
}
