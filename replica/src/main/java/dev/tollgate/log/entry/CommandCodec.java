package dev.tollgate.log.entry;

import dev.tollgate.core.command.ClientInfo;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.UniqueId;
import dev.tollgate.core.command.UserName;
import dev.tollgate.snapshot.OperationCodec;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.snapshot.UnknownOperationException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Commands as they stand in log entries. The numbers are a format on disk: never change one, only
 * add. A change of layout needs a new entry version, see {@link EntryCodec}.
 */
final class CommandCodec {
  private static final int OPEN_SESSION = 1;
  private static final int CLOSE_SESSION = 2;
  private static final int PERFORM = 3;
  private static final int END_WAIT = 4;
  private static final int EXPIRE = 5;
  private static final int ANNOUNCE_NODE = 6;
  private static final int RELEASE_OWN_LEASE = 7;
  private static final int ABORT_TRANSACTION = 8;
  private static final int FORGET_NODE = 9;
  private static final int VERIFY_REPLICAS = 10;
  private static final int REPORT_CHECKSUM = 11;
  private static final int SEED_RANDOM = 12;
  private static final int ADOPT_ENVIRONMENT = 13;
  private static final int PAUSE_STATEMENTS = 14;
  private static final int ANNOUNCE_INCARNATION = 15;
  private static final int RECORD_SILENCE = 17;
  private static final int RECORD_RENEWAL = 18;
  private static final int LIMIT_TRANSACTIONS = 19;
  private static final int PERFORM_REQUEST = 20;

  /** A session of a user, whose name and number come first. */
  private static final int OPEN_SESSION_OF_USER = 21;

  private static final int CREATE_FIRST_USER = 22;
  private static final int RAISE_FEATURE_LEVEL = 23;
  private static final int REPORT_FAILURE = 24;
  private static final int SKIP_COMMAND = 25;
  private static final int RESET_LOG_TIME = 26;
  private static final int NAME_CLUSTER = 27;

  private CommandCodec() {}

  static void write(WireWriter out, Command command) {
    command.handledBy(new CommandWriter(out));
  }

  static Command read(WireReader in) {
    int kind = in.u8();
    return switch (kind) {
      case OPEN_SESSION -> openSession(in, UserName.ANONYMOUS, Command.OpenSession.ANY_NUMBER);
      case OPEN_SESSION_OF_USER -> openSession(in, new UserName(in.string()), in.i64());
      case CREATE_FIRST_USER -> new Command.CreateFirstUser(StateCodec.account(in));
      case CLOSE_SESSION -> new Command.CloseSession(new SessionId(in.i64()));
      case PERFORM -> new Command.Perform(new SessionId(in.i64()), in.i64(), operation(in));
      case PERFORM_REQUEST -> performRequest(in);
      case END_WAIT -> new Command.EndWait(new SessionId(in.i64()), in.i64(), waitEnd(in.u8()));
      case EXPIRE ->
          new Command.Expire(
              list(in, 8, ids -> new SessionId(ids.i64())),
              list(in, 8, ids -> new LeaseId(ids.i64())));
      case ANNOUNCE_NODE -> new Command.AnnounceNode(in.string(), in.string());
      case ANNOUNCE_INCARNATION ->
          new Command.AnnounceNode(in.string(), in.string(), new UniqueId(in.i64(), in.i64()));
      case NAME_CLUSTER ->
          new Command.NameCluster(new UniqueId(in.i64(), in.i64()), StateCodec.key(in));
      case RELEASE_OWN_LEASE -> new Command.ReleaseOwnLease(new SessionId(in.i64()));
      case ABORT_TRANSACTION ->
          new Command.AbortTransaction(new SessionId(in.i64()), in.i64(), abortReason(in.u8()));
      case FORGET_NODE -> new Command.ForgetNode(in.string());
      case VERIFY_REPLICAS -> new Command.VerifyReplicas(list(in, 4, WireReader::string));
      case SEED_RANDOM -> new Command.SeedRandom(new RandomSeed(in.i64(), in.i64()));
      case REPORT_CHECKSUM ->
          new Command.ReportChecksum(in.string(), in.i64(), StateCodec.checksum(in));
      case ADOPT_ENVIRONMENT -> new Command.AdoptEnvironment(StateCodec.environment(in));
      case RECORD_SILENCE ->
          new Command.RecordSilence(
              list(
                  in,
                  24,
                  item ->
                      new Command.SilentLease(new LeaseId(item.i64()), item.i64(), item.i64())));
      case RECORD_RENEWAL -> new Command.RecordRenewal(new LeaseId(in.i64()), in.i64());
      case RAISE_FEATURE_LEVEL -> new Command.RaiseFeatureLevel(in.i32());
      case REPORT_FAILURE -> new Command.ReportFailure(in.string(), in.i64(), in.i32());
      case SKIP_COMMAND -> new Command.SkipCommand(in.i64(), in.i32());
      case RESET_LOG_TIME -> new Command.ResetLogTime();
      case PAUSE_STATEMENTS -> new Command.PauseStatements();
      case LIMIT_TRANSACTIONS ->
          new Command.LimitTransactions(new TransactionLimits(in.i64(), in.i64()));
      default -> throw new UnknownCommandException("a command of kind " + kind);
    };
  }

