package dev.tollgate.log.ratis;

import dev.tollgate.log.RaftTransport;

/** The same over gRPC. */
class RatisLogOverGrpcTest extends RatisLogTest {
  @Override
  RaftTransport transport() {
    return RaftTransport.GRPC;
  }
}
