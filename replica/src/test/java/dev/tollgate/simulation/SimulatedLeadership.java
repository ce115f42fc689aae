package dev.tollgate.simulation;

import dev.tollgate.log.ratis.LeadershipRounds;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** How a simulated leader asks the other nodes for their terms: by messages like any other. */
final class SimulatedLeadership implements LeadershipRounds.Group {
  private static final long PATIENCE = World.millis(400);

  private final SimulatedNode node;
  private final Map<Long, CompletableFuture<Long>> questions = new HashMap<>();

  /** What each node answered last, for {@link Breakage#CONFIRMED_BEFORE_THE_READ}. */
  private final Map<String, Long> answers = new HashMap<>();

  private long lastQuestion;

  SimulatedLeadership(SimulatedNode node) {
    this.node = node;
    // what was answered to the process before is no answer to this one
    this.lastQuestion = (long) node.incarnation() << 32;
  }

  @Override
  public LeadershipRounds.@Nullable Leadership leadership() {
    SimulatedLog log = node.log();
    return log.leads()
        ? new LeadershipRounds.Leadership(
            log.term(), /* configurationIndex= */ 0, new TreeSet<>(node.others()), log.committed())
        : null;
  }

  @Override
  public CompletableFuture<Long> termOf(String peer) {
    node.world().count("questions for terms");
    CompletableFuture<Long> answer = new CompletableFuture<>();
    long question = ++lastQuestion;
    questions.put(question, answer);
    node.send(peer, log -> log.leadership().onTermAsked(node.id(), question));
    node.later(PATIENCE, () -> giveUp(question, peer));
    long ownTerm = node.log().term();
    return switch (node.breakage()) {
      case SILENCE_CONFIRMS -> answer.exceptionally(silence -> ownTerm);
      case CONFIRMED_BEFORE_THE_READ -> {
        answer.thenAccept(term -> answers.put(peer, term));
        Long before = answers.get(peer);
        yield before == null ? answer : CompletableFuture.completedFuture(before);
      }
      default -> answer;
    };
  }

  private void giveUp(long question, String peer) {
    CompletableFuture<Long> answer = questions.remove(question);
    if (answer != null) {
      answer.completeExceptionally(new TimeoutException(peer));
    }
  }

  private void onTermAsked(String from, long question) {
    long term = node.log().term();
    node.answer(from, log -> log.leadership().onTerm(question, term));
  }

  private void onTerm(long question, long term) {
    CompletableFuture<Long> answer = questions.remove(question);
    if (answer != null) {
      answer.complete(term);
    }
  }
}
