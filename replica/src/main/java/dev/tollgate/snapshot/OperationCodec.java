package dev.tollgate.snapshot;

import static dev.tollgate.snapshot.StateCodec.list;
import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.SeriesEnd;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The operations of sessions in bytes, in log entries and in snapshots. The numbers are a format on
 * disk: never change one, only add new ones.
 */
public final class OperationCodec {
  private static final int CREATE_LEASE = 1;
  private static final int REVOKE_LEASE = 2;
  private static final int ACQUIRE_LOCK = 3;
  private static final int RELEASE_LOCK = 4;
  private static final int FORCE_RELEASE_LOCK = 5;
  private static final int PRESENT_TOKEN = 6;
  private static final int SET_SCHEMA = 7;
  private static final int EXECUTE_SQL = 8;
  private static final int FENCE_TABLE = 9;
  private static final int UNFENCE_TABLE = 10;
  private static final int BEGIN_TRANSACTION = 11;
  private static final int END_TRANSACTION = 12;
  private static final int MARK_SAVEPOINT = 13;
  private static final int SET_LOCK_TIMEOUT = 14;
  private static final int FENCE_ROWS = 15;
  private static final int FENCE_SESSION = 16;
  private static final int UNFENCE_SESSION = 17;
  private static final int ACQUIRE_LOCKS = 18;
  private static final int RELEASE_AND_KEEP = 19;
  private static final int TRANSFER_LOCK = 20;
  private static final int DEFINE_LOCK = 21;
  private static final int CHANGE_LOCK = 22;
  private static final int DROP_LOCK = 23;
  private static final int ACQUIRE_TRANSACTION_LOCK = 24;

  /** A statement of which a parameter set is locked by a lock. */
  private static final int EXECUTE_LOCKED = 25;

  private static final int EXECUTE_SERIES = 26;
  private static final int CREATE_USER = 27;
  private static final int ALTER_USER = 28;
  private static final int DROP_USER = 29;
  private static final int CHANGE_RIGHT = 30;

  /** A user with a work limit, which follows the account. */
  private static final int CREATE_LIMITED_USER = 31;

  private static final int LIMIT_USER = 32;

  /** A user that expires: the work limit and the end of the validity follow the account. */
  private static final int CREATE_EXPIRING_USER = 33;

  private static final int LIMIT_VALIDITY = 34;
  private static final int SET_TIME_ZONE = 35;
  private static final int DEFINE_MARKED = 36;

  private static final int NO_BINDING = 0;
  private static final int TABLE_BINDING = 1;
  private static final int ROW_BINDING = 2;

  private OperationCodec() {}

  /** Writes an operation as {@link #read} reads it. */
  public static WireWriter write(WireWriter out, Operation operation) {
    return operation.handledBy(new OperationWriter(out));
  }

