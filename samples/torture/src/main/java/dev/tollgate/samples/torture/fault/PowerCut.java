package dev.tollgate.samples.torture.fault;

import dev.tollgate.samples.torture.cluster.Node;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * The power of one node, of a majority, or of all at once is cut: kill -9, and of what no sync
 * covers any part is lost. Now and then it is cut once more while they start.
 */
final class PowerCut implements Fault {
  private static final double SEVERAL = 0.7;
  private static final double ONCE_MORE = 0.4;
  private static final int LONGEST_START_MILLIS = 2_000;

  @Override
  public Injury inflict(Scene scene) throws IOException {
    List<Node> victims = scene.victims(SEVERAL);
    Random random = scene.random();
    boolean onceMore = scene.chance(ONCE_MORE);
    int startMillis = random.nextInt(LONGEST_START_MILLIS);
    String left = cut(victims, random);
    return Injury.of(
        "power of "
            + scene.names(victims)
            + " cut"
            + (onceMore ? ", and once more " + startMillis + " ms after the start: " : ": ")
            + left,
        victims,
        scene.leavesQuorum(victims),
        () -> {
          if (onceMore) {
            for (Node victim : victims) {
              victim.start();
            }
            TimeUnit.MILLISECONDS.sleep(startMillis);
            cut(victims, random);
          }
          Kill.restart(victims);
        });
  }

  private static String cut(List<Node> victims, Random random) throws IOException {
    for (Node victim : victims) {
      victim.kill();
    }
    List<String> left = new ArrayList<>();
    for (Node victim : victims) {
      left.add(victim.name() + " keeps " + victim.cutPower(random));
    }
    return String.join("; ", left);
  }
}
