package dev.tollgate.samples.applications.kills;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * What a run has left, and how long others took to go on.
 *
 * @param jobs how many were submitted, with numbers from 0
 * @param effects the job of each effect, in the order of their ids
 * @param counted the sum of the counters, which change with the effects
 * @param runs how often jobs have begun
 * @param remainder rows that the framework still has of jobs
 * @param delays of each kill
 */
record Result(
    int jobs, List<Integer> effects, int counted, int runs, int remainder, List<Delay> delays) {

  Result {
    effects = List.copyOf(effects);
    delays = List.copyOf(delays);
  }

  /**
   * How long the others took after a kill.
   *
   * @param ofLeader whether a node was killed, and not a client
   * @param others until the next effect of another client
   * @param stranded how many jobs the killed client had begun without an effect
   * @param resumed until all of these had their effect; zero if there were none
   */
  record Delay(boolean ofLeader, Duration others, int stranded, Duration resumed) {}

  /**
   * What is wrong.
   *
   * @param most what others may take to do their next piece of work
   * @param detection what the framework takes besides to see that a client is dead
   */
  List<String> violations(Duration most, Duration detection) {
    List<String> wrong = new ArrayList<>();
    Map<Integer, Integer> times = new TreeMap<>();
    effects.forEach(job -> times.merge(job, 1, Integer::sum));
    IntStream.range(0, jobs)
        .filter(job -> !times.containsKey(job))
        .forEach(job -> wrong.add("job " + job + " is lost: it has no effect"));
    times.forEach(
        (job, count) -> {
          if (count != 1) {
            wrong.add("job " + job + " is doubled: it has " + count + " effects");
          }
          if (job < 0 || job >= jobs) {
            wrong.add("job " + job + " has an effect and was never submitted");
          }
        });
    if (counted != effects.size()) {
      wrong.add("half a transaction: counters say " + counted + ", effects are " + effects.size());
    }
    if (remainder != 0) {
      wrong.add("the framework still has " + remainder + " rows of jobs that have ended");
    }
    for (Delay delay : delays) {
      if (delay.others().compareTo(most) > 0) {
        wrong.add("others did nothing for " + delay.others() + " after a kill, most " + most);
      }
      if (delay.resumed().compareTo(most.plus(detection)) > 0) {
        wrong.add(
            "the work of a killed client went on after "
                + delay.resumed()
                + ", most "
                + most.plus(detection));
      }
    }
    return wrong;
  }

  /** In one line: counts, and seconds as median and maximum. */
  String summary() {
    List<Delay> ofClients = delays.stream().filter(delay -> !delay.ofLeader()).toList();
    List<Delay> ofLeaders = delays.stream().filter(Delay::ofLeader).toList();
    List<Delay> stranding = ofClients.stream().filter(delay -> delay.stranded() > 0).toList();
    return String.format(
        Locale.ROOT,
        "%d jobs, %d effects, %d doubled, %d runs; %d clients killed: others went on after %s,"
            + " %d stranded jobs after %s; %d leaders killed: clients went on after %s",
        jobs,
        effects.size(),
        effects.size() - effects.stream().distinct().count(),
        runs,
        ofClients.size(),
        seconds(ofClients.stream().map(Delay::others).toList()),
        stranding.stream().mapToInt(Delay::stranded).sum(),
        seconds(stranding.stream().map(Delay::resumed).toList()),
        ofLeaders.size(),
        seconds(ofLeaders.stream().map(Delay::others).toList()));
  }

  private static String seconds(List<Duration> durations) {
    if (durations.isEmpty()) {
      return "-";
    }
    List<Duration> sorted = durations.stream().sorted().toList();
    return String.format(
        Locale.ROOT,
        "%.1f s (most %.1f s)",
        sorted.get(sorted.size() / 2).toMillis() / 1000.0,
        sorted.get(sorted.size() - 1).toMillis() / 1000.0);
  }
}
