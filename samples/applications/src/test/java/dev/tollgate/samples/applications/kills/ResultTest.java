package dev.tollgate.samples.applications.kills;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.samples.applications.kills.Result.Delay;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each thing that can be wrong with a run is seen. */
class ResultTest {
  private static final Duration MOST = Duration.ofSeconds(15);
  private static final Duration DETECTION = Duration.ofSeconds(5);

  private static final List<Delay> IN_TIME =
      List.of(new Delay(false, MOST, 1, MOST.plus(DETECTION)));

  private static List<String> violations(Result result) {
    return result.violations(MOST, DETECTION);
  }

  @Test
  void everyJobOnceIsRight() {
    assertEquals(List.of(), violations(new Result(2, List.of(1, 0), 2, 3, 0, IN_TIME)));
  }

  @Test
  void lostJobIsSeen() {
    assertEquals(
        List.of("job 1 is lost: it has no effect"),
        violations(new Result(2, List.of(0), 1, 2, 0, IN_TIME)));
  }

  @Test
  void doubledJobIsSeen() {
    assertEquals(
        List.of("job 1 is doubled: it has 2 effects"),
        violations(new Result(2, List.of(0, 1, 1), 3, 3, 0, IN_TIME)));
  }

  @Test
  void effectOfNoJobIsSeen() {
    assertEquals(
        List.of("job 2 has an effect and was never submitted"),
        violations(new Result(2, List.of(0, 1, 2), 3, 3, 0, IN_TIME)));
  }

  @Test
  void halfATransactionIsSeen() {
    assertEquals(
        List.of("half a transaction: counters say 3, effects are 2"),
        violations(new Result(2, List.of(0, 1), 3, 3, 0, IN_TIME)));
  }

  @Test
  void rowThatTheFrameworkKeepsIsSeen() {
    assertEquals(
        List.of("the framework still has 1 rows of jobs that have ended"),
        violations(new Result(2, List.of(0, 1), 2, 2, 1, IN_TIME)));
  }

  @Test
  void slowNeighborIsSeen() {
    List<Delay> slow = List.of(new Delay(true, MOST.plusMillis(1), 0, Duration.ZERO));
    assertEquals(
        List.of("others did nothing for PT15.001S after a kill, most PT15S"),
        violations(new Result(1, List.of(0), 1, 1, 0, slow)));
  }

  @Test
  void slowResumptionIsSeen() {
    List<Delay> slow = List.of(new Delay(false, MOST, 1, MOST.plus(DETECTION).plusMillis(1)));
    assertEquals(
        List.of("the work of a killed client went on after PT20.001S, most PT20S"),
        violations(new Result(1, List.of(0), 1, 1, 0, slow)));
  }
}
