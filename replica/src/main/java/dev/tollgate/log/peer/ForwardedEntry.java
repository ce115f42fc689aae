package dev.tollgate.log.peer;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;

/**
 * An entry for the log that a node which does not lead was given.
 *
 * @param origin who sends it
 * @param number the same if it is sent again: Ratis then appends it only once
 */
record ForwardedEntry(ClientId origin, long number, ByteString entry) {
  private static final int ORIGIN_BYTES = 16;

  /** How long the leader may take to append an entry: Ratis does not answer every request. */
  static final long MILLIS = 3_000;

  WireWriter toBytes() {
    return new WireWriter(32 + entry.size())
        .bytes(origin.toByteString().toByteArray())
        .i64(number)
        .bytes(entry.toByteArray());
  }

  /**
   * Reads what {@link #toBytes} has written.
   *
   * @throws WireFormatException if it is something else
   */
  static ForwardedEntry read(WireReader in) {
    byte[] origin = in.bytes();
    if (origin.length != ORIGIN_BYTES) {
      throw new WireFormatException("an origin of " + origin.length + " bytes");
    }
    return new ForwardedEntry(
        ClientId.valueOf(UnsafeByteOperations.unsafeWrap(origin)),
        in.i64(),
        UnsafeByteOperations.unsafeWrap(in.bytes()));
  }

  /**
   * Has Ratis append this if the server leads the group.
   *
   * @return why the entry is rejected for good, or null once it is applied; exceptionally if it may
   *     be tried again
   */
  CompletableFuture<@Nullable String> submit(RaftServer server, RaftGroupId group) {
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(origin)
            .setServerId(server.getId())
            .setGroupId(group)
            .setCallId(number)
            .setMessage(Message.valueOf(entry))
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
