package dev.tollgate.log.ratis;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.SnapshotFile;
import dev.tollgate.log.peer.PeerGuard;
import dev.tollgate.log.peer.PeerService;
import dev.tollgate.log.peer.PeerTransport;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.io.netty.handler.ssl.SslProvider;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way between nodes over the gRPC transport of Ratis, for clusters that have not changed over
 * to {@link dev.tollgate.log.peer.PeerRpc}.
 */
final class GrpcTransport implements PeerTransport {
  private static final Logger LOG = LoggerFactory.getLogger(GrpcTransport.class);

  private static final TimeDuration FORWARD_RETRY =
      TimeDuration.valueOf(300, TimeUnit.MILLISECONDS);

  private final RaftSettings settings;
  private final RaftServer server;
  private final RaftServerRpc rpc;
  private final PeerGuard guard;
  private final RaftGroupId group;
  private @Nullable RaftClient forwarder;

  private GrpcTransport(
      RaftSettings settings,
      RaftServer server,
      RaftServerRpc rpc,
      PeerGuard guard,
      RaftGroupId group) {
    this.settings = settings;
    this.server = server;
    this.rpc = rpc;
    this.guard = guard;
    this.group = group;
  }

  /** Makes a server that is built with these parameters ask the guard and the service. */
  static void configure(
      Parameters parameters,
      PeerGuard guard,
      PeerService service,
      RaftPeerId self,
      @Nullable TlsCredentials tls) {
    if (tls != null) {
      GrpcConfigKeys.TLS.setConf(parameters, tlsOf(tls));
    }
    // the interceptor added last is the first to see a call
    GrpcConfigKeys.Server.setServicesCustomizer(
        parameters,
        (builder, types) ->
            builder
                .intercept(GrpcMessages.terms(service, self))
                .intercept(GrpcMessages.to(service))
                .intercept(PeerChecks.incoming(guard, tls)));
  }

  /** What Ratis makes its server and its channels with; the certificates follow their files. */
  static GrpcTlsConfig tlsOf(TlsCredentials tls) {
    return GrpcTlsConfig.newBuilder()
        .setKeyManager(tls.followingKey())
        .setTrustManager(tls.nodeTrust())
        .setMutualTls(true)
        .setSslProvider(SslProvider.JDK)
        .setProtocols(tls.minVersion().protocols())
        .build();
  }

  /** Returns the transport of the server that was built with these parameters. */
  static GrpcTransport of(
      Parameters parameters,
      RaftSettings settings,
      RaftServer server,
      PeerGuard guard,
      RaftGroupId group) {
    RaftServerRpc rpc = GrpcRpc.of(parameters);
    PeerChecks.outgoing(rpc, guard, new EntryResender(server, group), settings.tls());
    return new GrpcTransport(settings, server, rpc, guard, group);
  }

  @Override
  public CompletableFuture<Long> termOf(String nodeId) {
    ReadIndexRequestProto question =
        ReadIndexRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(server.getId().toByteString())
                    .setReplyId(RaftPeerId.valueOf(nodeId).toByteString()))
            .build();
    try {
      return rpc.async()
          .readIndexAsync(question)
          .orTimeout(2 * settings.electionTimeout().toMillis(), TimeUnit.MILLISECONDS)
          .thenCompose(GrpcTransport::term);
    } catch (IOException | RuntimeException e) {
      // Ratis does not know the node, or no longer knows it
      return CompletableFuture.failedFuture(e);
    }
  }

  /** A node of a version that does not know the question replies without success. */
  private static CompletableFuture<Long> term(ReadIndexReplyProto answer) {
    return answer.getServerReply().getSuccess()
        ? CompletableFuture.completedFuture(answer.getReadIndex())
        : CompletableFuture.failedFuture(new IOException("the node does not say its term"));
  }

  @Override
  public PeerGuard.@Nullable Refusal askToJoin(RaftPeer peer, int millis) throws IOException {
    return PeerChecks.askToJoin(
        guard.credentialsFor(peer.getId().toString()), peer, millis, settings.tls());
  }

  @Override
  public CompletableFuture<Void> forward(ByteString entry) {
    try {
      return forwarder().async().send(Message.valueOf(entry)).thenApply(RatisLog::requireSuccess);
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Reaches the leader from a node that does not lead; seldom used, so it is created late. */
  private synchronized RaftClient forwarder() throws IOException {
    RaftClient client = forwarder;
    if (client == null) {
      Parameters parameters = new Parameters();
      TlsCredentials tls = settings.tls();
      if (tls != null) {
        GrpcConfigKeys.TLS.setConf(parameters, tlsOf(tls));
      }
      client =
          RaftClient.newBuilder()
              .setProperties(RatisProperties.of(settings))
              .setParameters(parameters)
              .setRaftGroup(server.getDivision(group).getGroup())
              .setRetryPolicy(RetryPolicies.retryForeverWithSleep(FORWARD_RETRY))
              .build();
      forwarder = client;
    }
    return client;
  }

  @Override
  public boolean givesState() {
    return false;
  }

  @Override
  public SnapshotFile fetchState(String leaderId, long logIndex, Path file) throws IOException {
    throw new IOException("over gRPC no node gives its state to another");
  }

  @Override
  public void renew(RaftPeerId peer) {
    rpc.handleException(peer, new SocketException("it was broken"), /* reconnect= */ true);
  }

  @Override
  public synchronized void close() {
    if (forwarder != null) {
      try {
        forwarder.close();
      } catch (IOException e) {
        LOG.warn("{}: the way to the leader did not close cleanly", settings.nodeId(), e);
      }
    }
  }
}
