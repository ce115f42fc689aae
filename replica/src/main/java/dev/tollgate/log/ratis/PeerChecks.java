package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;

import dev.tollgate.log.peer.PeerCredentials;
import dev.tollgate.log.peer.PeerGuard;
import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.apache.ratis.grpc.GrpcUtil;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.grpc.RaftServerProtocolServiceGrpc;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.RaftServerRpcWithProxy;
import org.apache.ratis.thirdparty.io.grpc.CallOptions;
import org.apache.ratis.thirdparty.io.grpc.Channel;
import org.apache.ratis.thirdparty.io.grpc.ClientCall;
import org.apache.ratis.thirdparty.io.grpc.ClientInterceptor;
import org.apache.ratis.thirdparty.io.grpc.ForwardingClientCall;
import org.apache.ratis.thirdparty.io.grpc.ForwardingClientCallListener;
import org.apache.ratis.thirdparty.io.grpc.Grpc;
import org.apache.ratis.thirdparty.io.grpc.ManagedChannel;
import org.apache.ratis.thirdparty.io.grpc.Metadata;
import org.apache.ratis.thirdparty.io.grpc.MethodDescriptor;
import org.apache.ratis.thirdparty.io.grpc.ServerCall;
import org.apache.ratis.thirdparty.io.grpc.ServerCallHandler;
import org.apache.ratis.thirdparty.io.grpc.ServerInterceptor;
import org.apache.ratis.thirdparty.io.grpc.Status;
import org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException;
import org.apache.ratis.thirdparty.io.grpc.netty.NegotiationType;
import org.apache.ratis.thirdparty.io.grpc.netty.NettyChannelBuilder;
import org.apache.ratis.thirdparty.io.grpc.stub.AbstractStub;
import org.apache.ratis.thirdparty.io.grpc.stub.MetadataUtils;
import org.apache.ratis.thirdparty.io.netty.handler.ssl.SslContext;
import org.apache.ratis.util.PeerProxyMap;
import org.apache.ratis.util.function.CheckedFunction;
import org.jspecify.annotations.Nullable;

/**
 * Passes every Ratis message between nodes to a {@link PeerGuard}: the credentials of the sender
 * are a header of each call. A node of a version that sends none is accepted.
 *
 * <p>Ratis 3.3.0 lets one customize the gRPC server, but not its channels to other nodes. So this
 * class reaches into the place where Ratis makes them.
 */
final class PeerChecks {
  private static final Metadata.Key<byte[]> CREDENTIALS =
      Metadata.Key.of("tollgate-credentials-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private static final Metadata.Key<String> REASON =
      Metadata.Key.of("tollgate-refused", Metadata.ASCII_STRING_MARSHALLER);

  /** Marks the question of a leader that is about to add the receiver. */
  private static final Metadata.Key<String> JOINING =
      Metadata.Key.of("tollgate-joining", Metadata.ASCII_STRING_MARSHALLER);

  /** The value that Ratis uses. */
  private static final int CALLS_PER_CONNECTION = 16;

  private PeerChecks() {}

  /** Refuses calls from other nodes before Ratis sees them. */
  static ServerInterceptor incoming(PeerGuard guard, @Nullable TlsCredentials tls) {
    return new ServerInterceptor() {
      @Override
      public <Q, A> ServerCall.Listener<Q> interceptCall(
          ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        byte[] credentials = headers.get(CREDENTIALS);
        String strange =
            tls == null
                ? null
                : strange(
                    tls, call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION), credentials);
        if (strange != null) {
          call.close(Status.UNAUTHENTICATED.withDescription(strange), new Metadata());
          return new ServerCall.Listener<>() {};
        }
        boolean ofNodes =
            RaftServerProtocolServiceGrpc.SERVICE_NAME.equals(
                call.getMethodDescriptor().getServiceName());
        PeerGuard.Refusal refusal =
            ofNodes && credentials != null
                ? refusal(guard, PeerCredentials.read(credentials), headers.containsKey(JOINING))
                : null;
        if (refusal == null) {
          return next.startCall(call, headers);
        }
        Metadata trailers = new Metadata();
        trailers.put(REASON, refusal.reason().name());
        call.close(Status.FAILED_PRECONDITION.withDescription(refusal.message()), trailers);
        return new ServerCall.Listener<>() {};
      }
    };
  }

