package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import dev.tollgate.node.replica.LockPicture;
import dev.tollgate.node.replica.ReplicaFigures;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Looks at a node for the console. One thread uses it. */
final class ConsoleLook implements ConsoleFeed.Eye<ConsolePicture> {
  private static final long FIGURES_MILLIS = 1_000;

  private final NodeParts node;
  private @Nullable CompletableFuture<ReplicaFigures> asked;
  private @Nullable ReplicaFigures figures;

  ConsoleLook(NodeParts node) {
    this.node = requireNonNull(node, "node");
  }

  @Override
  public ConsolePicture look(Set<UserName> viewers, BooleanSupplier ended) {
    LockPicture locks = LockPicture.take(node.replica().state(), viewers, ended);
    return new ConsolePicture(
        System.currentTimeMillis(),
        System.nanoTime(),
        locks,
        node.log().status(),
        node.log().adminUrls(),
        node.replica().isLeading(),
        figures());
  }

  /** The figures of now, or the last ones while an entry takes long; one question at a time. */
  private @Nullable ReplicaFigures figures() {
    CompletableFuture<ReplicaFigures> answer = asked;
    if (answer == null) {
      answer = new CompletableFuture<>();
      node.replica().figures(answer::complete);
    }
    asked = answer;
    try {
      figures = answer.get(FIGURES_MILLIS, TimeUnit.MILLISECONDS);
      asked = null;
    } catch (TimeoutException e) {
      // the answer comes after the entry that is being applied
    } catch (ExecutionException e) {
      throw new IllegalStateException("the figures of the replica", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return figures;
  }
}