  private static Command openSession(WireReader in, UserName user, long number) {
    return new Command.OpenSession(
        new ClientInfo(in.string(), in.string(), in.string()),
        in.i64(),
        in.i64(),
        in.i64(),
        user,
        number,
        new TimeZoneName(in.string()));
  }

  private static Operation operation(WireReader in) {
    try {
      return OperationCodec.read(in);
    } catch (UnknownOperationException e) {
      throw new UnknownCommandException(e.what(), e);
    }
  }

  private static Command performRequest(WireReader in) {
    SessionId session = new SessionId(in.i64());
    long sequence = in.i64();
    long content = in.i64();
    return new Command.Perform(session, sequence, operation(in), content);
  }

  private static int code(Command.AbortReason reason) {
    return switch (reason) {
      case AGE -> 0;
      case IDLE -> 1;
      case SNAPSHOT -> 2;
      case CLIENT_GONE -> 3;
    };
  }

  private static Command.AbortReason abortReason(int code) {
    return switch (code) {
      case 0 -> Command.AbortReason.AGE;
      case 1 -> Command.AbortReason.IDLE;
      case 2 -> Command.AbortReason.SNAPSHOT;
      case 3 -> Command.AbortReason.CLIENT_GONE;
      default -> throw new UnknownCommandException("an end of a transaction for reason " + code);
    };
  }

  private static int code(Command.WaitEnd end) {
    return switch (end) {
      case TIMED_OUT -> 0;
      case CANCELLED -> 1;
    };
  }

  private static Command.WaitEnd waitEnd(int code) {
    return switch (code) {
      case 0 -> Command.WaitEnd.TIMED_OUT;
      case 1 -> Command.WaitEnd.CANCELLED;
      default -> throw new UnknownCommandException("an end of a wait for reason " + code);
    };
  }

