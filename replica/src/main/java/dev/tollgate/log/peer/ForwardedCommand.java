package dev.tollgate.log.peer;

import dev.tollgate.core.command.Command;
import dev.tollgate.log.entry.CorruptLogException;
import dev.tollgate.log.entry.EntryCodec;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;

/**
 * A command that a node which may not lead has for the log.
 *
 * @param origin who sends it
 * @param number the same if it is sent again: Ratis then appends it only once
 * @param command not decoded, because a later version may have written it
 */
record ForwardedCommand(ClientId origin, long number, ByteString command) {
  private static final int ORIGIN_BYTES = 16;

  /** How long the leader may take to append an entry: Ratis does not answer every request. */
  static final long MILLIS = 3_000;

  WireWriter toBytes() {
    return new WireWriter(32 + command.size())
        .bytes(origin.toByteString().toByteArray())
        .i64(number)
        .bytes(command.toByteArray());
  }

  /**
   * Reads what {@link #toBytes} has written.
   *
   * @throws WireFormatException if it is something else
   */
  static ForwardedCommand read(WireReader in) {
    byte[] origin = in.bytes();
    if (origin.length != ORIGIN_BYTES) {
      throw new WireFormatException("an origin of " + origin.length + " bytes");
    }
    return new ForwardedCommand(
        ClientId.valueOf(UnsafeByteOperations.unsafeWrap(origin)),
        in.i64(),
        UnsafeByteOperations.unsafeWrap(in.bytes()));
  }

  /**
   * Has Ratis append what another node has sent, if the server leads the group. Nothing enters the
   * log as another node has written it: a node may say something of itself, and request a
   * comparison of all members.
   *
   * @param from the node that has sent it
   * @return why the command is rejected for good, or null once it is applied; exceptionally if it
   *     may be tried again
   */
  CompletableFuture<@Nullable String> submitFrom(
      String from, RaftServer server, RaftGroupId group) {
    Command sent;
    Collection<RaftPeer> members;
    try {
      sent = EntryCodec.decode(command.toByteArray());
      members = server.getDivision(group).getRaftConf().getCurrentPeers();
    } catch (CorruptLogException e) {
      return CompletableFuture.completedFuture(String.valueOf(e.getMessage()));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
    List<String> names = members.stream().map(member -> member.getId().toString()).toList();
    if (!names.contains(from)) {
      // it may become a member soon
      return CompletableFuture.failedFuture(new IOException("node " + from + " is no member"));
    }
    if (sent instanceof Command.VerifyReplicas) {
      return append(new Command.VerifyReplicas(names), server, group);
    }
    return sent instanceof Command.OfNode said && said.nodeId().equals(from)
        ? append(sent, server, group)
        : CompletableFuture.completedFuture(
            "node "
                + from
                + " may not propose "
                + sent.getClass().getSimpleName()
                + " here: a node that does not lead proposes what it says of itself");
  }

  /** As {@link #submitFrom}, for a command of this node. */
  CompletableFuture<@Nullable String> submit(RaftServer server, RaftGroupId group) {
    return append(EntryCodec.decode(command.toByteArray()), server, group);
  }

  private CompletableFuture<@Nullable String> append(
      Command decoded, RaftServer server, RaftGroupId group) {
    byte[] entry = ProposedEntry.untimed(decoded).bytes();
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(origin)
            .setServerId(server.getId())
            .setGroupId(group)
            .setCallId(number)
            .setMessage(Message.valueOf(UnsafeByteOperations.unsafeWrap(entry)))
            .setType(RaftClientRequest.writeRequestType())
            .build();
    try {
      return server
          .submitClientRequestAsync(request)
          .orTimeout(MILLIS, TimeUnit.MILLISECONDS)
          .thenCompose(reply -> rejection(server, reply));
    } catch (IOException | RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static CompletableFuture<@Nullable String> rejection(
      RaftServer server, RaftClientReply reply) {
    if (reply.isSuccess()) {
      return CompletableFuture.completedFuture(null);
    }
    return reply.getStateMachineException() == null
        ? CompletableFuture.failedFuture(
            new IOException("node " + server.getId() + " does not lead", reply.getException()))
        : CompletableFuture.completedFuture(String.valueOf(reply.getException().getMessage()));
  }
}
