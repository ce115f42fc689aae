package dev.tollgate.samples.torture.disk;

import java.util.Random;

/**
 * Which of the changes that no sync covers are on the disk after a power cut. Nothing is assumed of
 * their order, except in the kind {@link Kind#MOMENT}. Has the random numbers of one cut.
 */
final class Cut {
  /** What a device writes at once, in bytes. */
  static final int SECTOR = 512;

  /** What a kernel writes at once, in bytes. */
  static final int PAGE = 4096;

  /** What was lost, in broad terms. */
  enum Kind {
    /** Only what was synced is there. */
    NOTHING(3),
    /** All is there, as after a kill. */
    EVERYTHING(1),
    /** What came before one moment is there, and some sectors of what was written then. */
    MOMENT(2),
    /** Each page, and each name, is as it was at some moment since the sync. */
    PAGES(2),
    /** Each sector, and each name, is. */
    SECTORS(2);

    private final int weight;

    Kind(int weight) {
      this.weight = weight;
    }

    static Kind any(Random random) {
      int left = 0;
      for (Kind kind : values()) {
        left += kind.weight;
      }
      left = random.nextInt(left);
      for (Kind kind : values()) {
        left -= kind.weight;
        if (left < 0) {
          return kind;
        }
      }
      throw new AssertionError(left);
    }
  }

  private final Kind kind;
  private final Random random;
  private final long moment;

  /** How often the newest version is there, where it may be any. */
  private final double newest;

  /**
   * @param first the time of the first change that no sync covers
   * @param last the time of the last one
   */
  Cut(Kind kind, Random random, long first, long last) {
    this.kind = kind;
    this.random = random;
    this.moment = first + (long) (random.nextDouble() * (last - first + 1));
    this.newest = random.nextDouble();
  }

  int unit() {
    return kind == Kind.PAGES ? PAGE : SECTOR;
  }

  /**
   * Returns how many of the changes of one unit, or of one size, are there.
   *
   * @param times of the changes, in order
   */
  int kept(long[] times) {
    return switch (kind) {
      case NOTHING -> 0;
      case EVERYTHING -> times.length;
      case MOMENT -> keptUntilMoment(times);
      case PAGES, SECTORS ->
          random.nextDouble() < newest ? times.length : random.nextInt(times.length + 1);
    };
  }

  private int keptUntilMoment(long[] times) {
    int kept = 0;
    while (kept < times.length
        && (times[kept] < moment || (times[kept] == moment && random.nextBoolean()))) {
      kept++;
    }
    return kept;
  }

  /** True if a change of names is there. */
  boolean keeps(long time) {
    return switch (kind) {
      case NOTHING -> false;
      case EVERYTHING -> true;
      case MOMENT -> time < moment;
      case PAGES, SECTORS -> random.nextDouble() < newest;
    };
  }
}
