package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The steps of Ratis are the test's here: it has received a snapshot, and moves it. */
class SnapshotArrivalTest {
  @TempDir private Path root;
  private Path state;
  private Path aside;
  private Path received;
  private SnapshotArrival arrival;

  @BeforeEach
  void receive() throws IOException {
    state = Files.createDirectory(root.resolve("sm"));
    Files.writeString(state.resolve("snapshot.1_1"), "old");
    aside = root.resolve("sm.tmp");
    received = Files.createDirectories(root.resolve("tmp/snapshot-x"));
    Files.writeString(received.resolve("snapshot.1_9"), "new");
    arrival = new SnapshotArrival(state, root.resolve("tmp"));
  }

  @Test
  void oldStateIsKeptUntilTheNewOneIsInItsPlace() throws IOException {
    arrival.arrived();
    arrival.settle();
    assertTrue(Files.exists(aside.resolve("snapshot.1_1")), "nothing has taken its place");
    Files.move(received, state);
    arrival.settle();
    assertFalse(Files.exists(aside));
    assertEquals("new", Files.readString(state.resolve("snapshot.1_9")));
  }

  /** Or a power cut may leave neither of the two. */
  @Test
  void newNameIsSyncedBeforeTheOldStateIsRemoved() throws IOException {
    arrival.arrived();
    Files.move(received, state);
    try (RecordedForces forces = new RecordedForces()) {
      arrival.settle();
      assertEquals(List.of(root), forces.in(root));
    }
    try (RecordedForces forces = new RecordedForces()) {
      arrival.settle();
      assertEquals(List.of(), forces.in(root), "asked for each append");
    }
  }

  @Test
  void nothingIsSyncedWhileNothingHasTakenItsPlace() throws IOException {
    arrival.arrived();
    try (RecordedForces forces = new RecordedForces()) {
      arrival.settle();
      assertEquals(List.of(), forces.in(root));
    }
  }

  @Test
  void snapshotThatCouldNotBeMovedIsFollowedByAnother() throws IOException {
    arrival.arrived();
    arrival.arrived();
    assertTrue(Files.exists(aside.resolve("snapshot.1_1")), "nothing has taken its place");
    Files.move(received, state);
    arrival.settle();
    assertFalse(Files.exists(aside));
  }

  @Test
  void startPutsTheOldStateBack() throws IOException {
    arrival.arrived();
    arrival.putBack();
    arrival.removeLeft();
    assertEquals("old", Files.readString(state.resolve("snapshot.1_1")));
    assertFalse(Files.exists(aside));
    assertFalse(Files.exists(received));
  }

  @Test
  void startKeepsTheNewStateThatIsInItsPlace() throws IOException {
    arrival.arrived();
    Files.move(received, state);
    arrival.putBack();
    arrival.removeLeft();
    assertEquals("new", Files.readString(state.resolve("snapshot.1_9")));
    assertFalse(Files.exists(aside));
  }
}
