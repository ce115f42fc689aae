package dev.tollgate.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Notice;
import dev.tollgate.log.entry.Callbacks;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.store.SqlDatabase;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What those who hear of the log throw does not reach it. */
class ReplicaListenersTest {
  private static final Command OPEN =
      new Command.OpenSession(new ClientInfo("app", "host", "1"), 5, 60_000, 15_000);

  private static class Listener implements Replica.Listener {
    final List<Notice> notices = new ArrayList<>();

    @Override
    public void startedLeading(ClusterState state) {}

    @Override
    public void stoppedLeading() {}

    @Override
    public void noticed(Notice notice) {
      notices.add(notice);
    }

    @Override
    public void failed(Throwable cause) {}
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class})
  void listenerThatThrowsDoesNotKeepTheOthersFromHearingAndTheReplicaFromApplying(
      Class<? extends Throwable> thrown) throws Exception {
    Throwable bug = thrown.getConstructor().newInstance();
    try (SqlDatabase database = new SqlDatabase()) {
      Replica replica = new Replica("n1", database);
      Listener hears = new Listener();
      replica.addListener(
          new Listener() {
            @Override
            public void noticed(Notice notice) {
              ReplicaListenersTest.<RuntimeException>raise(bug);
            }

            @Override
            public void stoppedLeading() {
              ReplicaListenersTest.<RuntimeException>raise(bug);
            }
          });
      replica.addListener(hears);
      replica.startedLeading(1);
      for (int i = 1; i <= 2; i++) {
        replica.apply(i, EntryBytes.of(i, List.of(OPEN), List.of()));
      }
      replica.stoppedLeading();
      assertNull(replica.failure());
      assertEquals(2, hears.notices.size());
    }
  }

  /** A process without memory or without its classes has to stop. */
  @Test
  void endOfTheProcessIsNotHidden() {
    assertThrows(
        OutOfMemoryError.class,
        () -> Callbacks.tell("a test", () -> raise(new OutOfMemoryError())));
    assertThrows(
        NoClassDefFoundError.class,
        () -> Callbacks.tell("a test", () -> raise(new NoClassDefFoundError())));
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void raise(Throwable bug) throws T {
    throw (T) bug;
  }
}
