package dev.tollgate.samples.applications.kills;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Who is killed, and when.
 *
 * @param seed which repeats the schedule
 */
record Schedule(long seed, List<Kill> kills) {
  /** How many jobs are submitted for each kill. */
  static final int JOBS_PER_KILL = 24;

  /** Most effects that a kill waits for: enough jobs are left for the clients that go on. */
  private static final int MOST_EFFECTS = 10;

  Schedule {
    kills = List.copyOf(kills);
  }

  /**
   * One kill.
   *
   * @param victim the index of a client, or {@link #LEADER}
   * @param withLeader whether the leader of the cluster is killed in the same moment as the client
   * @param afterEffects how many effects the kill waits for since the one before
   */
  record Kill(int victim, boolean withLeader, int afterEffects) {
    static final int LEADER = -1;

    boolean isOfLeader() {
      return victim == LEADER;
    }
  }

  /** Clients, the leader, and both: in turn, two kills of a client alone to one of each. */
  static Schedule of(long seed, int kills, int clients) {
    Random random = new Random(seed);
    List<Kill> list = new ArrayList<>();
    for (int i = 0; i < kills; i++) {
      int victim = i % 4 == 1 ? Kill.LEADER : random.nextInt(clients);
      list.add(new Kill(victim, i % 4 == 3, 1 + random.nextInt(MOST_EFFECTS)));
    }
    return new Schedule(seed, list);
  }

  int jobs() {
    return kills.size() * JOBS_PER_KILL;
  }
}