  /**
   * Reads an operation.
   *
   * @throws UnknownOperationException if a later version has written it
   */
  public static Operation read(WireReader in) {
    int kind = in.u8();
    return switch (kind) {
      case CREATE_LEASE -> new Operation.CreateLease(in.i64(), in.string());
      case REVOKE_LEASE -> new Operation.RevokeLease(new LeaseId(in.i64()));
      case ACQUIRE_LOCK ->
          new Operation.AcquireLock(
              new LockName(in.string()),
              lease(in),
              in.flag() ? LockMode.SHARED : LockMode.EXCLUSIVE,
              in.i64());
      case ACQUIRE_LOCKS ->
          new Operation.AcquireLocks(
              list(in, 4, item -> new LockName(item.string())), lease(in), in.i64());
      case RELEASE_LOCK -> new Operation.ReleaseLock(new LockName(in.string()), lease(in), 0);
      case RELEASE_AND_KEEP ->
          new Operation.ReleaseLock(new LockName(in.string()), lease(in), in.i64());
      case TRANSFER_LOCK ->
          new Operation.TransferLock(new LockName(in.string()), lease(in), lease(in));
      case ACQUIRE_TRANSACTION_LOCK ->
          new Operation.AcquireTransactionLock(
              new LockName(in.string()), in.i64(), TransactionScope.of(in.u8()));
      case DEFINE_LOCK -> new Operation.DefineLock(definition(in), in.flag());
      case CHANGE_LOCK -> new Operation.ChangeLock(definition(in), in.flag());
      case DROP_LOCK -> new Operation.DropLock(new LockName(in.string()), in.flag());
      case FORCE_RELEASE_LOCK -> new Operation.ForceReleaseLock(new LockName(in.string()));
      case PRESENT_TOKEN -> presentToken(in);
      case FENCE_SESSION -> new Operation.FenceSession(presented(in));
      case UNFENCE_SESSION -> new Operation.FenceSession(null);
      case SET_SCHEMA -> new Operation.SetSchema(in.string());
      case EXECUTE_SQL -> execute(in, /* locked= */ false);
      case EXECUTE_LOCKED -> execute(in, /* locked= */ true);
      case EXECUTE_SERIES -> series(in);
      case FENCE_TABLE ->
          new Operation.FenceTable(table(in), tableFence(in), statementFence(in), in.flag());
      case FENCE_ROWS ->
          new Operation.FenceTable(table(in), rowFence(in), statementFence(in), in.flag());
      case UNFENCE_TABLE -> new Operation.UnfenceTable(table(in), statementFence(in), in.flag());
      case BEGIN_TRANSACTION -> new Operation.BeginTransaction(TransactionScope.of(in.u8()));
      case END_TRANSACTION -> new Operation.EndTransaction(in.flag());
      case MARK_SAVEPOINT ->
          new Operation.MarkSavepoint(in.flag(), in.string(), TransactionScope.of(in.u8()));
      case CREATE_USER -> new Operation.CreateUser(StateCodec.account(in), in.flag());
      case CREATE_LIMITED_USER ->
          new Operation.CreateUser(StateCodec.account(in).with(in.u8()), in.flag());
      case CREATE_EXPIRING_USER ->
          new Operation.CreateUser(
              StateCodec.account(in).with(in.u8()).validUntil(in.i64()), in.flag());
      case ALTER_USER -> alterUser(in);
      case LIMIT_USER -> Operation.AlterUser.workLimit(new UserName(in.string()), in.u8());
      case LIMIT_VALIDITY -> Operation.AlterUser.validUntil(new UserName(in.string()), in.i64());
      case DROP_USER -> new Operation.DropUser(new UserName(in.string()), in.flag());
      case CHANGE_RIGHT -> new Operation.ChangeRight(in.flag(), StateCodec.right(in));
      case SET_LOCK_TIMEOUT -> new Operation.SetLockTimeout(in.i64());
      case SET_TIME_ZONE -> setTimeZone(in);
      case DEFINE_MARKED ->
          new Operation.DefineMarked(
              list(in, 27, item -> execute(item, /* locked= */ false)), read(in));
      default -> throw new UnknownOperationException("an operation of kind " + kind);
    };
  }

  private static Operation setTimeZone(WireReader in) {
    String zone = in.nullableString();
    return new Operation.SetTimeZone(zone == null ? null : new TimeZoneName(zone));
  }

  private static Operation alterUser(WireReader in) {
    String user = in.nullableString();
    return new Operation.AlterUser(
        user == null ? null : new UserName(user), userChange(in.u8()), in.nullableString());
  }

  private static Operation.AlterUser.Change userChange(int code) {
    return switch (code) {
      case 0 -> Operation.AlterUser.Change.SET_PASSWORD;
      case 1 -> Operation.AlterUser.Change.ADD_PASSWORD;
      case 2 -> Operation.AlterUser.Change.DROP_OLD_PASSWORD;
      case 3 -> Operation.AlterUser.Change.MAKE_ADMINISTRATOR;
      case 4 -> Operation.AlterUser.Change.MAKE_ORDINARY;
      case 5 -> Operation.AlterUser.Change.SET_PASSWORD_AND_END_SESSIONS;
      case 6 -> Operation.AlterUser.Change.LOCK_ACCOUNT;
      case 7 -> Operation.AlterUser.Change.UNLOCK_ACCOUNT;
      default -> throw new UnknownOperationException("a change of a user of kind " + code);
    };
  }

