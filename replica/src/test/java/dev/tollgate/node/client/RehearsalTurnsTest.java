package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UserName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** No client keeps the writes of others from being tried, and none waits for long. */
class RehearsalTurnsTest {
  private static final ClientLimits LIMITS = ClientLimits.STANDARD;
  private static final long WAIT_NANOS =
      TimeUnit.MILLISECONDS.toNanos(LIMITS.rehearsalWaitMillis());
  private static final UserName ANN = new UserName("ANN");
  private static final UserName BOB = new UserName("BOB");
  private static final UserName EVE = new UserName("EVE");

  private long now;
  private final Queue<Runnable> checks = new ArrayDeque<>();
  private final List<Long> delays = new ArrayList<>();
  private final Map<String, Runnable> running = new HashMap<>();
  private final List<String> begun = new ArrayList<>();
  private final Map<String, String> refused = new HashMap<>();
  private final RehearsalTurns turns =
      new RehearsalTurns(
          Workers.Kind.REHEARSALS,
          LIMITS,
          () -> now,
          (delay, check) -> {
            delays.add(delay);
            checks.add(check);
          });

  private RehearsalTurns.Turn take(OpenResults connection, UserName user, String name) {
    RehearsalTurns.Turn turn =
        new RehearsalTurns.Turn() {
          @Override
          public void begin(Runnable ended) {
            begun.add(name);
            running.put(name, ended);
          }

          @Override
          public void refuse(String why) {
            refused.put(name, why);
          }
        };
    turns.take(connection, user, turn);
    return turn;
  }

  private RehearsalTurns.Turn take(UserName user, String name) {
    return take(new OpenResults(4), user, name);
  }

  private void end(String name) {
    running.remove(name).run();
  }

  @Test
  void connectionHasOneThread() {
    OpenResults connection = new OpenResults(4);
    for (int i = 0; i < 5; i++) {
      take(connection, UserName.ANONYMOUS, "flood" + i);
    }
    take(UserName.ANONYMOUS, "other");
    assertEquals(List.of("flood0", "other"), begun);
    end("flood0");
    assertEquals(List.of("flood0", "other", "flood1"), begun);
    assertEquals(3, turns.waiting());
  }

  @Test
  void connectionsOfAClusterWithoutUsersHaveAllThreads() {
    for (int i = 0; i < 5; i++) {
      take(UserName.ANONYMOUS, "n" + i);
    }
    assertEquals(List.of("n0", "n1", "n2", "n3"), begun);
    end("n2");
    assertEquals(List.of("n0", "n1", "n2", "n3", "n4"), begun);
  }

  @Test
  void userHasHalfOfTheThreads() {
    for (int i = 0; i < 5; i++) {
      take(ANN, "ann" + i);
    }
    take(BOB, "bob");
    assertEquals(List.of("ann0", "ann1", "bob"), begun);
    end("bob");
    assertEquals(3, turns.waiting());
    end("ann0");
    assertEquals(List.of("ann0", "ann1", "bob", "ann2"), begun);
  }

  @Test
  void withdrawnRequestNeitherBeginsNorIsRefused() {
    RehearsalTurns.Turn first = take(ANN, "ann0");
    take(ANN, "ann1");
    RehearsalTurns.Turn waiting = take(ANN, "ann2");
    take(ANN, "ann3");
    assertFalse(turns.withdraw(first), "it has begun");
    assertTrue(turns.withdraw(waiting));
    assertFalse(turns.withdraw(waiting));
    assertEquals(1, turns.waiting());
    end("ann0");
    assertEquals(List.of("ann0", "ann1", "ann3"), begun);
    now += WAIT_NANOS;
    checks.remove().run();
    assertEquals(Map.of(), refused);
  }

  @Test
  void userWithTheFewestThreadsIsNext() {
    for (int i = 0; i < 9; i++) {
      take(ANN, "ann" + i);
      take(BOB, "bob" + i);
    }
    take(EVE, "eve");
    assertEquals(List.of("ann0", "bob0", "ann1", "bob1"), begun);
    end("bob1");
    assertEquals(List.of("ann0", "bob0", "ann1", "bob1", "eve"), begun);
  }

  @Test
  void longWaitIsRefused() {
    OpenResults connection = new OpenResults(4);
    take(connection, ANN, "runs");
    assertEquals(0, checks.size());
    take(connection, ANN, "first");
    now = 7;
    take(connection, ANN, "second");
    assertEquals(List.of(WAIT_NANOS), delays);
    now = WAIT_NANOS - 1;
    checks.remove().run();
    assertEquals(Map.of(), refused);
    now = WAIT_NANOS;
    checks.remove().run();
    assertEquals(1, refused.size());
    assertTrue(refused.get("first").contains("waited for 5000 ms"), refused.get("first"));
    assertEquals(List.of(WAIT_NANOS, 1L, 7L), delays);
    end("runs");
    assertEquals(List.of("runs", "second"), begun);
    now = 2 * WAIT_NANOS;
    checks.remove().run();
    assertEquals(1, refused.size());
    assertEquals(0, checks.size());
    end("second");
    assertEquals(0, turns.waiting());
  }

  @Test
  void userHasHalfOfThePlaces() {
    int most = LIMITS.queuedRehearsals();
    for (int i = 0; i < most; i++) {
      take(ANN, "ann" + i);
    }
    assertEquals(most / 2, turns.waiting());
    assertTrue(refused.get("ann" + (most - 1)).contains("user ANN"), refused.toString());
    for (int i = 0; i < most; i++) {
      take(BOB, "bob" + i);
    }
    assertEquals(most, turns.waiting());
    refused.clear();
    take(UserName.ANONYMOUS, "late");
    assertTrue(refused.get("late").startsWith(most + " statements wait"), refused.toString());
  }
}
