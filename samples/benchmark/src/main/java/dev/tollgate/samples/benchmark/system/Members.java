package dev.tollgate.samples.benchmark.system;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The servers of an ensemble, of which one may have been killed or stopped. */
final class Members {
  private final List<Member> all = new ArrayList<>();
  private @Nullable Member killed;
  private @Nullable Member silent;

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
    Member member = named(name);
    member.kill();
    killed = member;
  }

  /** Stops one server with SIGSTOP. */
  void silence(String name) throws Exception {
    Member member = named(name);
    member.signal("STOP");
    silent = member;
  }

  private Member named(String name) {
    return all.stream().filter(member -> member.name().equals(name)).findFirst().orElseThrow();
  }

  /** Restarts the killed server or continues the stopped one; returns when it takes part again. */
  void revive() throws Exception {
    Member stopped = silent;
    if (stopped != null) {
      stopped.signal("CONT");
      stopped.awaitReady();
      silent = null;
    }
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
