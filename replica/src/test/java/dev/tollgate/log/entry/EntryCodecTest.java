package dev.tollgate.log.entry;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.AppliedDigest;
import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.ClusterKey;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SeriesEnd;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.RecordingConsumer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class EntryCodecTest {
  private static final LockName LOCK = new LockName("jöb");
  private static final UserName ANN = new UserName("ANN");
  private static final Operation.StatementFence FENCE =
      new Operation.StatementFence(new PresentedToken(LOCK, -7), true);

  static Stream<Command> commands() {
    SessionId session = new SessionId(3);
    Operation.TableFence tableFence = new Operation.TableFence(LOCK, FenceReading.MONOTONIC);
    Operation.TableFence held = new Operation.TableFence(LOCK, FenceReading.HELD);
    Operation.RowFence rows = new Operation.RowFence("'jöb-' || ID");
    TableName table = new TableName("S", "T");
    List<Operation> operations =
        List.of(
            new Operation.CreateLease(15_000, "owner"),
            new Operation.RevokeLease(new LeaseId(9)),
            new Operation.AcquireLock(LOCK, null, LockMode.EXCLUSIVE, 0),
            new Operation.AcquireLock(LOCK, new LeaseId(5), LockMode.SHARED, 10_000),
            new Operation.ReleaseLock(LOCK, null, 0),
            new Operation.ReleaseLock(LOCK, new LeaseId(5), 0),
            new Operation.ReleaseLock(LOCK, null, 86_400_000),
            new Operation.AcquireLocks(List.of(LOCK, new LockName("b")), null, 0),
            new Operation.AcquireLocks(List.of(LOCK), new LeaseId(5), 10_000),
            new Operation.AcquireTransactionLock(LOCK, 10_000, TransactionScope.READ_COMMITTED),
            lockedStatement(),
            new Operation.TransferLock(LOCK, null, new LeaseId(5)),
            new Operation.TransferLock(LOCK, new LeaseId(5), null),
            new Operation.DefineLock(new LockDefinition(LOCK, 5), false),
            new Operation.ChangeLock(new LockDefinition(LOCK, 1), true),
            new Operation.DropLock(LOCK, true),
            new Operation.ForceReleaseLock(LOCK),
            new Operation.PresentToken(LOCK, 42L),
            new Operation.PresentToken(LOCK, null),
            new Operation.FenceSession(new PresentedToken(LOCK, 42)),
            new Operation.FenceSession(null),
            new Operation.SetSchema("APP"),
            new Operation.FenceTable(table, tableFence, FENCE, true),
            new Operation.FenceTable(new TableName(null, "T"), held, null, false),
            new Operation.FenceTable(table, rows, FENCE, true),
            new Operation.UnfenceTable(table, null, true),
            statement(new Operation.WantedKeys.None(), rows, false),
            statement(new Operation.WantedKeys.None(), held, false),
            statement(new Operation.WantedKeys.Generated(), null, true),
            statement(new Operation.WantedKeys.Positions(List.of(1, 3)), null, true),
            statement(new Operation.WantedKeys.Names(List.of("ID", "V")), null, true),
            new Operation.BeginTransaction(TransactionScope.SERIALIZABLE),
            new Operation.EndTransaction(true),
            new Operation.EndTransaction(false),
            new Operation.MarkSavepoint(true, "S", TransactionScope.READ_COMMITTED),
            new Operation.MarkSavepoint(false, "", TransactionScope.SERIALIZABLE),
            new Operation.ExecuteSeries(
                List.of(part("UPDATE t SET v = ?"), part("")), SeriesEnd.COMMIT),
            new Operation.ExecuteSeries(List.of(part("X")), SeriesEnd.STOP_AT_FAILURE),
            new Operation.DefineMarked(
                List.of(part("UPDATE t SET v = ?"), part("X")), new Operation.DropUser(ANN, true)),
            new Operation.SetLockTimeout(5_000),
            new Operation.SetTimeZone(new TimeZoneName("Asia/Kathmandu")),
            new Operation.SetTimeZone(null),
            new Operation.CreateUser(new UserAccount(ANN, true, List.of("m$s$k", "m$s$l")), true),
            new Operation.CreateUser(new UserAccount(ANN, false, List.of()), false),
            new Operation.CreateUser(new UserAccount(ANN, false, List.of()).with(1), false),
            new Operation.CreateUser(new UserAccount(ANN, true, List.of()).validUntil(7), true),
            Operation.AlterUser.workLimit(ANN, 100),
            Operation.AlterUser.validUntil(ANN, UserAccount.ALWAYS),
            new Operation.DropUser(ANN, false),
            new Operation.DropUser(new UserName("\u0000\ud83d\ude00"), true),
            new Operation.ChangeRight(true, new Right(Right.Kind.LOCK, null, "j\u00f6b-%", "ANN")),
            new Operation.ChangeRight(false, new Right(Right.Kind.FORCE, null, "\\%", "PUBLIC")),
            new Operation.ChangeRight(true, new Right(Right.Kind.SEQUENCE, "APP", "S", "ANN")),
            new Operation.ChangeRight(true, new Right(Right.Kind.SEQUENCE, "", "S", "ANN")),
            new Operation.ChangeRight(true, new Right(Right.Kind.AUDIT, null, Right.ALL, "ANN")),
            new Operation.ChangeRight(false, new Right(Right.Kind.MANAGE, null, Right.ALL, "ANN")),
            new Operation.SetSchema("\ud83d"),
            new Operation.SetSchema("\ude00\u0000\ud83d\ude00\uffff"),
            new Operation.CreateLease(15_000, "\u0000\ud83d\ude00"),
            new Operation.ReleaseLock(new LockName("\u0000\ud83d\ude00"), null, 0));
    List<Command> commands = new ArrayList<>();
    operations.forEach(o -> commands.add(new Command.Perform(session, 77, o)));
    for (Operation.AlterUser.Change change : Operation.AlterUser.Change.values()) {
      commands.add(new Command.Perform(session, 77, alteration(ANN, change)));
      if (change != Operation.AlterUser.Change.LIMIT_WORK
          && change != Operation.AlterUser.Change.LIMIT_VALIDITY) {
        commands.add(new Command.Perform(session, 77, alteration(null, change)));
      }
    }
    operations.forEach(o -> commands.add(new Command.Perform(session, 77, o, -3)));
    commands.add(new Command.OpenSession(new ClientInfo("a", "b", "c"), -1, 60_000, 15_000));
    commands.add(new Command.OpenSession(new ClientInfo("a", "b", "c"), -1, 60_000, 15_000, ANN));
    commands.add(
        new Command.OpenSession(
            new ClientInfo("a", "b", "c"),
            -1,
            60_000,
            15_000,
            ANN,
            7,
            new TimeZoneName("Asia/Kathmandu")));
    commands.add(new Command.CreateFirstUser(new UserAccount(ANN, true, List.of("m$s$k"))));
    commands.add(new Command.CloseSession(session));
    commands.add(new Command.EndWait(session, 5, Command.WaitEnd.TIMED_OUT));
    commands.add(new Command.EndWait(session, 5, Command.WaitEnd.CANCELLED));
    commands.add(new Command.Expire(List.of(session), List.of(new LeaseId(1), new LeaseId(2))));
    commands.add(new Command.AnnounceNode("n1", "h:1"));
    commands.add(new Command.AnnounceNode("n1", "h:1", new UniqueId(3, -4)));
    commands.add(
        new Command.NameCluster(
            new UniqueId(-1, 2),
            new ClusterKey(
                new byte[] {
                  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
                  24, 25, 26, 27, 28, 29, 30, 31, -1
                })));
    commands.add(new Command.ForgetNode("n1"));
    commands.add(new Command.SeedRandom(new RandomSeed(1, -2)));
    commands.add(
        new Command.AdoptEnvironment(
            new Environment(new TreeMap<>(Map.of("numbers", "1", "time zones", "2")), "Java 17")));
    commands.add(new Command.PauseStatements());
    commands.add(new Command.RaiseFeatureLevel(2));
    commands.add(new Command.LimitTransactions(new TransactionLimits(3_600_000, 120_000)));
    commands.add(
        new Command.RecordSilence(List.of(new Command.SilentLease(new LeaseId(3), 2, 1_500))));
    commands.add(new Command.RecordRenewal(new LeaseId(3), 2));
    commands.add(new Command.ReleaseOwnLease(session));
    commands.add(new Command.VerifyReplicas(List.of("n1", "n2")));
    commands.add(
        new Command.ReportChecksum(
            "n2",
            7,
            new StateChecksum("0f", new TreeMap<>(Map.of("table S.T", -1L, "locks", 9L)))));
    commands.add(new Command.ReportFailure("n2", 7, 1));
    commands.add(new Command.SkipCommand(7, 1));
    commands.add(new Command.ResetLogTime());
    for (Command.AbortReason reason : Command.AbortReason.values()) {
      commands.add(new Command.AbortTransaction(session, 4, reason));
    }
    return commands.stream();
  }

  private static Operation alteration(@Nullable UserName user, Operation.AlterUser.Change change) {
    return switch (change) {
      case SET_PASSWORD, SET_PASSWORD_AND_END_SESSIONS, ADD_PASSWORD ->
          new Operation.AlterUser(user, change, "m$s$k");
      case DROP_OLD_PASSWORD, MAKE_ADMINISTRATOR, MAKE_ORDINARY, LOCK_ACCOUNT, UNLOCK_ACCOUNT ->
          new Operation.AlterUser(user, change, null);
      case LIMIT_WORK -> Operation.AlterUser.workLimit(requireNonNull(user), 7);
      case LIMIT_VALIDITY -> Operation.AlterUser.validUntil(requireNonNull(user), 7);
    };
  }

  private static Operation.ExecuteSql part(String sql) {
    return new Operation.ExecuteSql(
        sql,
        false,
        List.of(
            new Operation.DefinitionTarget(
                Operation.DefinitionTarget.Kind.TABLE, new TableName(null, "T"))),
        List.of(new Operation.ParameterSet(Payload.of(new byte[] {1}), FENCE, null)),
        true,
        false,
        new Operation.WantedKeys.None(),
        0,
        null,
        false,
        TransactionScope.SERIALIZABLE);
  }

  private static Operation lockedStatement() {
    return new Operation.ExecuteSql(
        "UPDATE T SET V = ?",
        false,
        List.of(),
        List.of(
            new Operation.ParameterSet(Payload.of(new byte[] {1}), null, LOCK),
            new Operation.ParameterSet(Payload.of(new byte[] {2}), FENCE, null)),
        true,
        false,
        new Operation.WantedKeys.None(),
        0,
        null,
        true,
        TransactionScope.AUTOCOMMIT);
  }

  private static Operation statement(
      Operation.WantedKeys keys, Operation.FenceTerms binding, boolean batch) {
    Operation.ParameterSet one = new Operation.ParameterSet(Payload.of(new byte[] {1, 2}), FENCE);
    Operation.ParameterSet two = new Operation.ParameterSet(Payload.empty(), null);
    List<Operation.DefinitionTarget> targets = new ArrayList<>();
    for (Operation.DefinitionTarget.Kind kind : Operation.DefinitionTarget.Kind.values()) {
      targets.add(new Operation.DefinitionTarget(kind, new TableName(null, "T")));
    }
    return new Operation.ExecuteSql(
        "UPDATE t SET v = ?",
        !batch,
        targets,
        batch ? List.of(one, two) : List.of(one),
        batch,
        batch,
        keys,
        99,
        binding,
        !batch,
        batch ? TransactionScope.SERIALIZABLE : TransactionScope.READ_COMMITTED);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void commandIsReadAsItWasWritten(Command command) {
    Entry read = decode(encode(command));
    assertEquals(List.of(command), read.commands());
    assertEquals(5, read.stampMicros());
  }

  @Test
  void everyCommandAndOperationIsCovered() {
    Set<Class<?>> covered = new HashSet<>();
    commands()
        .forEach(
            command -> {
              covered.add(command.getClass());
              if (command instanceof Command.Perform perform) {
                covered.add(perform.operation().getClass());
              }
            });
    Set<Class<?>> all = new HashSet<>(Arrays.asList(Command.class.getPermittedSubclasses()));
    all.remove(Command.OfNode.class);
    all.addAll(Arrays.asList(Command.OfNode.class.getPermittedSubclasses()));
    all.addAll(Arrays.asList(Operation.class.getPermittedSubclasses()));
    all.remove(Operation.Executions.class);
    all.addAll(Arrays.asList(Operation.Executions.class.getPermittedSubclasses()));
    assertEquals(all, covered);
  }

  @Test
  void entryOfManyCommandsKeepsTheirOrder() {
    List<Command> all = commands().toList();
    assertEquals(all, decode(encode(all.toArray(new Command[0]))).commands());
  }

  /** As they were written before rows could have locks of their own. */
  @Test
  void bindingsOfOlderEntriesAreReadAsTheyWere() {
    byte[] older =
        HexFormat.of()
            .parseHex(
                "01000000000000000500000002030000000000000003000000000000004d08000000154352454154"
                    + "45205441424c452054285620494e5429010000010000000000000000000000000101000000"
                    + "015300000001540001000000036a6f62010000000100000002010201000000036a6f620000"
                    + "00000000002a00030000000000000003000000000000004d09000000015300000001540000"
                    + "00036a6f620101000000036a6f62000000000000002a0001");
    List<Operation.FenceTerms> bound = new ArrayList<>();
    for (Command command : decode(older).commands()) {
      Operation operation = ((Command.Perform) command).operation();
      bound.add(
          operation instanceof Operation.ExecuteSql create
              ? create.binding()
              : ((Operation.FenceTable) operation).fence());
    }
    Operation.TableFence job =
        new Operation.TableFence(new LockName("job"), FenceReading.MONOTONIC);
    assertEquals(List.of(job, job), bound);
  }

  /** What is written today is read by every later version. */
  @ParameterizedTest
  @MethodSource
  void layoutOfLockOperationsIsKept(Operation operation, String layout) {
    byte[] entry = encode(new Command.Perform(new SessionId(3), 77, operation));
    int begin = EntryCodec.HEADER_BYTES + 1 + 8 + 8;
    assertEquals(layout, HexFormat.of().formatHex(entry, begin, entry.length));
  }

  static Stream<Arguments> layoutOfLockOperationsIsKept() {
    LockName job = new LockName("job");
    LeaseId five = new LeaseId(5);
    return Stream.of(
        Arguments.of(new Operation.ReleaseLock(job, five, 0), "04000000036a6f620000000000000005"),
        Arguments.of(
            new Operation.ReleaseLock(job, five, 1_000),
            "13000000036a6f62000000000000000500000000000003e8"),
        Arguments.of(
            new Operation.AcquireLocks(List.of(job, LOCK), null, 1_000),
            "1200000002000000036a6f62000000046ac3b662000000000000000000000000000003e8"),
        Arguments.of(
            new Operation.TransferLock(job, five, null),
            "14000000036a6f6200000000000000050000000000000000"),
        Arguments.of(
            new Operation.DefineLock(new LockDefinition(job, 5), true),
            "15000000036a6f620000000501"),
        Arguments.of(
            new Operation.ChangeLock(new LockDefinition(job, 5), false),
            "16000000036a6f620000000500"),
        Arguments.of(new Operation.DropLock(job, true), "17000000036a6f6201"),
        Arguments.of(
            new Operation.AcquireTransactionLock(job, 1_000, TransactionScope.SERIALIZABLE),
            "18000000036a6f6200000000000003e802"),
        Arguments.of(
            execute(null),
            "08000000125550444154452074205345542076203d203f0000000100000000000000000000000000000000000001000000010100"),
        Arguments.of(
            execute(job),
            "19000000125550444154452074205345542076203d203f0000000100000000000000000000000000000000000001000000010100000000036a6f62"));
  }

  private static Operation execute(@Nullable LockName lockedBy) {
    return new Operation.ExecuteSql(
        "UPDATE t SET v = ?",
        false,
        List.of(),
        List.of(new Operation.ParameterSet(Payload.of(new byte[] {1}), null, lockedBy)),
        false,
        false,
        new Operation.WantedKeys.None(),
        0,
        null,
        true,
        TransactionScope.AUTOCOMMIT);
  }

  @Test
  void entryOfALaterVersionIsRefusedByName() {
    byte[] bytes = encode(new Command.CloseSession(new SessionId(1)));
    bytes[0] = 9;
    assertRefused("an entry of version 9", bytes);
  }

  @Test
  void commandOfALaterVersionIsRefusedByName() {
    byte[] bytes = encode(new Command.CloseSession(new SessionId(1)));
    bytes[EntryCodec.HEADER_BYTES] = 99;
    assertRefused("a command of kind 99", bytes);
  }

  @Test
  void operationOfALaterVersionIsRefusedByName() {
    SessionId session = new SessionId(1);
    byte[] bytes = encode(new Command.Perform(session, 7, new Operation.ForceReleaseLock(LOCK)));
    bytes[EntryCodec.HEADER_BYTES + 1 + 8 + 8] = 98;
    assertRefused("an operation of kind 98", bytes);
  }

  private static void assertRefused(String what, byte[] entry) {
    UnknownCommandException refused =
        assertThrows(UnknownCommandException.class, () -> decode(entry));
    assertEquals(
        "the log has "
            + what
            + ", which this node does not know: a node of a later version led when it was written."
            + " Run that version here too, and the node goes on where it stopped; its data are as"
            + " they should be",
        refused.getMessage());
  }

  /** Whatever the disk gives back, the reader says "corrupt" or reads a command; nothing else. */
  @ParameterizedTest
  @MethodSource("commands")
  void damagedEntryIsCorruptAndNothingWorse(Command command) {
    byte[] good = encode(command);
    for (int length = 0; length < good.length; length++) {
      byte[] cut = Arrays.copyOf(good, length);
      assertThrows(CorruptLogException.class, () -> decode(cut));
    }
    Random random = new Random(11);
    int read = 0;
    for (int i = 0; i < 2_000; i++) {
      byte[] damaged = good.clone();
      damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      read += isReadable(damaged) ? 1 : 0;
    }
    assertTrue(read < 2_000, "no damage was noticed");
  }

  private static boolean isReadable(byte[] bytes) {
    try {
      decode(bytes);
      return true;
    } catch (CorruptLogException e) {
      return false;
    }
  }

  private static byte[] encode(Command... commands) {
    List<Proposal> proposals = new ArrayList<>();
    for (Command command : commands) {
      proposals.add(
          new Proposal(
              EntryCodec.encode(command), RecordingConsumer.listener(new CompletableFuture<>())));
    }
    return EntryCodec.encode(5, AppliedDigest.NONE, proposals);
  }

  private static Entry decode(byte[] bytes) {
    return EntryCodec.decode(bytes, List.of());
  }
}
