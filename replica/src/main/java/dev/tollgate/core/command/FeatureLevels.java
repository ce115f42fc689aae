package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.function.ToIntFunction;

/**
 * The feature levels that a version of Tollgate knows, and which level each command needs. A
 * cluster has a feature level, which is part of the replicated state. A command may be in the log
 * only once the cluster has the level of that command: then every member knows such commands.
 *
 * <p>Whoever adds a kind of command, or lays an old kind out in a new way, raises {@link
 * #STANDARD}'s level by one and names the command there.
 */
public final class FeatureLevels {
  /** The level of a cluster whose log says nothing of levels. */
  public static final int FIRST = 1;

  /** What this version knows: level 1, which all its commands have. */
  public static final FeatureLevels STANDARD = new FeatureLevels(FIRST, command -> FIRST);

  private final int known;
  private final ToIntFunction<Command> levels;

  /**
   * @param known the highest level that there is
   * @param levels the level of each command, from 1 to {@code known}
   */
  public FeatureLevels(int known, ToIntFunction<Command> levels) {
    this.known = requireLevel(known);
    this.levels = requireNonNull(levels, "levels");
  }

  /** The highest level that this version knows. */
  public int known() {
    return known;
  }

  /** The level from which on a command may be in the log. */
  public int of(Command command) {
    int level = requireLevel(levels.applyAsInt(command));
    if (level > known) {
      throw new IllegalArgumentException("level " + level + " of " + command + " after " + known);
    }
    return level;
  }

  static int requireLevel(int level) {
    if (level < FIRST || level > Limits.FEATURE_LEVEL_MAX) {
      throw new IllegalArgumentException("feature level: " + level);
    }
    return level;
  }
}