  private static int codeOf(Operation.AlterUser.Change change) {
    return switch (change) {
      case SET_PASSWORD -> 0;
      case ADD_PASSWORD -> 1;
      case DROP_OLD_PASSWORD -> 2;
      case MAKE_ADMINISTRATOR -> 3;
      case MAKE_ORDINARY -> 4;
      case SET_PASSWORD_AND_END_SESSIONS -> 5;
      case LOCK_ACCOUNT -> 6;
      case UNLOCK_ACCOUNT -> 7;
      case LIMIT_WORK, LIMIT_VALIDITY ->
          throw new IllegalArgumentException("is an operation of another kind");
    };
  }

  private static Operation presentToken(WireReader in) {
    LockName lock = new LockName(in.string());
    boolean present = in.flag();
    long token = in.i64();
    return new Operation.PresentToken(lock, present ? (Long) token : null);
  }

  private static Operation.ExecuteSql execute(WireReader in, boolean locked) {
    String sql = in.string();
    boolean definition = in.flag();
    boolean batch = in.flag();
    boolean returnsRows = in.flag();
    boolean ownLeaseTrusted = in.flag();
    TransactionScope mode = TransactionScope.of(in.u8());
    long maxRows = in.i64();
    List<Operation.DefinitionTarget> targets =
        list(in, 9, item -> new Operation.DefinitionTarget(kind(item.u8()), table(item)));
    Operation.WantedKeys keys = keys(in);
    Operation.FenceTerms binding = binding(in);
    List<Operation.ParameterSet> sets =
        list(
            in,
            5,
            item ->
                new Operation.ParameterSet(
                    Payload.of(item.bytes()),
                    statementFence(item),
                    locked ? lockOrNull(item.nullableString()) : null));
    return new Operation.ExecuteSql(
        sql,
        definition,
        targets,
        sets,
        batch,
        returnsRows,
        keys,
        maxRows,
        binding,
        ownLeaseTrusted,
        mode);
  }

  private static Operation series(WireReader in) {
    SeriesEnd end = SeriesEnd.of(in.u8());
    return new Operation.ExecuteSeries(
        list(in, 27, item -> execute(item, /* locked= */ false)), end);
  }

  private static @Nullable LockName lockOrNull(@Nullable String name) {
    return name == null ? null : new LockName(name);
  }

  private static LockDefinition definition(WireReader in) {
    return new LockDefinition(new LockName(in.string()), in.i32());
  }

  private static @Nullable LeaseId lease(WireReader in) {
    long id = in.i64();
    return id == 0 ? null : new LeaseId(id);
  }

  private static TableName table(WireReader in) {
    return new TableName(in.nullableString(), in.string());
  }

  private static Operation.TableFence tableFence(WireReader in) {
    return new Operation.TableFence(
        new LockName(in.string()), in.flag() ? FenceReading.MONOTONIC : FenceReading.HELD);
  }

  private static Operation.RowFence rowFence(WireReader in) {
    return new Operation.RowFence(in.string());
  }

  private static Operation.@Nullable FenceTerms binding(WireReader in) {
    int kind = in.u8();
    return switch (kind) {
      case NO_BINDING -> null;
      case TABLE_BINDING -> tableFence(in);
      case ROW_BINDING -> rowFence(in);
      default -> throw new UnknownOperationException("a fence of kind " + kind);
    };
  }

  private static Operation.@Nullable StatementFence statementFence(WireReader in) {
    if (!in.flag()) {
      return null;
    }
    return new Operation.StatementFence(presented(in), in.flag());
  }

