package dev.tollgate.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.core.Capacity;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Operation.AlterUser;
import dev.tollgate.core.command.Operation.AlterUser.Change;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.SkipList;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.store.LocalEnvironment;
import dev.tollgate.store.SqlDatabase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whatever differs in the state of two nodes makes another digest. */
class StateDigestTest {
  private static final ClientInfo CLIENT = new ClientInfo("app", "host", "1");
  private static final UserName ROOT = new UserName("ROOT");
  private static final UserName ANN = new UserName("ANN");

  private record Step(long stampMicros, Command command) {}

  /** Two sessions, a lock that one holds and the other waits for, and a lease. */
  private static List<Step> usual() {
    return new ArrayList<>(
        List.of(
            new Step(1_000, new Command.AnnounceNode("n1", "n1:7400")),
            new Step(2_000, new Command.OpenSession(CLIENT, 5, 9_000, 4_000)),
            new Step(3_000, new Command.OpenSession(CLIENT, 6, 8_000, 3_000)),
            new Step(4_000, perform(1, 1, acquire("l", LockMode.EXCLUSIVE, 0))),
            new Step(5_000, perform(1, 2, new Operation.CreateLease(7_000, "worker"))),
            new Step(6_000, perform(2, 1, acquire("l", LockMode.EXCLUSIVE, 500)))));
  }

  /** A session of ROOT, and one of this user that has a lease; then more happens. */
  private static List<Step> users(UserName user, Command... more) {
    UserAccount ordinary = new UserAccount(ANN, /* administrator= */ false, List.of());
    List<Command> commands =
        new ArrayList<>(
            List.of(
                new Command.CreateFirstUser(new UserAccount(ROOT, true, List.of("m$s$k"))),
                new Command.OpenSession(CLIENT, 5, 9_000, 4_000, ROOT),
                perform(1, 1, new Operation.CreateUser(ordinary, false)),
                new Command.OpenSession(CLIENT, 6, 9_000, 4_000, user),
                perform(2, 1, new Operation.CreateLease(7_000, "worker"))));
    commands.addAll(List.of(more));
    List<Step> steps = new ArrayList<>();
    commands.forEach(command -> steps.add(new Step(1_000L * (steps.size() + 1), command)));
    return steps;
  }

  private static Command close() {
    return new Command.CloseSession(new SessionId(2));
  }

  private static Command alter(Change change, @Nullable String verifier) {
    return perform(1, 2, new AlterUser(ANN, change, verifier));
  }

  private static Command grant(Right.Kind kind, String object, String grantee) {
    return perform(1, 2, new Operation.ChangeRight(true, new Right(kind, null, object, grantee)));
  }

  private static Command perform(long session, long sequence, Operation operation) {
    return new Command.Perform(new SessionId(session), sequence, operation);
  }

  private static Operation acquire(String lock, LockMode mode, long waitMillis) {
    return new Operation.AcquireLock(new LockName(lock), null, mode, waitMillis);
  }

  private static Operation fence(String lock, long token) {
    return new Operation.FenceSession(new PresentedToken(new LockName(lock), token));
  }

  private static List<Step> with(int step, long stampMicros, Command command) {
    List<Step> steps = usual();
    steps.set(step, new Step(stampMicros, command));
    return steps;
  }

  private static Command openIn(String zone) {
    return new Command.OpenSession(
        CLIENT, 5, 9_000, 4_000, UserName.ANONYMOUS, 0, new TimeZoneName(zone));
  }

  private static List<Step> andThen(Operation operation) {
    List<Step> steps = usual();
    steps.add(new Step(7_000, perform(1, 3, operation)));
    return steps;
  }

  /** The digest and the text of the state after these. */
  private static Map.Entry<Long, String> digest(List<Step> steps) {
    try (SqlDatabase database = new SqlDatabase()) {
      Replica replica =
          new Replica(
              "n1",
              database,
              LocalEnvironment::get,
              Levels.of(Levels.LATER),
              SkipList.NONE,
              Capacity.STANDARD);
      for (int i = 0; i < steps.size(); i++) {
        Step step = steps.get(i);
        replica.apply(i + 1, EntryBytes.of(step.stampMicros(), List.of(step.command()), List.of()));
      }
      assertNull(replica.failure());
      return replica
          .state()
          .look(state -> Map.entry(StateDigest.of(state), StateDigest.describe(state)));
    }
  }

  private static Operation define(String lock, int permits) {
    return new Operation.DefineLock(new LockDefinition(new LockName(lock), permits), false);
  }

  private static Operation set(String first, String second) {
    return new Operation.AcquireLocks(
        List.of(new LockName(first), new LockName(second)), new LeaseId(2), 500);
  }

