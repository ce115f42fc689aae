package dev.tollgate.samples.benchmark.system;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The servers of an ensemble, of which one may have been killed. */
final class Members {
  private final List<Member> all = new ArrayList<>();
  private @Nullable Member killed;

  void add(Member member) {
    all.add(member);
  }

  /** Returns when each server takes part. */
  void awaitReady() throws Exception {
    for (Member member : all) {
      member.awaitReady();
    }
  }

  /** Returns whether the servers are a majority without one of them. */
  boolean surviveOne() {
    return all.size() > 2;
  }

  /** Kills one server with SIGKILL and returns when its process is gone. */
  void kill(String name) throws InterruptedException {
    Member member = all.stream().filter(m -> m.name().equals(name)).findFirst().orElseThrow();
    member.kill();
    killed = member;
  }

  /** Restarts the killed server, if there is one, and returns when it takes part again. */
  void restartKilled() throws Exception {
    Member member = killed;
    if (member != null) {
      member.startAgain();
      member.awaitReady();
      killed = null;
    }
  }

  void stop() throws InterruptedException {
    for (Member member : all) {
      member.kill();
    }
  }
}
