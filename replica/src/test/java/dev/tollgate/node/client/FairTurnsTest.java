package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UserName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class FairTurnsTest {
  private static final UserName EVE = new UserName("EVE");
  private static final UserName BOB = new UserName("BOB");
  private static final UserName ANN = new UserName("ANN");

  /** What runs: each work ends when it is taken from here and run. */
  private final Deque<Runnable> running = new ArrayDeque<>();

  private final List<String> ran = new ArrayList<>();
  private final FairTurns<UserName> turns = FairTurns.ofUsers(running::addLast, 4, 8);

  private boolean run(FairTurns<UserName> its, UserName user) {
    return its.run(user, () -> ran.add(user.value()));
  }

  private void endFirst() {
    running.removeFirst().run();
  }

  @Test
  void oneUserHasThreeQuartersOfTheThreadsAndHalfOfThePlaces() {
    for (int i = 0; i < 7; i++) {
      assertTrue(run(turns, EVE), "work " + i);
    }
    assertEquals(3, running.size());
    assertEquals(4, turns.waiting());
    assertFalse(run(turns, EVE), "more than half of the places");
    assertTrue(run(turns, BOB));
    assertEquals(4, running.size(), "a thread is left for others");
  }

  @Test
  void usersWithFewThreadsAreNext() {
    for (int i = 0; i < 6; i++) {
      run(turns, EVE);
    }
    run(turns, BOB);
    run(turns, BOB);
    run(turns, ANN);
    for (int i = 0; i < 9; i++) {
      endFirst();
    }
    assertEquals(List.of("EVE", "EVE", "EVE", "BOB", "ANN", "BOB", "EVE", "EVE", "EVE"), ran);
    assertEquals(0, turns.waiting());
  }

  /** Where there is one thread, a user waits for one work of each other user. */
  @Test
  void usersTakeTurns() {
    FairTurns<UserName> one = FairTurns.ofUsers(running::addLast, 1, 8);
    for (int i = 0; i < 4; i++) {
      run(one, EVE);
    }
    run(one, BOB);
    run(one, BOB);
    for (int i = 0; i < 6; i++) {
      endFirst();
    }
    assertEquals(List.of("EVE", "BOB", "EVE", "BOB", "EVE", "EVE"), ran);
  }

  @Test
  void withoutUsersThereAreNoShares() {
    for (int i = 0; i < 12; i++) {
      assertTrue(run(turns, UserName.ANONYMOUS), "work " + i);
    }
    assertEquals(4, running.size());
    assertFalse(run(turns, UserName.ANONYMOUS), "no place is left");
  }

  @Test
  void whatWaitsIsWithdrawn() {
    Runnable late = () -> ran.add("late");
    Collections.nCopies(4, BOB).forEach(user -> run(turns, user));
    assertTrue(turns.run(BOB, late));
    assertTrue(turns.withdraw(late));
    assertFalse(turns.withdraw(late));
    for (int i = 0; i < 4; i++) {
      endFirst();
    }
    assertEquals(Collections.nCopies(4, "BOB"), ran);
    assertTrue(running.isEmpty());
  }

  @Test
  void threadsThatHaveEndedKeepNoShare() {
    FairTurns<UserName> ended =
        FairTurns.ofUsers(
            work -> {
              throw new RejectedExecutionException("ended");
            },
            1,
            1);
    assertThrows(RejectedExecutionException.class, () -> run(ended, EVE));
    assertThrows(RejectedExecutionException.class, () -> run(ended, EVE));
    assertEquals(0, ended.waiting());
  }
}
