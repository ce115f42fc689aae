package dev.tollgate.samples.torture.history;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** For each rule what breaks it, and beside it what looks like that and is all right. */
class CheckerTest {
  /**
   * A run to which something is added.
   *
   * @param name what happened
   * @param broken the rules that it breaks
   */
  record Case(String name, Set<Rule> broken, Consumer<RunOnPaper> what) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static Case breaks(Rule rule, String name, Consumer<RunOnPaper> what) {
    return new Case(rule + ": " + name, EnumSet.of(rule), what);
  }

  private static Case breaks(Rule rule, Rule other, String name, Consumer<RunOnPaper> what) {
    return new Case(rule + ": " + name, EnumSet.of(rule, other), what);
  }

  private static Case isFine(String name, Consumer<RunOnPaper> what) {
    return new Case("fine: " + name, EnumSet.noneOf(Rule.class), what);
  }

  /** Two holders one after another; c1 was stopped, and refused. Answers come all the time. */
  private static RunOnPaper story() {
    return new RunOnPaper()
        .answers(0, 60_000)
        .grant("c1", "alpha", 1, 1_000, 1_010)
        .check("c1", "alpha", 0, 1_020, 1_030)
        .write("c1", "alpha", 1, 1, 1_040, 1_050)
        .interrupted("c1", Interruption.Cause.STOPPED, 1_060, 11_000)
        .grant("c2", "alpha", 2, 2_000, 8_000)
        .check("c2", "alpha", 1, 8_010, 8_020)
        .write("c2", "alpha", 2, 2, 8_030, 8_040)
        .refusedWrite("c1", "alpha", 1, 2, 11_010, 11_020)
        .release("c2", "alpha", 2, 12_000, 12_010, Outcome.DONE)
        .miss("c3", "alpha", 9_000, 11_000);
  }

  static Stream<Case> holders() {
    return Stream.of(
        isFine("nothing else", run -> {}),
        isFine(
            "a grant that is answered before the release that makes room for it",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .release("c1", "beta", 3, 20_100, 20_200, Outcome.DONE)
                    .grant("c2", "beta", 4, 20_050, 20_110)),
        breaks(
            Rule.ONE_HOLDER,
            "the second has it before the first asks to give it back",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .release("c1", "beta", 3, 20_200, 20_210, Outcome.DONE)
                    .grant("c2", "beta", 4, 20_050, 20_110)
                    .release("c2", "beta", 4, 20_300, 20_310, Outcome.DONE)),
        breaks(
            Rule.ONE_HOLDER,
            "the store says that another held it",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .answeredWrite("c1", "beta", 3, 1, 20_020, 20_030, Outcome.DONE, "")
                    .lastIsThere("c1", 4)),
        breaks(
            Rule.ONE_HOLDER,
            "in the log a lower token comes after a higher one",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .grant("c2", "beta", 4, 20_005, 20_500)
                    .write("c2", "beta", 4, 1, 20_510, 20_600)
                    .unknownWrite("c1", "beta", 3, 2, 20_490, 20_620)),
        breaks(
            Rule.ONE_HOLDER,
            "two wrote the same number",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .write("c1", "beta", 3, 1, 20_020, 20_030)
                    .release("c1", "beta", 3, 20_040, 20_050, Outcome.DONE)
                    .grant("c2", "beta", 4, 20_060, 20_070)
                    .write("c2", "beta", 4, 1, 20_080, 20_090)));
  }

