package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * The power of one node, of a majority, or of all at once is cut: kill -9, and of what no sync
 * covers any part is lost. Often the nodes are killed and started again before, so that they have
 * read what no sync covers: they may not go on from there as if it were on the disk.
 */
final class PowerCut implements Fault {
  private static final double SEVERAL = 0.7;
  private static final double AFTER_A_KILL = 0.5;
  private static final int LONGEST_START_MILLIS = 1_500;
  private static final int LONGEST_HANG_MILLIS = 200;

  /** Syncs last longer by 0, 10 or 20 ms afterwards: the longer, the more a cut finds under way. */
  private static final int SLOWNESSES = 3;

  private static final long SLOWNESS_MILLIS = 10;

  @Override
  public Injury inflict(Scene scene) throws IOException, InterruptedException {
    List<Node> victims = scene.victims(SEVERAL);
    Random random = scene.random();
    String before = scene.chance(AFTER_A_KILL) ? restart(victims, random) : "";
    kill(victims, random);
    List<String> left = new ArrayList<>();
    for (Node victim : victims) {
      left.add(victim.name() + " keeps " + victim.cutPower(random));
      victim.slowDisk(random.nextInt(SLOWNESSES) * SLOWNESS_MILLIS);
    }
    return Injury.of(
        "power of " + scene.names(victims) + " cut" + before + ": " + String.join("; ", left),
        victims,
        scene.leavesQuorum(victims),
        () -> Kill.restart(victims));
  }

  /** Kills nodes, half of the time while their syncs hang, so that some syncs are under way. */
  private static void kill(List<Node> nodes, Random random)
      throws IOException, InterruptedException {
    if (random.nextBoolean()) {
      for (Node node : nodes) {
        node.hangSyncs();
      }
      TimeUnit.MILLISECONDS.sleep(random.nextInt(LONGEST_HANG_MILLIS));
    }
    for (Node node : nodes) {
      node.kill();
    }
    for (Node node : nodes) {
      node.healDisk();
    }
  }

  private static String restart(List<Node> nodes, Random random)
      throws IOException, InterruptedException {
    kill(nodes, random);
    boolean ready = random.nextBoolean();
    int millis = random.nextInt(LONGEST_START_MILLIS);
    if (ready) {
      Kill.restart(nodes);
    } else {
      for (Node node : nodes) {
        node.start();
      }
    }
    TimeUnit.MILLISECONDS.sleep(millis);
    return " " + millis + " ms after a new start" + (ready ? " was ready" : "");
  }
}
