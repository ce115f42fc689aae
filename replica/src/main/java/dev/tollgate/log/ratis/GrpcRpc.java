package dev.tollgate.log.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcFactory;
import org.apache.ratis.grpc.server.GrpcServices;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;

/** The gRPC transport of Ratis, made accessible: Ratis would keep it to its own classes. */
final class GrpcRpc {
  private static final String SERVER = "tollgate.raft.server.rpc";

  private GrpcRpc() {}

  /** Ratis creates an instance by the class name. */
  public static final class Type implements RpcType {
    public Type() {}

    @Override
    public String name() {
      return Type.class.getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
      return new Factory(parameters);
    }
  }

  private static final class Factory extends GrpcFactory {
    private final Parameters parameters;

    Factory(Parameters parameters) {
      super(parameters);
      this.parameters = parameters;
    }

    @Override
    public GrpcServices newRaftServerRpc(RaftServer server) {
      GrpcServices rpc = super.newRaftServerRpc(server);
      parameters.put(SERVER, rpc, RaftServerRpc.class);
      return rpc;
    }
  }

  /** Returns the transport of the server that was created with these parameters. */
  static RaftServerRpc of(Parameters parameters) {
    return parameters.getNonNull(SERVER, RaftServerRpc.class);
  }
}