  private static PresentedToken presented(WireReader in) {
    return new PresentedToken(new LockName(in.string()), in.i64());
  }

  private static Operation.WantedKeys keys(WireReader in) {
    int kind = in.u8();
    return switch (kind) {
      case 0 -> new Operation.WantedKeys.None();
      case 1 -> new Operation.WantedKeys.Generated();
      case 2 -> new Operation.WantedKeys.Positions(list(in, 4, WireReader::i32));
      case 3 -> new Operation.WantedKeys.Names(list(in, 4, WireReader::string));
      default -> throw new UnknownOperationException("a request for keys of kind " + kind);
    };
  }

  private static Operation.DefinitionTarget.Kind kind(int code) {
    return switch (code) {
      case 0 -> Operation.DefinitionTarget.Kind.OTHER;
      case 1 -> Operation.DefinitionTarget.Kind.TABLE;
      case 2 -> Operation.DefinitionTarget.Kind.INDEX;
      case 3 -> Operation.DefinitionTarget.Kind.SCHEMA;
      case 4 -> Operation.DefinitionTarget.Kind.CONSTRAINT;
      default -> throw new UnknownOperationException("a definition of kind " + code);
    };
  }

  private static final class OperationWriter implements Operation.Handler<WireWriter> {
    private final WireWriter out;

    OperationWriter(WireWriter out) {
      this.out = out;
    }

    @Override
    public WireWriter createUser(Operation.CreateUser operation) {
      UserAccount account = operation.account();
      boolean expiring = account.validUntilMicros() != UserAccount.ALWAYS;
      boolean limited = expiring || account.workLimit() != Limits.FULL_WORK;
      out.u8(expiring ? CREATE_EXPIRING_USER : limited ? CREATE_LIMITED_USER : CREATE_USER);
      StateCodec.account(out, account);
      if (limited) {
        out.u8(account.workLimit());
      }
      if (expiring) {
        out.i64(account.validUntilMicros());
      }
      return out.flag(operation.lenient());
    }

    @Override
    public WireWriter alterUser(Operation.AlterUser operation) {
      UserName user = operation.user();
      if (operation.change() == Operation.AlterUser.Change.LIMIT_WORK) {
        return out.u8(LIMIT_USER)
            .string(requireNonNull(user, "user").value())
            .u8(operation.workLimit());
      }
      if (operation.change() == Operation.AlterUser.Change.LIMIT_VALIDITY) {
        return out.u8(LIMIT_VALIDITY)
            .string(requireNonNull(user, "user").value())
            .i64(operation.validUntilMicros());
      }
      out.u8(ALTER_USER).nullableString(user == null ? null : user.value());
      return out.u8(codeOf(operation.change())).nullableString(operation.verifier());
    }

    @Override
    public WireWriter dropUser(Operation.DropUser operation) {
      return out.u8(DROP_USER).string(operation.user().value()).flag(operation.lenient());
    }

    @Override
    public WireWriter changeRight(Operation.ChangeRight operation) {
      out.u8(CHANGE_RIGHT).flag(operation.grant());
      StateCodec.right(out, operation.right());
      return out;
    }

    @Override
    public WireWriter createLease(Operation.CreateLease operation) {
      return out.u8(CREATE_LEASE).i64(operation.ttlMillis()).string(operation.owner());
    }

    @Override
    public WireWriter revokeLease(Operation.RevokeLease operation) {
      return out.u8(REVOKE_LEASE).i64(operation.lease().value());
    }

    @Override
    public WireWriter acquire(Operation.AcquireLock operation) {
      out.u8(ACQUIRE_LOCK).string(operation.lock().value());
      return lease(operation.lease())
          .flag(operation.mode() == LockMode.SHARED)
          .i64(operation.waitMillis());
    }

    @Override
    public WireWriter acquireAll(Operation.AcquireLocks operation) {
      out.u8(ACQUIRE_LOCKS).i32(operation.locks().size());
      operation.locks().forEach(lock -> out.string(lock.value()));
      return lease(operation.lease()).i64(operation.waitMillis());
    }

