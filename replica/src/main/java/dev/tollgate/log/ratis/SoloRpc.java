package dev.tollgate.log.ratis;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;

/** The transport of a group of one node. It has no peers, so an embedded node opens no port. */
final class SoloRpc implements RaftServerRpc {
  private static final InetSocketAddress NOWHERE = InetSocketAddress.createUnresolved("none", 0);

  private final Type type;

  private SoloRpc(Type type) {
    this.type = type;
  }

  /** Ratis creates an instance by the class name. */
  public static final class Type implements RpcType {
    public Type() {}

    @Override
    public String name() {
      return Type.class.getName();
    }

    @Override
    public RpcFactory newFactory(Parameters parameters) {
      return new Factory(this);
    }
  }

  private record Factory(Type type) implements ServerFactory {
    @Override
    public RpcType getRpcType() {
      return type;
    }

    @Override
    public RaftServerRpc newRaftServerRpc(RaftServer server) {
      return new SoloRpc(type);
    }
  }

  @Override
  public RpcType getRpcType() {
    return type;
  }

  @Override
  public void start() {}

  @Override
  public InetSocketAddress getInetSocketAddress() {
    return NOWHERE;
  }

  @Override
  public void addRaftPeers(Collection<RaftPeer> peers) {}

  @Override
  public void handleException(RaftPeerId serverId, Exception e, boolean reconnect) {}

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    throw nobody();
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    throw nobody();
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    throw nobody();
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    throw nobody();
  }

  @Override
  public void close() {}

  private static IOException nobody() {
    return new IOException("this node is alone in its group");
  }
}