  static Stream<Case> tokens() {
    return Stream.of(
        breaks(
            Rule.TOKEN_ONCE,
            "two registers, one token",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010).grant("c2", "gamma", 3, 20_005, 20_020)),
        breaks(
            Rule.TOKENS_RISE,
            "of one register",
            run ->
                run.grant("c1", "beta", 4, 20_000, 20_010).grant("c2", "beta", 3, 20_020, 20_030)),
        breaks(
            Rule.TOKENS_RISE,
            "of two registers",
            run ->
                run.grant("c1", "beta", 4, 20_000, 20_010).grant("c2", "gamma", 3, 20_020, 20_030)),
        isFine(
            "a lower token for who had asked before",
            run ->
                run.grant("c1", "beta", 4, 20_000, 20_010).grant("c2", "gamma", 3, 19_990, 20_030)),
        isFine(
            "a lower token of a request that was answered with 55T01 though it was granted",
            run ->
                run.distrusted("c1", "gamma", 19_980, 19_990)
                    .distrusted("c1", "gamma", 20_000, 20_005)
                    .grant("c2", "beta", 4, 19_985, 20_010)
                    .grant("c1", "gamma", 3, 20_020, 20_030)),
        breaks(
            Rule.TOKENS_RISE,
            "after another client was answered with 55T01",
            run ->
                run.distrusted("c3", "gamma", 19_980, 19_990)
                    .grant("c2", "beta", 4, 19_985, 20_010)
                    .grant("c1", "gamma", 3, 20_020, 20_030)),
        breaks(
            Rule.TOKENS_RISE,
            "after a request that found that the one before was not granted",
            run ->
                run.distrusted("c1", "gamma", 19_980, 19_990)
                    .miss("c1", "gamma", 19_992, 19_995)
                    .grant("c2", "beta", 4, 19_985, 20_010)
                    .grant("c1", "gamma", 3, 20_020, 20_030)));
  }

  static Stream<Case> staleWrites() {
    return Stream.of(
        breaks(
            Rule.NO_STALE_WRITE,
            "after its own release",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .release("c1", "beta", 3, 20_020, 20_030, Outcome.DONE)
                    .write("c1", "beta", 3, 1, 20_040, 20_050)),
        breaks(
            Rule.NO_STALE_WRITE,
            Rule.ONE_HOLDER,
            "after the grant to another",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .grant("c2", "beta", 4, 20_020, 20_030)
                    .write("c1", "beta", 3, 1, 20_040, 20_050)
                    .write("c2", "beta", 4, 2, 20_060, 20_070)),
        breaks(
            Rule.NO_STALE_WRITE,
            "without any token",
            run -> run.write("c3", "beta", 0, 1, 20_040, 20_050)),
        breaks(
            Rule.NO_STALE_WRITE,
            "under the token of another register",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .write("c1", "gamma", 3, 1, 20_040, 20_050)),
        isFine(
            "a write that was under way when its client gave the lock back",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .write("c1", "beta", 3, 1, 20_015, 20_050)
                    .release("c1", "beta", 3, 20_020, 20_030, Outcome.DONE)));
  }

  static Stream<Case> lostWrites() {
    return Stream.of(
        breaks(
            Rule.NO_WRITE_LOST,
            "acknowledged, and not there",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .answeredWrite("c1", "beta", 3, 1, 20_020, 20_030, Outcome.DONE, "")),
        breaks(
            Rule.NO_WRITE_LOST,
            "refused, and there",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .interrupted("c1", Interruption.Cause.STALLED, 20_010, 20_020)
                    .refusedWrite("c1", "beta", 3, 1, 20_020, 20_030)
                    .lastIsThere("c1", 3)),
        breaks(
            Rule.NO_WRITE_LOST,
            "failed with nothing applied, and there",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .answeredWrite("c1", "beta", 3, 1, 20_020, 20_030, Outcome.FAILED, "08001")
                    .lastIsThere("c1", 3)),
        breaks(Rule.NO_WRITE_LOST, Rule.ONE_HOLDER, "there twice", run -> run.rowAgain("c1")),
        breaks(
            Rule.NO_WRITE_LOST,
            Rule.ONE_HOLDER,
            "there, and nobody wrote it",
            run -> run.rowAgain("c9")),
        isFine(
            "unknown, and there",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .unknownWrite("c1", "beta", 3, 1, 20_020, 20_030)),
        isFine(
            "unknown, and not there",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .answeredWrite("c1", "beta", 3, 1, 20_020, 20_030, Outcome.UNKNOWN, "08007")));
  }

  static Stream<Case> reads() {
    return Stream.of(
        breaks(
            Rule.NO_STALE_READ,
            "a check that misses an acknowledged write",
            run -> run.check("c3", "alpha", 1, 8_050, 8_060)),
        isFine(
            "one that began before the acknowledgement",
            run -> run.check("c3", "alpha", 1, 8_035, 8_060)));
  }

  static Stream<Case> leases() {
    return Stream.of(
        breaks(
            Rule.NO_LEASE_LOST,
            "a write that is refused",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .refusedWrite("c1", "beta", 3, 1, 20_020, 20_030)),
        breaks(
            Rule.NO_LEASE_LOST,
            "nothing left to release",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .release("c1", "beta", 3, 20_020, 20_030, Outcome.NOTHING)),
        breaks(
            Rule.NO_LEASE_LOST,
            "a session that is gone",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .answeredWrite("c1", "beta", 3, 1, 20_020, 20_030, Outcome.UNKNOWN, "08006")),
        breaks(
            Rule.NO_LEASE_LOST,
            "only another client was stopped",
            run ->
                run.grant("c2", "beta", 3, 2_000, 2_010)
                    .refusedWrite("c2", "beta", 3, 1, 2_020, 2_030)),
        isFine(
            "it had given the lock back",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .release("c1", "beta", 3, 20_020, 20_030, Outcome.DONE)
                    .refusedWrite("c1", "beta", 3, 1, 20_040, 20_050)),
        isFine(
            "it was cut off",
            run ->
                run.grant("c1", "beta", 3, 20_000, 20_010)
                    .interrupted("c1", Interruption.Cause.CUT_OFF, 20_010, 28_000)
                    .refusedWrite("c1", "beta", 3, 1, 28_020, 28_030)));
  }

  static Stream<Case> replicas() {
    return Stream.of(
        breaks(Rule.REPLICAS_EQUAL, "a row is missing", run -> run.lags("n2")),
        breaks(Rule.REPLICAS_EQUAL, "a checksum differs", run -> run.verdict("n3", "DIFFERS")),
        breaks(Rule.AUDITS_EQUAL, "a line differs", run -> run.audited("n2 lacks a line")),
        breaks(
            Rule.PROMISES_BETWEEN_NODES,
            "a trace breaks a rule",
            run -> run.promiseBroken("n2 has voted twice")),
        new Case("fine: audit files agree", EnumSet.noneOf(Rule.class), RunOnPaper::audited),
        breaks(
            Rule.NODES_AS_EXPECTED,
            "a node ends by itself",
            run -> run.incident("n2 ended by itself with status 70")));
  }

  /** These have probes of their own. */
  static Stream<Case> outages() {
    return Stream.of(
        new Case("AVAILABLE: never", EnumSet.of(Rule.AVAILABLE), run -> run.ends(1_000)),
        new Case(
            "AVAILABLE: silent for six seconds, and nothing was wrong",
            EnumSet.of(Rule.AVAILABLE),
            run -> run.answers(0, 10_000).answers(16_000, 60_000)),
        new Case(
            "AVAILABLE: six seconds after a fault that leaves a majority",
            EnumSet.of(Rule.AVAILABLE),
            run ->
                run.answers(0, 10_000)
                    .fault("pause", "n1", true, 10_000, 30_000)
                    .answers(16_000, 60_000)),
        new Case(
            "AVAILABLE: six seconds after healing",
            EnumSet.of(Rule.AVAILABLE),
            run ->
                run.answers(0, 10_000)
                    .fault("pause", "n1 and n2", false, 10_000, 13_000)
                    .answers(19_000, 60_000)),
        new Case(
            "AVAILABLE: to the end", EnumSet.of(Rule.AVAILABLE), run -> run.answers(0, 50_000)),
        new Case(
            "fine: four seconds after healing, however long it was ill",
            EnumSet.noneOf(Rule.class),
            run ->
                run.answers(0, 10_000)
                    .fault("pause", "n1 and n2", false, 10_000, 23_000)
                    .answers(27_000, 60_000)),
        new Case(
            "fine: four seconds after a fault that leaves a majority",
            EnumSet.noneOf(Rule.class),
            run ->
                run.answers(0, 10_000)
                    .fault("pause", "n1", true, 10_000, 30_000)
                    .answers(14_000, 60_000)),
        new Case(
            "fine: a lease lost when nobody was answered for most of its time",
            EnumSet.noneOf(Rule.class),
            run ->
                run.answers(0, 10_000)
                    .answers(14_500, 60_000)
                    .grant("c1", "beta", 3, 9_000, 9_010)
                    .refusedWrite("c1", "beta", 3, 1, 15_000, 15_010)),
        new Case(
            "NO_LEASE_LOST: when nobody was answered for less than that",
            EnumSet.of(Rule.NO_LEASE_LOST),
            run ->
                run.answers(0, 10_000)
                    .answers(13_500, 60_000)
                    .grant("c1", "beta", 3, 9_000, 9_010)
                    .refusedWrite("c1", "beta", 3, 1, 15_000, 15_010)));
  }

  private static Set<Rule> broken(RunOnPaper run) {
    return Checker.check(run.evidence()).stream()
        .map(Violation::rule)
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Rule.class)));
  }

  @ParameterizedTest
  @MethodSource({"holders", "tokens", "staleWrites", "lostWrites", "reads", "leases", "replicas"})
  void addedToTheStory(Case added) {
    RunOnPaper run = story();
    added.what().accept(run);
    assertEquals(added.broken(), broken(run));
  }

  @ParameterizedTest
  @MethodSource("outages")
  void byItself(Case alone) {
    RunOnPaper run = new RunOnPaper();
    alone.what().accept(run);
    assertEquals(alone.broken(), broken(run));
  }

  @Test
  void everyRuleHasARunThatBreaksItAlone() {
    Set<Rule> found =
        Stream.of(
                holders(),
                tokens(),
                staleWrites(),
                lostWrites(),
                reads(),
                leases(),
                replicas(),
                outages())
            .flatMap(cases -> cases)
            .filter(one -> one.broken().size() == 1)
            .flatMap(one -> one.broken().stream())
            .collect(Collectors.toSet());
    assertEquals(Set.copyOf(Arrays.asList(Rule.values())), found);
  }

  @Test
  void violationsSayWhenAndWhat() {
    List<Violation> found =
        Checker.check(
            story()
                .grant("c1", "beta", 3, 20_000, 20_010)
                .refusedWrite("c1", "beta", 3, 1, 20_020, 20_030)
                .evidence());
    assertEquals(
        List.of(
            new Violation(
                Rule.NO_LEASE_LOST,
                20_030_000_000L,
                "c1#6 WRITE of beta under 3 was answered REFUSED 23T01 20 ms after the lock was"
                    + " granted, and nothing kept the client from renewing")),
        found);
  }
}