    @Override
    public WireWriter release(Operation.ReleaseLock operation) {
      boolean keep = operation.keepMillis() > 0;
      out.u8(keep ? RELEASE_AND_KEEP : RELEASE_LOCK).string(operation.lock().value());
      lease(operation.lease());
      return keep ? out.i64(operation.keepMillis()) : out;
    }

    @Override
    public WireWriter acquireForTransaction(Operation.AcquireTransactionLock operation) {
      out.u8(ACQUIRE_TRANSACTION_LOCK).string(operation.lock().value());
      return out.i64(operation.waitMillis()).u8(operation.mode().number());
    }

    @Override
    public WireWriter transfer(Operation.TransferLock operation) {
      out.u8(TRANSFER_LOCK).string(operation.lock().value());
      lease(operation.from());
      return lease(operation.to());
    }

    @Override
    public WireWriter defineLock(Operation.DefineLock operation) {
      out.u8(DEFINE_LOCK);
      return definition(operation.definition()).flag(operation.lenient());
    }

    @Override
    public WireWriter changeLock(Operation.ChangeLock operation) {
      out.u8(CHANGE_LOCK);
      return definition(operation.definition()).flag(operation.lenient());
    }

    @Override
    public WireWriter dropLock(Operation.DropLock operation) {
      return out.u8(DROP_LOCK).string(operation.lock().value()).flag(operation.lenient());
    }

    @Override
    public WireWriter forceRelease(Operation.ForceReleaseLock operation) {
      return out.u8(FORCE_RELEASE_LOCK).string(operation.lock().value());
    }

    @Override
    public WireWriter presentToken(Operation.PresentToken operation) {
      Long token = operation.token();
      out.u8(PRESENT_TOKEN).string(operation.lock().value());
      return out.flag(token != null).i64(token == null ? 0 : token);
    }

    @Override
    public WireWriter fenceSession(Operation.FenceSession operation) {
      PresentedToken fence = operation.fence();
      return fence == null ? out.u8(UNFENCE_SESSION) : presented(out.u8(FENCE_SESSION), fence);
    }

    @Override
    public WireWriter setSchema(Operation.SetSchema operation) {
      return out.u8(SET_SCHEMA).string(operation.schema());
    }

    @Override
    public WireWriter execute(Operation.ExecuteSql operation) {
      boolean locked = operation.parameterSets().stream().anyMatch(set -> set.lockedBy() != null);
      out.u8(locked ? EXECUTE_LOCKED : EXECUTE_SQL);
      return statement(operation, locked);
    }

    @Override
    public WireWriter executeSeries(Operation.ExecuteSeries operation) {
      out.u8(EXECUTE_SERIES).u8(operation.end().number()).i32(operation.count());
      for (Operation.ExecuteSql statement : operation.statements()) {
        statement(statement, /* locked= */ false);
      }
      return out;
    }

    @Override
    public WireWriter defineMarked(Operation.DefineMarked operation) {
      out.u8(DEFINE_MARKED).i32(operation.marks().size());
      for (Operation.ExecuteSql mark : operation.marks()) {
        statement(mark, /* locked= */ false);
      }
      return operation.definition().handledBy(this);
    }

    private WireWriter statement(Operation.ExecuteSql operation, boolean locked) {
      out.string(operation.sql());
      out.flag(operation.definition()).flag(operation.batch()).flag(operation.returnsRows());
      out.flag(operation.ownLeaseTrusted()).u8(operation.mode().number()).i64(operation.maxRows());
      out.i32(operation.targets().size());
      for (Operation.DefinitionTarget target : operation.targets()) {
        out.u8(code(target.kind()));
        table(target.name());
      }
      keys(operation.keys());
      binding(operation.binding());
      out.i32(operation.parameterSets().size());
      for (Operation.ParameterSet set : operation.parameterSets()) {
        out.bytes(set.values().bytes());
        statementFence(set.fence());
        if (locked) {
          LockName lock = set.lockedBy();
          out.nullableString(lock == null ? null : lock.value());
        }
      }
      return out;
    }