  /**
   * Why the certificate of a connection does not go with a call, or null. A session that is resumed
   * is not checked by a handshake, and gRPC keeps one context for all of them.
   */
  private static @Nullable String strange(
      TlsCredentials tls, @Nullable SSLSession session, byte @Nullable [] credentials) {
    try {
      if (session == null
          || !(session.getPeerCertificates()[0] instanceof X509Certificate certificate)) {
        return "a connection without a certificate";
      }
      String revoked = tls.revocation(certificate);
      if (revoked != null) {
        return revoked;
      }
      String node = Certificates.node(certificate);
      String from = credentials == null ? node : PeerCredentials.read(credentials).from();
      return from == null || !from.equals(node)
          ? "a call of node " + from + " with the certificate of node " + node
          : null;
    } catch (SSLPeerUnverifiedException e) {
      return "a connection without a certificate";
    }
  }

  private static PeerGuard.@Nullable Refusal refusal(
      PeerGuard guard, PeerCredentials sender, boolean joining) {
    return joining ? guard.checkJoining(sender) : guard.check(sender);
  }

  /**
   * Asks a node whether it can be added to the cluster of this node, over a separate channel, with
   * a message that changes nothing.
   *
   * @param millis how long to wait for a reply
   * @return why that node cannot be added; null if it can, or if its version does not say
   * @throws IOException if no node answers there
   */
  static PeerGuard.@Nullable Refusal askToJoin(
      PeerCredentials credentials, RaftPeer peer, int millis, @Nullable TlsCredentials tls)
      throws IOException {
    Metadata headers = new Metadata();
    headers.put(CREDENTIALS, credentials.toBytes());
    headers.put(JOINING, "");
    NettyChannelBuilder builder = NettyChannelBuilder.forTarget(peer.getAddress());
    ManagedChannel channel =
        (tls == null
                ? builder.negotiationType(NegotiationType.PLAINTEXT)
                : builder.negotiationType(NegotiationType.TLS).sslContext(contextOf(tls)))
            .build();
    try {
      ReadIndexReplyProto unused =
          RaftServerProtocolServiceGrpc.newBlockingStub(channel)
              .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
              .withDeadlineAfter(millis, TimeUnit.MILLISECONDS)
              .readIndex(ReadIndexRequestProto.getDefaultInstance());
      return null;
    } catch (StatusRuntimeException e) {
      PeerGuard.Reason reason = e.getTrailers() == null ? null : reason(e.getTrailers());
      if (reason == null) {
        Throwable cause = e.getCause() == null ? e : e.getCause();
        boolean silent = e.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED;
        throw new IOException(silent ? "silent for " + millis + " ms" : cause.getMessage(), e);
      }
      return new PeerGuard.Refusal(reason, String.valueOf(e.getStatus().getDescription()));
    } finally {
      channel.shutdownNow();
    }
  }

  private static SslContext contextOf(TlsCredentials tls) {
    return GrpcUtil.buildSslContextForClient(GrpcTransport.tlsOf(tls));
  }

  /** Returns null if there is no reason, or one of a later version. */
  private static PeerGuard.@Nullable Reason reason(Metadata trailers) {
    String name = trailers.get(REASON);
    for (PeerGuard.Reason reason : PeerGuard.Reason.values()) {
      if (reason.name().equals(name)) {
        return reason;
      }
    }
    return null;
  }

