package dev.tollgate.log.ratis;

import dev.tollgate.log.RaftTransport;

/** The same over gRPC. */
class ComparedCommitsOverGrpcTest extends ComparedCommitsTest {
  @Override
  RaftTransport transport() {
    return RaftTransport.GRPC;
  }
}
