package dev.tollgate.log;

import java.io.IOException;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;

/**
 * Where Ratis meets the replica: hands committed entries over in log order, and says who leads.
 * Ratis calls {@link #applyTransaction} from one thread; what it throws closes the Ratis server,
 * which is what an untrustworthy state has to come to.
 */
final class RatisStateMachine extends BaseStateMachine {
  private final LogConsumer consumer;
  private volatile boolean closing;

  RatisStateMachine(LogConsumer consumer) {
    this.consumer = consumer;
  }

  /** From here on a shutdown is no failure. */
  void closing() {
    closing = true;
  }

  @Override
  public void initialize(RaftServer raftServer, RaftGroupId groupId, RaftStorage storage)
      throws IOException {
    // the life cycle is the state machine's own business; Ratis only reads it
    getLifeCycle().startAndTransition(() -> super.initialize(raftServer, groupId, storage));
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    TransactionContext.Builder context =
        TransactionContext.newBuilder().setStateMachine(this).setClientRequest(request);
    if (request.getMessage() instanceof RatisLog.EntryMessage message) {
      context.setStateMachineContext(message.entry());
    }
    return context.build();
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto logEntry = transaction.getLogEntry();
    try {
      Entry entry =
          transaction.getStateMachineContext() instanceof Entry proposedHere
              ? proposedHere
              : EntryCodec.decode(logEntry.getStateMachineLogEntry().getLogData().toByteArray());
      consumer.apply(logEntry.getIndex(), entry);
    } catch (RuntimeException | Error e) {
      consumer.failed(e);
      throw e;
    }
    updateLastAppliedTermIndex(logEntry.getTerm(), logEntry.getIndex());
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  @Override
  public void notifyLeaderReady() {
    RaftServer server = getServer().join();
    try {
      consumer.startedLeading(server.getDivision(getGroupId()).getInfo().getCurrentTerm());
    } catch (IOException e) {
      consumer.failed(e);
    }
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pendingEntries) {
    consumer.stoppedLeading();
  }

  @Override
  public void notifyLogFailed(Throwable cause, LogEntryProto failedEntry) {
    consumer.failed(cause);
  }

  @Override
  public void notifyServerShutdown(RoleInfoProto roleInfo, boolean allServer) {
    if (!closing) {
      consumer.failed(new IOException("the Raft server has shut down"));
    }
  }
}