  /** Sends the credentials of this node with each call, and reports the response to the guard. */
  private record Outgoing(PeerGuard guard, String to) implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
          headers.put(CREDENTIALS, guard.credentialsFor(to).toBytes());
          super.start(new Answer<>(guard, to, listener), headers);
        }
      };
    }
  }

  private static final class Answer<A>
      extends ForwardingClientCallListener.SimpleForwardingClientCallListener<A> {
    private final PeerGuard guard;
    private final String from;

    Answer(PeerGuard guard, String from, ClientCall.Listener<A> listener) {
      super(listener);
      this.guard = guard;
      this.from = from;
    }

    /** The leader tells a candidate that is not a member to end, and Ratis then ends silently. */
    @Override
    public void onMessage(A message) {
      guard.acceptedBy(from);
      if (message instanceof RequestVoteReplyProto vote && vote.getShouldShutdown()) {
        guard.removed();
      }
      super.onMessage(message);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      PeerGuard.Reason reason = reason(trailers);
      if (reason != null) {
        guard.refusedBy(
            from, new PeerGuard.Refusal(reason, String.valueOf(status.getDescription())));
      }
      super.onClose(status, trailers);
    }
  }

  /**
   * Sends credentials with the calls of a server to other nodes; call before the server starts.
   *
   * @param resender watches these calls too
   * @throws IllegalStateException if this Ratis is not the version that this class was written for
   */
  static void outgoing(
      RaftServerRpc rpc, PeerGuard guard, EntryResender resender, @Nullable TlsCredentials tls) {
    PeerProxyMap<?> proxies = ((RaftServerRpcWithProxy<?, ?>) rpc).getProxies();
    try {
      Field field = field(PeerProxyMap.class, "createProxy");
      @SuppressWarnings("unchecked") // as it is declared there
      CheckedFunction<RaftPeer, Object, IOException> create =
          (CheckedFunction<RaftPeer, Object, IOException>) field.get(proxies);
      CheckedFunction<RaftPeer, Object, IOException> identified =
          peer -> {
            Object client = create.apply(peer);
            identify(
                client,
                peer,
                tls,
                resender.watching(peer.getId()),
                new Outgoing(guard, peer.getId().toString()));
            return client;
          };
      field.set(proxies, identified);
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw elsewhere(e);
    }
  }

  private static void identify(
      Object client,
      RaftPeer peer,
      @Nullable TlsCredentials tls,
      ClientInterceptor... interceptors) {
    try {
      for (String name : List.of("asyncStub", "blockingStub", "hbAsyncStub")) {
        Field stub = field(client.getClass(), name);
        AbstractStub<?> anonymous = (AbstractStub<?>) stub.get(client);
        if (anonymous != null) {
          stub.set(client, anonymous.withInterceptors(interceptors));
        }
      }
      Field pool = field(client.getClass(), "pool");
      Object anonymous = pool.get(client);
      if (anonymous != null) {
        pool.set(client, identifiedPool(client, anonymous, peer, tls, interceptors));
      }
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw elsewhere(e);
    }
  }

  /** Returns a pool like this one, with no connection yet. */
  private static Object identifiedPool(
      Object client,
      Object pool,
      RaftPeer peer,
      @Nullable TlsCredentials tls,
      ClientInterceptor... interceptors)
      throws ReflectiveOperationException {
    int connections = ((List<?>) field(pool.getClass(), "pool").get(pool)).size();
    Function<Channel, AbstractStub<?>> stubs =
        channel -> RaftServerProtocolServiceGrpc.newStub(channel).withInterceptors(interceptors);
    Constructor<?> constructor = pool.getClass().getDeclaredConstructors()[0];
    constructor.setAccessible(true);
    return constructor.newInstance(
        connections,
        peer.getAddress(),
        tls == null ? null : contextOf(tls),
        stubs,
        CALLS_PER_CONNECTION,
        field(client.getClass(), "eventLoopGroup").get(client));
  }

  private static IllegalStateException elsewhere(Exception cause) {
    return new IllegalStateException(
        "this Ratis makes its channels to other nodes elsewhere", cause);
  }
}
