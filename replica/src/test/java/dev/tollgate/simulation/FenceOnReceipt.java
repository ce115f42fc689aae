package dev.tollgate.simulation;

import dev.tollgate.core.HeldLocks;
import dev.tollgate.core.command.LockName;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireWriter;
import java.util.List;

/**
 * {@link Breakage#FENCE_CHECKED_ON_RECEIPT}: drops the clause of a statement whose token is good
 * when the node gets it.
 */
final class FenceOnReceipt {
  private FenceOnReceipt() {}

  static Frame checked(Frame frame, Replica replica) {
    if (frame.type() != 0x06
        || !(Request.read(frame) instanceof Request.Execute execute)
        || !execute.sql().startsWith("UPDATE r ")
        || !execute.sql().contains(" FENCED BY LOCK ")) {
      return frame;
    }
    int clause = execute.sql().indexOf(" FENCED BY LOCK ");
    int name = execute.sql().indexOf('\'') + 1;
    String lock = execute.sql().substring(name, execute.sql().indexOf('\'', name));
    List<SqlValue> values = SqlValue.decode(execute.parameterSets().get(0));
    long token = Op.number(values.get(values.size() - 1));
    if (!replica.state().look(state -> HeldLocks.holdsLock(state, new LockName(lock), token))) {
      return frame;
    }
    Request.Execute plain =
        new Request.Execute(
            execute.sequence(),
            execute.ownLeaseTrusted(),
            execute.mode(),
            false,
            execute.sql().substring(0, clause),
            execute.keys(),
            0,
            0,
            List.of(SqlValue.encodeFirst(values, values.size() - 1)));
    WireWriter body = new WireWriter();
    plain.write(body);
    return new Frame(frame.type(), frame.requestId(), 0, body.toByteArray());
  }
}
