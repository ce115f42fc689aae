package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class LeadershipRoundsTest {
  private final Supervision supervision =
      new Supervision(
          "n1",
          failure -> {
            throw new AssertionError(failure);
          });

  private static final long TERM = 7;

  /** A leader whose followers answer when the test says so. */
  private static final class ManualGroup implements LeadershipRounds.Group {
    record Question(String to, CompletableFuture<Long> answer) {}

    final List<Question> questions = new ArrayList<>();
    LeadershipRounds.@Nullable Leadership leadership;

    ManualGroup(int voters) {
      leadership = led(TERM, 1, voters, 100);
    }

    @Override
    public LeadershipRounds.@Nullable Leadership leadership() {
      return leadership;
    }

    @Override
    public CompletableFuture<Long> termOf(String nodeId) {
      Question question = new Question(nodeId, new CompletableFuture<>());
      questions.add(question);
      return question.answer();
    }

    /** The oldest question to this node that has no answer is answered. */
    void answer(String node, long term) {
      open(node).complete(term);
    }

    void fail(String node) {
      open(node).completeExceptionally(new IOException("no answer"));
    }

    private CompletableFuture<Long> open(String node) {
      return questions.stream()
          .filter(question -> question.to().equals(node) && !question.answer().isDone())
          .findFirst()
          .orElseThrow()
          .answer();
    }

    long asked(String node) {
      return questions.stream().filter(question -> question.to().equals(node)).count();
    }
  }

  private static LeadershipRounds.Leadership led(
      long term, long configurationIndex, int voters, long committed) {
    SortedSet<String> followers = new TreeSet<>();
    for (int i = 2; i <= voters; i++) {
      followers.add("n" + i);
    }
    return new LeadershipRounds.Leadership(term, configurationIndex, followers, committed);
  }

  /** Answers in their order: of n2, n3 and so on; "=" the same term, "-" another, "x" none. */
  static Stream<Arguments> answers() {
    return Stream.of(
        arguments(1, "", "proven"),
        arguments(2, "", "waiting"),
        arguments(2, "=", "proven"),
        arguments(2, "-", "not proven"),
        arguments(2, "x", "not proven"),
        arguments(3, "=", "proven"),
        arguments(3, "-", "waiting"),
        arguments(3, "x", "waiting"),
        arguments(3, "-=", "proven"),
        arguments(3, "x=", "proven"),
        arguments(3, "--", "not proven"),
        arguments(3, "-x", "not proven"),
        arguments(3, "xx", "not proven"),
        arguments(4, "=", "waiting"),
        arguments(4, "==", "proven"),
        arguments(4, "=--", "not proven"),
        arguments(5, "=", "waiting"),
        arguments(5, "==", "proven"),
        arguments(5, "-x=", "waiting"),
        arguments(5, "-x==", "proven"),
        arguments(5, "=-x-", "not proven"),
        arguments(5, "xx-", "not proven"));
  }

  @ParameterizedTest(name = "{0} voters answer {1}: {2}")
  @MethodSource("answers")
  void majorityInTheTermOfTheLeaderProves(int voters, String answers, String expected) {
    ManualGroup group = new ManualGroup(voters);
    CompletableFuture<OptionalLong> asker = new LeadershipRounds(group, supervision).readIndex();
    for (int i = 0; i < answers.length(); i++) {
      String node = "n" + (i + 2);
      switch (answers.charAt(i)) {
        case '=' -> group.answer(node, TERM);
        case '-' -> group.answer(node, TERM + 1);
        default -> group.fail(node);
      }
    }
    assertEquals(expected, state(asker));
  }

  @Test
  void followerInAnEarlierTermProvesNothing() {
    ManualGroup group = new ManualGroup(3);
    CompletableFuture<OptionalLong> asker = new LeadershipRounds(group, supervision).readIndex();
    group.answer("n2", TERM - 1);
    group.answer("n3", TERM - 1);
    assertEquals("not proven", state(asker));
  }

  @Test
  void indexIsTheOneOfBeforeTheQuestions() {
    ManualGroup group = new ManualGroup(3);
    CompletableFuture<OptionalLong> asker = new LeadershipRounds(group, supervision).readIndex();
    group.leadership = led(TERM, 1, 3, 200);
    group.answer("n2", TERM);
    assertEquals(OptionalLong.of(100), asker.join());
  }

  static Stream<LeadershipRounds.@Nullable Leadership> whatLeadershipBecomes() {
    return Stream.of(
        null, // it has stepped down, or the members change
        led(TERM + 2, 1, 3, 100),
        led(TERM, 2, 3, 100),
        led(TERM, 1, 5, 100));
  }

  @ParameterizedTest
  @MethodSource("whatLeadershipBecomes")
  void leadershipThatDoesNotLastIsNotProven(LeadershipRounds.@Nullable Leadership later) {
    ManualGroup group = new ManualGroup(3);
    CompletableFuture<OptionalLong> asker = new LeadershipRounds(group, supervision).readIndex();
    group.leadership = later;
    group.answer("n2", TERM);
    assertEquals("not proven", state(asker));
  }

  @Test
  void whoDoesNotLeadAsksNobody() {
    ManualGroup group = new ManualGroup(3);
    group.leadership = null;
    LeadershipRounds rounds = new LeadershipRounds(group, supervision);
    assertEquals("not proven", state(rounds.readIndex()));
    assertEquals("not proven", state(rounds.readIndex()));
    assertEquals(0, group.questions.size());
  }

  @Test
  void answersThatWereOnTheirWayDoNotCountForWhoAsksLater() {
    ManualGroup group = new ManualGroup(3);
    LeadershipRounds rounds = new LeadershipRounds(group, supervision);
    CompletableFuture<OptionalLong> first = rounds.readIndex();
    CompletableFuture<OptionalLong> second = rounds.readIndex();
    CompletableFuture<OptionalLong> third = rounds.readIndex();
    group.leadership = led(TERM, 1, 3, 200);
    group.answer("n2", TERM);
    assertEquals("proven", state(first));
    group.answer("n3", TERM);
    assertEquals("waiting", state(second), "n3 was asked before, and may have voted since");
    group.answer("n3", TERM);
    assertEquals("proven", state(second));
    assertEquals(OptionalLong.of(200), third.join(), "all who wait share a round");
    assertEquals(4, group.questions.size());
  }

  @Test
  void nodeThatOwesAnAnswerIsNotAskedAgain() {
    ManualGroup group = new ManualGroup(3);
    LeadershipRounds rounds = new LeadershipRounds(group, supervision);
    for (int i = 0; i < 10; i++) {
      CompletableFuture<OptionalLong> asker = rounds.readIndex();
      group.answer("n2", TERM);
      assertEquals("proven", state(asker));
    }
    assertEquals(10, group.asked("n2"));
    assertEquals(1, group.asked("n3"));
    CompletableFuture<OptionalLong> asker = rounds.readIndex();
    group.fail("n3");
    assertEquals(2, group.asked("n3"), "now it is asked for this round");
    group.fail("n2");
    group.answer("n3", TERM);
    assertEquals("proven", state(asker));
  }

  @Test
  void roundThatFailsDoesNotHoldUpTheNext() {
    ManualGroup group = new ManualGroup(3);
    LeadershipRounds rounds = new LeadershipRounds(group, supervision);
    CompletableFuture<OptionalLong> first = rounds.readIndex();
    CompletableFuture<OptionalLong> second = rounds.readIndex();
    group.fail("n2");
    group.fail("n3");
    assertEquals("not proven", state(first));
    group.answer("n3", TERM);
    assertEquals("proven", state(second));
  }

  @Test
  void nextRoundBeginsBeforeAnybodyHearsOfThisOne() {
    ManualGroup group = new ManualGroup(2);
    LeadershipRounds rounds = new LeadershipRounds(group, supervision);
    CompletableFuture<Long> askedByThen = rounds.readIndex().thenApply(index -> group.asked("n2"));
    CompletableFuture<OptionalLong> second = rounds.readIndex();
    group.answer("n2", TERM);
    assertEquals(2, askedByThen.join());
    assertEquals("waiting", state(second));
  }

  /** Of a leader whose questions to the others end like this. */
  private LeadershipRounds roundsOf(Supplier<CompletableFuture<Long>> question) {
    return new LeadershipRounds(
        new LeadershipRounds.Group() {
          @Override
          public LeadershipRounds.Leadership leadership() {
            return led(TERM, 1, 3, 100);
          }

          @Override
          public CompletableFuture<Long> termOf(String nodeId) {
            return question.get();
          }
        },
        supervision);
  }

  /** As at a node that cannot even send. */
  @Test
  void questionsThatFailAtOnceEndTheRound() {
    LeadershipRounds rounds =
        roundsOf(() -> CompletableFuture.failedFuture(new IOException("no way")));
    List<CompletableFuture<OptionalLong>> askers =
        Arrays.asList(rounds.readIndex(), rounds.readIndex());
    askers.forEach(asker -> assertEquals("not proven", state(asker)));
  }

  /** The next round would otherwise wait for this one for ever. */
  @Test
  void questionsThatThrowEndTheRound() {
    LeadershipRounds rounds =
        roundsOf(
            () -> {
              throw new IllegalStateException("a bug, on purpose");
            });
    assertEquals("not proven", state(rounds.readIndex()));
    assertEquals("not proven", state(rounds.readIndex()));
  }

  @Test
  void leadershipThatCannotBeToldIsNotProven() {
    LeadershipRounds rounds =
        new LeadershipRounds(
            new LeadershipRounds.Group() {
              @Override
              public LeadershipRounds.Leadership leadership() {
                throw new IllegalStateException("a bug, on purpose");
              }

              @Override
              public CompletableFuture<Long> termOf(String nodeId) {
                throw new UnsupportedOperationException();
              }
            },
            supervision);
    assertEquals("not proven", state(rounds.readIndex()));
    assertEquals("not proven", state(rounds.readIndex()));
  }

  private static String state(CompletableFuture<OptionalLong> asker) {
    if (!asker.isDone()) {
      return "waiting";
    }
    return asker.join().isPresent() ? "proven" : "not proven";
  }
}
