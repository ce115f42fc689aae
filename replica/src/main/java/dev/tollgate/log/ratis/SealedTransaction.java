package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.peer.SealedEntries;
import java.io.IOException;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerRole;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.statemachine.TransactionContext;

/**
 * A transaction of this leader, as Ratis appends it to the log: with a payload that is sealed for
 * the term and the index that Ratis has just chosen. The transaction itself, which this node
 * applies, has the entry as it was proposed.
 */
final class SealedTransaction implements TransactionContext {
  private final TransactionContext proposed;
  private final SealedEntries entries;

  SealedTransaction(TransactionContext proposed, SealedEntries entries) {
    this.proposed = requireNonNull(proposed, "proposed");
    this.entries = requireNonNull(entries, "entries");
  }

  @Override
  public LogEntryProto initLogEntry(long term, long index) {
    return entries.seal(proposed.initLogEntry(term, index));
  }

  @Override
  public RaftPeerRole getServerRole() {
    return proposed.getServerRole();
  }

  @Override
  public RaftClientRequest getClientRequest() {
    return proposed.getClientRequest();
  }

  @Override
  public StateMachineLogEntryProto getStateMachineLogEntry() {
    return proposed.getStateMachineLogEntry();
  }

  @Override
  public TransactionContext setException(Exception exception) {
    return proposed.setException(exception);
  }

  @Override
  public Exception getException() {
    return proposed.getException();
  }

  @Override
  public TransactionContext setStateMachineContext(Object stateMachineContext) {
    return proposed.setStateMachineContext(stateMachineContext);
  }

  @Override
  public Object getStateMachineContext() {
    return proposed.getStateMachineContext();
  }

  @Override
  public LogEntryProto getLogEntry() {
    return proposed.getLogEntry();
  }

  @Override
  public TransactionContext setShouldCommit(boolean shouldCommit) {
    return proposed.setShouldCommit(shouldCommit);
  }

  @Override
  public boolean shouldCommit() {
    return proposed.shouldCommit();
  }

  @Override
  public TransactionContext preAppendTransaction() throws IOException {
    return proposed.preAppendTransaction();
  }

  @Override
  public TransactionContext cancelTransaction() throws IOException {
    return proposed.cancelTransaction();
  }
}
