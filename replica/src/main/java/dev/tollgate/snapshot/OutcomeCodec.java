package dev.tollgate.snapshot;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;

/** Outcomes of commands in bytes. The numbers are a format on disk: only add new ones. */
final class OutcomeCodec {
  private static final int SESSION_OPENED = 1;
  private static final int LEASE_CREATED = 2;
  private static final int GRANTED = 3;
  private static final int NOT_GRANTED = 4;
  private static final int WAITING = 5;
  private static final int ANSWERED = 6;
  private static final int DONE = 7;
  private static final int EXECUTED = 8;
  private static final int BATCH = 9;
  private static final int REFUSED = 10;
  private static final int SQL_FAILED = 11;
  private static final int GRANTED_ALL = 12;

  private OutcomeCodec() {}

  static void write(WireWriter out, Outcome outcome) {
    if (outcome instanceof Outcome.SessionOpened opened) {
      out.u8(SESSION_OPENED).i64(opened.session().value());
    } else if (outcome instanceof Outcome.LeaseCreated created) {
      out.u8(LEASE_CREATED).i64(created.lease().value());
    } else if (outcome instanceof Outcome.Granted granted) {
      out.u8(GRANTED).i64(granted.token().value());
    } else if (outcome instanceof Outcome.GrantedAll granted) {
      out.u8(GRANTED_ALL).i32(granted.tokens().size());
      granted.tokens().forEach(token -> out.i64(token.value()));
    } else if (outcome instanceof Outcome.NotGranted) {
      out.u8(NOT_GRANTED);
    } else if (outcome instanceof Outcome.Waiting) {
      out.u8(WAITING);
    } else if (outcome instanceof Outcome.Answered answered) {
      out.u8(ANSWERED).flag(answered.answer());
    } else if (outcome instanceof Outcome.Done) {
      out.u8(DONE);
    } else if (outcome instanceof Outcome.Executed executed) {
      out.u8(EXECUTED).bytes(executed.result().bytes());
    } else if (outcome instanceof Outcome.Batch batch) {
      out.u8(BATCH).i32(batch.outcomes().size());
      batch.outcomes().forEach(one -> write(out, one));
    } else if (outcome instanceof Outcome.Refused refused) {
      out.u8(REFUSED).i32(refused.code().number()).string(refused.message());
    } else if (outcome instanceof Outcome.SqlFailed failed) {
      out.u8(SQL_FAILED).string(failed.sqlState());
      out.i32(failed.vendorCode()).string(failed.message());
    } else {
      throw new IllegalStateException("no outcome of a command: " + outcome);
    }
  }

  static Outcome read(WireReader in) throws CorruptSnapshotException {
    int kind = in.u8();
    return switch (kind) {
      case SESSION_OPENED -> new Outcome.SessionOpened(new SessionId(in.i64()));
      case LEASE_CREATED -> new Outcome.LeaseCreated(new LeaseId(in.i64()));
      case GRANTED -> new Outcome.Granted(new FencingToken(in.i64()));
      case GRANTED_ALL -> {
        List<FencingToken> tokens = new ArrayList<>();
        for (int i = in.count(8); i > 0; i--) {
          tokens.add(new FencingToken(in.i64()));
        }
        yield new Outcome.GrantedAll(tokens);
      }
      case NOT_GRANTED -> new Outcome.NotGranted();
      case WAITING -> new Outcome.Waiting();
      case ANSWERED -> new Outcome.Answered(in.flag());
      case DONE -> new Outcome.Done();
      case EXECUTED -> new Outcome.Executed(Payload.of(in.bytes()));
      case BATCH -> {
        List<Outcome> outcomes = new ArrayList<>();
        for (int i = in.count(1); i > 0; i--) {
          outcomes.add(read(in));
        }
        yield new Outcome.Batch(outcomes);
      }
      case REFUSED -> new Outcome.Refused(code(in.i32()), in.string());
      case SQL_FAILED -> new Outcome.SqlFailed(in.string(), in.i32(), in.string());
      default -> throw new CorruptSnapshotException("outcome of unknown kind " + kind);
    };
  }

  private static RefusalCode code(int number) throws CorruptSnapshotException {
    for (RefusalCode code : RefusalCode.values()) {
      if (code.number() == number) {
        return code;
      }
    }
    throw new CorruptSnapshotException("refusal of unknown number " + number);
  }
}