  /** Reads a count, then that many elements with {@code item}. */
  static <T> List<T> list(WireReader in, int itemBytes, Function<WireReader, T> item) {
    int count = in.count(itemBytes);
    List<T> items = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      items.add(item.apply(in));
    }
    return items;
  }

  private static final class CommandWriter implements Command.Handler<WireWriter> {
    private final WireWriter out;

    CommandWriter(WireWriter out) {
      this.out = out;
    }

    @Override
    public WireWriter open(Command.OpenSession command) {
      ClientInfo client = command.client();
      if (command.user().equals(UserName.ANONYMOUS)) {
        out.u8(OPEN_SESSION);
      } else {
        out.u8(OPEN_SESSION_OF_USER).string(command.user().value()).i64(command.userNumber());
      }
      out.string(client.application()).string(client.host()).string(client.process());
      out.i64(command.secret()).i64(command.ttlMillis()).i64(command.leaseTtlMillis());
      return out.string(command.timeZone().value());
    }

    @Override
    public WireWriter createFirstUser(Command.CreateFirstUser command) {
      out.u8(CREATE_FIRST_USER);
      StateCodec.account(out, command.account());
      return out;
    }

    @Override
    public WireWriter close(Command.CloseSession command) {
      return out.u8(CLOSE_SESSION).i64(command.session().value());
    }

    @Override
    public WireWriter perform(Command.Perform command) {
      boolean request = command.content() != Command.Perform.UNKNOWN_CONTENT;
      out.u8(request ? PERFORM_REQUEST : PERFORM);
      out.i64(command.session().value()).i64(command.sequence());
      if (request) {
        out.i64(command.content());
      }
      return OperationCodec.write(out, command.operation());
    }

    @Override
    public WireWriter endWait(Command.EndWait command) {
      out.u8(END_WAIT).i64(command.session().value()).i64(command.sequence());
      return out.u8(code(command.reason()));
    }

    @Override
    public WireWriter expire(Command.Expire command) {
      out.u8(EXPIRE).i32(command.sessions().size());
      command.sessions().forEach(session -> out.i64(session.value()));
      out.i32(command.leases().size());
      command.leases().forEach(lease -> out.i64(lease.value()));
      return out;
    }

    @Override
    public WireWriter abort(Command.AbortTransaction command) {
      out.u8(ABORT_TRANSACTION).i64(command.session().value()).i64(command.transaction());
      return out.u8(code(command.reason()));
    }

    @Override
    public WireWriter verify(Command.VerifyReplicas command) {
      out.u8(VERIFY_REPLICAS).i32(command.nodes().size());
      command.nodes().forEach(out::string);
      return out;
    }

    @Override
    public WireWriter seed(Command.SeedRandom command) {
      return out.u8(SEED_RANDOM).i64(command.seed().high()).i64(command.seed().low());
    }

    @Override
    public WireWriter adopt(Command.AdoptEnvironment command) {
      out.u8(ADOPT_ENVIRONMENT);
      StateCodec.environment(out, command.environment());
      return out;
    }

    @Override
    public WireWriter pause(Command.PauseStatements command) {
      return out.u8(PAUSE_STATEMENTS);
    }

    @Override
    public WireWriter raise(Command.RaiseFeatureLevel command) {
      return out.u8(RAISE_FEATURE_LEVEL).i32(command.level());
    }

    @Override
    public WireWriter limit(Command.LimitTransactions command) {
      TransactionLimits limits = command.limits();
      return out.u8(LIMIT_TRANSACTIONS).i64(limits.ageMillis()).i64(limits.idleMillis());
    }

    @Override
    public WireWriter recordSilence(Command.RecordSilence command) {
      out.u8(RECORD_SILENCE).i32(command.leases().size());
      for (Command.SilentLease silence : command.leases()) {
        out.i64(silence.lease().value()).i64(silence.recordedRenewals());
        out.i64(silence.remainingMillis());
      }
      return out;
    }

    @Override
    public WireWriter recordRenewal(Command.RecordRenewal command) {
      out.u8(RECORD_RENEWAL);
      return out.i64(command.lease().value()).i64(command.recordedRenewals());
    }

    @Override
    public WireWriter report(Command.ReportChecksum command) {
      out.u8(REPORT_CHECKSUM).string(command.nodeId()).i64(command.checkIndex());
      StateCodec.checksum(out, command.checksum());
      return out;
    }

    @Override
    public WireWriter reportFailure(Command.ReportFailure command) {
      out.u8(REPORT_FAILURE).string(command.nodeId());
      return out.i64(command.logIndex()).i32(command.ordinal());
    }

    @Override
    public WireWriter skip(Command.SkipCommand command) {
      return out.u8(SKIP_COMMAND).i64(command.logIndex()).i32(command.ordinal());
    }

    @Override
    public WireWriter resetLogTime(Command.ResetLogTime command) {
      return out.u8(RESET_LOG_TIME);
    }

    @Override
    public WireWriter announce(Command.AnnounceNode command) {
      UniqueId incarnation = command.incarnation();
      out.u8(incarnation == null ? ANNOUNCE_NODE : ANNOUNCE_INCARNATION);
      out.string(command.nodeId()).string(command.clientAddress());
      return incarnation == null ? out : out.i64(incarnation.high()).i64(incarnation.low());
    }

    @Override
    public WireWriter name(Command.NameCluster command) {
      UniqueId id = command.clusterId();
      StateCodec.key(out.u8(NAME_CLUSTER).i64(id.high()).i64(id.low()), command.key());
      return out;
    }

    @Override
    public WireWriter forget(Command.ForgetNode command) {
      return out.u8(FORGET_NODE).string(command.nodeId());
    }

    @Override
    public WireWriter releaseOwnLease(Command.ReleaseOwnLease command) {
      return out.u8(RELEASE_OWN_LEASE).i64(command.session().value());
    }
  }
}
