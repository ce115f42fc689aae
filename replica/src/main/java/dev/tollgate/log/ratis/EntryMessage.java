package dev.tollgate.log.ratis;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.LogConsumer;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.ProposedEntry;
import java.util.List;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/** An entry on its way through Ratis in this process, with its listeners. */
final class EntryMessage implements Message {
  private final ProposedEntry entry;
  private final ByteString content;

  EntryMessage(ProposedEntry entry) {
    this.entry = requireNonNull(entry, "entry");
    this.content = UnsafeByteOperations.unsafeWrap(entry.bytes());
  }

  /**
   * Begins the transaction of an entry. Rejects what a node of a later version has sent: nodes with
   * it in their log would stop. This node may know a command of another node's that a third one
   * does not know.
   */
  static TransactionContext begin(
      RaftClientRequest request, StateMachine machine, LogConsumer consumer) {
    TransactionContext transaction =
        TransactionContext.newBuilder().setStateMachine(machine).setClientRequest(request).build();
    if (request.getMessage() instanceof EntryMessage message) {
      transaction.setStateMachineContext(message.entry);
      return transaction;
    }
    try {
      byte[] bytes = request.getMessage().getContent().toByteArray();
      for (Command command : EntryCodec.decode(bytes, List.of()).commands()) {
        String refusal = consumer.refusal(command);
        if (refusal != null) {
          throw new CorruptLogException(refusal);
        }
      }
    } catch (CorruptLogException e) {
      transaction.setException(e);
    }
    return transaction;
  }

  @Override
  public ByteString getContent() {
    return content;
  }
}
