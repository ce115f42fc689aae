package dev.tollgate.log.ratis;

import dev.tollgate.log.RaftTransport;

/** The same over gRPC. */
class FollowerAppendsOverGrpcTest extends FollowerAppendsTest {
  @Override
  RaftTransport transport() {
    return RaftTransport.GRPC;
  }
}