  @Test
  void statesThatDifferHaveAnotherDigest() {
    Map<String, List<Step>> all = new HashMap<>();
    all.put("usual", usual());
    for (int i = 1; i < usual().size(); i++) {
      all.put("another time of step " + i, with(i, i * 1_000L + 1_001, usual().get(i).command()));
    }
    all.put("another address", with(0, 1_000, new Command.AnnounceNode("n1", "n1:7401")));
    all.put("another node", with(0, 1_000, new Command.AnnounceNode("n2", "n1:7400")));
    all.put("session ttl", with(1, 2_000, new Command.OpenSession(CLIENT, 5, 9_001, 4_000)));
    all.put("lease ttl", with(1, 2_000, new Command.OpenSession(CLIENT, 5, 9_000, 4_001)));
    all.put("lock", with(3, 4_000, perform(1, 1, acquire("m", LockMode.EXCLUSIVE, 0))));
    all.put("mode", with(3, 4_000, perform(1, 1, acquire("l", LockMode.SHARED, 0))));
    all.put("owner", with(4, 5_000, perform(1, 2, new Operation.CreateLease(7_000, "Worker"))));
    all.put("created ttl", with(4, 5_000, perform(1, 2, new Operation.CreateLease(7_001, ""))));
    all.put("sequence", with(4, 5_000, perform(1, 3, new Operation.CreateLease(7_000, "worker"))));
    all.put("wait", with(5, 6_000, perform(2, 1, acquire("l", LockMode.EXCLUSIVE, 501))));
    all.put("waiter's mode", with(5, 6_000, perform(2, 1, acquire("l", LockMode.SHARED, 500))));
    all.put("revoked", andThen(new Operation.RevokeLease(new LeaseId(2))));
    all.put("released", andThen(new Operation.ReleaseLock(new LockName("l"), null, 0)));
    all.put("kept", andThen(new Operation.ReleaseLock(new LockName("l"), null, 5_000)));
    all.put("kept longer", andThen(new Operation.ReleaseLock(new LockName("l"), null, 5_001)));
    all.put("defined", andThen(define("l", 2)));
    all.put("more permits", andThen(define("l", 3)));
    all.put("another definition", andThen(define("m", 2)));
    all.put("set", andThen(set("l", "m")));
    all.put("set in another order", andThen(set("m", "l")));
    all.put("schema", andThen(new Operation.SetSchema("TOLLGATE")));
    all.put("time zone", andThen(new Operation.SetTimeZone(new TimeZoneName("UTC+01:00"))));
    all.put("opening time zone", with(1, 2_000, openIn("UTC+01:00")));
    all.put("lock timeout", andThen(new Operation.SetLockTimeout(17)));
    all.put("token", andThen(new Operation.PresentToken(new LockName("l"), 1L)));
    all.put("another token", andThen(new Operation.PresentToken(new LockName("l"), 2L)));
    all.put("fence", andThen(fence("l", 1)));
    all.put("fence under another token", andThen(fence("l", 2)));
    all.put("fence by another lock", andThen(fence("m", 1)));
    all.put("users", users(ROOT));
    all.put("session of another user", users(ANN));
    all.put("ended session", users(ROOT, close()));
    all.put("lease of another user", users(ANN, close()));
    all.put("administrator", users(ROOT, alter(Change.MAKE_ADMINISTRATOR, null)));
    all.put("work limit", users(ROOT, perform(1, 2, AlterUser.workLimit(ANN, 99))));
    all.put("another work limit", users(ROOT, perform(1, 2, AlterUser.workLimit(ANN, 98))));
    all.put("locked user", users(ROOT, alter(Change.LOCK_ACCOUNT, null)));
    all.put(
        "login again",
        users(
            ROOT,
            alter(Change.LOCK_ACCOUNT, null),
            perform(1, 3, new AlterUser(ANN, Change.UNLOCK_ACCOUNT, null))));
    all.put("validity", users(ROOT, perform(1, 2, AlterUser.validUntil(ANN, 98))));
    all.put("another validity", users(ROOT, perform(1, 2, AlterUser.validUntil(ANN, 99))));
    all.put("password", users(ROOT, alter(Change.SET_PASSWORD, "m$s$1")));
    all.put("another password", users(ROOT, alter(Change.SET_PASSWORD, "m$s$2")));
    all.put("feature level", users(ROOT, new Command.RaiseFeatureLevel(2)));
    all.put("right", users(ROOT, grant(Right.Kind.LOCK, "l", "ANN")));
    all.put("right of another kind", users(ROOT, grant(Right.Kind.FORCE, "l", "ANN")));
    all.put("right on another lock", users(ROOT, grant(Right.Kind.LOCK, "l%", "ANN")));
    all.put("right of all", users(ROOT, grant(Right.Kind.LOCK, "l", "PUBLIC")));
    Map<Long, String> found = new HashMap<>();
    all.forEach(
        (name, steps) -> {
          Map.Entry<Long, String> state = digest(steps);
          String other = found.put(state.getKey(), name);
          assertNull(other, () -> name + " is as " + other + ": " + state.getValue());
        });
  }

  @Test
  void whatIsDrawnByChanceIsLeftOut() {
    assertEquals(
        digest(usual()), digest(with(1, 2_000, new Command.OpenSession(CLIENT, 7, 9_000, 4_000))));
  }
}
