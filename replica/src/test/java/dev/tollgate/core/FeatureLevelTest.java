package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The feature level, as part of the replicated state. */
class FeatureLevelTest {
  /**
   * The commands that all versions with feature levels know. A new one does not belong here: it
   * needs the next level in {@link FeatureLevels#STANDARD}.
   */
  private static final Set<String> FIRST_COMMANDS =
      Set.of(
          "AbortTransaction",
          "AdoptEnvironment",
          "AnnounceNode",
          "CloseSession",
          "CreateFirstUser",
          "EndWait",
          "Expire",
          "ForgetNode",
          "LimitTransactions",
          "NameCluster",
          "OpenSession",
          "PauseStatements",
          "Perform",
          "RaiseFeatureLevel",
          "RecordRenewal",
          "RecordSilence",
          "ReleaseOwnLease",
          "ReportChecksum",
          "ReportFailure",
          "ResetLogTime",
          "SeedRandom",
          "SkipCommand",
          "VerifyReplicas");

  /** The same for what {@link Command.Perform} carries out. */
  private static final Set<String> FIRST_OPERATIONS =
      Set.of(
          "AcquireLock",
          "AcquireLocks",
          "AcquireTransactionLock",
          "AlterUser",
          "BeginTransaction",
          "ChangeLock",
          "ChangeRight",
          "CreateLease",
          "CreateUser",
          "DefineLock",
          "DefineMarked",
          "DropLock",
          "DropUser",
          "EndTransaction",
          "ExecuteSeries",
          "ExecuteSql",
          "FenceSession",
          "FenceTable",
          "ForceReleaseLock",
          "MarkSavepoint",
          "PresentToken",
          "ReleaseLock",
          "RevokeLease",
          "SetLockTimeout",
          "SetSchema",
          "SetTimeZone",
          "TransferLock",
          "UnfenceTable");

  private final CoreDriver core = new CoreDriver();

  private ClusterState restored() {
    StateMachine machine = new StateMachine(new FakeSqlStore());
    core.machine.copy().forEach(machine::restore);
    return machine.state();
  }

  @Test
  void levelRisesAndNeverFalls() {
    assertEquals(1, core.machine.state().featureLevel());
    assertEquals(
        new Outcome.Answered(/* answer= */ true), core.apply(new Command.RaiseFeatureLevel(3)));
    assertEquals(List.of(new Notice.FeatureLevelRaised(3)), core.notices);
    assertEquals(3, core.machine.state().featureLevel());
    for (int level : new int[] {3, 2, 1}) {
      assertEquals(
          new Outcome.Answered(/* answer= */ false),
          core.apply(new Command.RaiseFeatureLevel(level)));
      assertEquals(List.of(), core.notices);
      assertEquals(3, core.machine.state().featureLevel());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, Limits.FEATURE_LEVEL_MAX + 1})
  void levelsHaveBounds(int level) {
    assertThrows(IllegalArgumentException.class, () -> new Command.RaiseFeatureLevel(level));
    assertThrows(IllegalArgumentException.class, () -> new FeatureLevels(level, command -> 1));
    FeatureLevels wrong = new FeatureLevels(1, command -> level);
    assertThrows(IllegalArgumentException.class, () -> wrong.of(new Command.RaiseFeatureLevel(1)));
  }

  @Test
  void aVersionHasNoCommandOfALevelThatItDoesNotKnow() {
    FeatureLevels wrong = new FeatureLevels(2, command -> 3);
    assertThrows(IllegalArgumentException.class, () -> wrong.of(new Command.RaiseFeatureLevel(1)));
  }

  @Test
  void aCopyHasTheLevel() {
    assertEquals(1, restored().featureLevel());
    core.apply(new Command.RaiseFeatureLevel(2));
    assertEquals(2, restored().featureLevel());
  }

  /** So versions from before can read the snapshots of a cluster that was not upgraded. */
  @Test
  void snapshotsOfTheFirstLevelDoNotNameIt() {
    core.machine
        .copy()
        .forEach(
            record -> assertTrue(!(record instanceof StateRecord.FeatureLevelState), "it does"));
  }

  @Test
  void everyCommandThatWasAddedSinceNeedsALevel() {
    String otherwise = "give the new command a level in FeatureLevels.STANDARD, and expect it here";
    assertEquals(new TreeSet<>(FIRST_COMMANDS), records(Command.class), otherwise);
    assertEquals(new TreeSet<>(FIRST_OPERATIONS), records(Operation.class), otherwise);
    assertEquals(1, FeatureLevels.STANDARD.known());
  }

  private static Set<String> records(Class<?> sealed) {
    Set<String> names = new TreeSet<>();
    for (Class<?> permitted : sealed.getPermittedSubclasses()) {
      if (permitted.isRecord()) {
        names.add(permitted.getSimpleName());
      } else {
        names.addAll(records(permitted));
      }
    }
    return names;
  }
}