    @Override
    public WireWriter fenceTable(Operation.FenceTable operation) {
      Operation.FenceTerms terms = operation.fence();
      out.u8(terms instanceof Operation.RowFence ? FENCE_ROWS : FENCE_TABLE);
      table(operation.table());
      fenceTerms(terms);
      statementFence(operation.proof());
      return out.flag(operation.ownLeaseTrusted());
    }

    @Override
    public WireWriter unfenceTable(Operation.UnfenceTable operation) {
      out.u8(UNFENCE_TABLE);
      table(operation.table());
      statementFence(operation.proof());
      return out.flag(operation.ownLeaseTrusted());
    }

    @Override
    public WireWriter begin(Operation.BeginTransaction operation) {
      return out.u8(BEGIN_TRANSACTION).u8(operation.mode().number());
    }

    @Override
    public WireWriter end(Operation.EndTransaction operation) {
      return out.u8(END_TRANSACTION).flag(operation.commit());
    }

    @Override
    public WireWriter savepoint(Operation.MarkSavepoint operation) {
      out.u8(MARK_SAVEPOINT).flag(operation.rollback()).string(operation.name());
      return out.u8(operation.mode().number());
    }

    @Override
    public WireWriter setLockTimeout(Operation.SetLockTimeout operation) {
      return out.u8(SET_LOCK_TIMEOUT).i64(operation.millis());
    }

    @Override
    public WireWriter setTimeZone(Operation.SetTimeZone operation) {
      TimeZoneName zone = operation.zone();
      return out.u8(SET_TIME_ZONE).nullableString(zone == null ? null : zone.value());
    }

    private WireWriter definition(LockDefinition definition) {
      return out.string(definition.lock().value()).i32(definition.permits());
    }

    /** Lease ids begin at 1, so 0 stands for the session's own lease. */
    private WireWriter lease(@Nullable LeaseId lease) {
      return out.i64(lease == null ? 0 : lease.value());
    }

    private void table(TableName name) {
      out.nullableString(name.schema()).string(name.name());
    }

    private void binding(Operation.@Nullable FenceTerms binding) {
      if (binding == null) {
        out.u8(NO_BINDING);
      } else {
        out.u8(binding instanceof Operation.RowFence ? ROW_BINDING : TABLE_BINDING);
        fenceTerms(binding);
      }
    }

    private void fenceTerms(Operation.FenceTerms terms) {
      if (terms instanceof Operation.TableFence fence) {
        out.string(fence.lock().value()).flag(fence.reading() == FenceReading.MONOTONIC);
      } else {
        out.string(((Operation.RowFence) terms).lockSql());
      }
    }

    private void statementFence(Operation.@Nullable StatementFence fence) {
      out.flag(fence != null);
      if (fence != null) {
        presented(out, fence.presented()).flag(fence.monotonic());
      }
    }

    private static WireWriter presented(WireWriter out, PresentedToken token) {
      return out.string(token.lock().value()).i64(token.token());
    }

    private void keys(Operation.WantedKeys keys) {
      if (keys instanceof Operation.WantedKeys.Positions columns) {
        out.u8(2).i32(columns.positions().size());
        columns.positions().forEach(out::i32);
      } else if (keys instanceof Operation.WantedKeys.Names columns) {
        out.u8(3).i32(columns.names().size());
        columns.names().forEach(out::string);
      } else {
        out.u8(keys instanceof Operation.WantedKeys.Generated ? 1 : 0);
      }
    }

    private static int code(Operation.DefinitionTarget.Kind kind) {
      return switch (kind) {
        case OTHER -> 0;
        case TABLE -> 1;
        case INDEX -> 2;
        case SCHEMA -> 3;
        case CONSTRAINT -> 4;
      };
    }
  }
}
